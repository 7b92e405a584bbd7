package kafkatest

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

const archiveName = "classes.jsa"

//go:embed log4j2.properties
var logSettings []byte

// command prepares a class to run, with nothing of our own environment: the
// variables of Java would change what it does.
func (k *kit) command(ctx context.Context, flags []string, class string, args ...string) *exec.Cmd {
	flags = append([]string{
		"-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.awt.headless=true",
	}, flags...)
	if k.archive != "" {
		flags = append(flags, "-XX:SharedArchiveFile="+k.archive)
	}
	cmd := exec.CommandContext(ctx, k.java.program, append(append(flags, "-cp", k.classes, class), args...)...)
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = testserver.ChildAttr(syscall.SIGKILL)
	return cmd
}

// format makes the log folder that all brokers start with. User's password is
// in it.
func (k *kit) format(ctx context.Context, dir string) error {
	settings := filepath.Join(dir, "format.properties")
	text := render(map[string]string{
		"process.roles": "broker,controller", "node.id": "1", "controller.listener.names": "CONTROLLER",
		"controller.quorum.voters": "1@127.0.0.1:1", "listeners": "CONTROLLER://127.0.0.1:1,PLAINTEXT://127.0.0.1:2",
		"log.dirs": dir,
	})
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write settings to format with: %w", err)
	}
	credential := "=[name=" + User + ",password=" + Password + "]"
	output, err := k.command(ctx, nil, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", settings,
		"--add-scram", "SCRAM-SHA-256"+credential, "--add-scram", "SCRAM-SHA-512"+credential).CombinedOutput()
	if err != nil {
		return fmt.Errorf("format a log folder: %w\n%s", err, testserver.Tail(string(output), 5))
	}
	return os.Remove(settings)
}

// writeArchive runs a broker once and has Java archive the classes that it
// loads until a record is stored. A Java that cannot leaves no file: brokers
// then take a second longer to start.
func (k *kit) writeArchive(ctx context.Context, path string) error {
	b, err := k.start(ctx, options{flags: []string{"-XX:ArchiveClassesAtExit=" + path}})
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }() // what counts is the archive
	if err := b.createTopic(ctx, "any", 1, nil); err != nil {
		return err
	}
	if err := b.client.ProduceSync(ctx, &kgo.Record{Topic: "any"}).FirstErr(); err != nil {
		return fmt.Errorf("store a record: %w", err)
	}
	return b.Stop(ctx)
}
