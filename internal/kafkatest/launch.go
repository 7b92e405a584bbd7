package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// errPortTaken is a start that failed because somebody listens on a port.
var errPortTaken = errors.New("a port is taken")

// firstLaunch starts the broker on the first free ports.
func (b *Broker) firstLaunch(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		b.ports = map[Listener]int{}
		for _, l := range listeners() {
			port, err := testserver.FreePort(ctx)
			if err != nil {
				return err
			}
			b.ports[l] = port
		}
		err := b.launch(ctx)
		if !errors.Is(err, errPortTaken) || attempt == 20 {
			return err
		}
	}
}

// launch starts the process and waits until the broker says that it has
// started: connecting could reach a stranger on the same port.
func (b *Broker) launch(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := b.writeFiles(map[string][]byte{"server.properties": []byte(b.serverSettings())}); err != nil {
		return err
	}
	log, err := os.OpenFile(b.logPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the broker's log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	before, err := log.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("find the end of the broker's log: %w", err)
	}
	flags := append([]string{
		"-Dlog4j2.configurationFile=" + b.file("log4j2.properties"),
		"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://" + b.file(keysFile),
	}, b.opts.flags...)
	// The broker outlives ctx, which bounds only the start.
	cmd := b.kit.command(context.WithoutCancel(ctx), flags, "kafka.Kafka", b.file("server.properties"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.home, log, log
	proc, err := testserver.StartProcess(cmd)
	if err != nil {
		return fmt.Errorf("start Kafka %s: %w", version, err)
	}
	b.mu.Lock()
	b.proc = proc
	b.mu.Unlock()
	err = testserver.Poll(ctx, func() (bool, error) {
		ended := proc.Ended() // before the log is read: its last words count
		text := b.LogText()[before:]
		if ended {
			return false, whyEnded(text)
		}
		return strings.Contains(text, "Kafka Server started"), nil
	})
	if err != nil && !proc.Ended() {
		return errors.Join(fmt.Errorf("kafka %s is not ready: %w", version, err), b.Kill(context.WithoutCancel(ctx)))
	}
	return err
}

// whyEnded reads from its log why a broker ended while it was starting.
func whyEnded(log string) error {
	if strings.Contains(log, "Address already in use") {
		return fmt.Errorf("start Kafka %s: %w", version, errPortTaken)
	}
	return fmt.Errorf("kafka %s ended while starting:\n%s", version, testserver.Tail(log, 30))
}
