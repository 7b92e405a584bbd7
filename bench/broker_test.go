package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

// brokerEnv makes a process of this test binary the broker: what it costs must
// not be counted as ours.
const brokerEnv = "BENCH_BROKER_PARTITIONS"

func TestMain(m *testing.M) {
	if os.Getenv(brokerEnv) != "" {
		os.Exit(serveBroker())
	}
	os.Exit(m.Run())
}

// serveBroker runs until its standard input ends, as it does with its parent.
func serveBroker() int {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(6, benchTopic))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer c.Close()
	if _, err := fmt.Fprintln(os.Stdout, c.ListenAddrs()[0]); err != nil {
		return 1
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return 0
}

// startBroker starts the other process and returns its address.
func startBroker(b *testing.B) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), brokerEnv+"=6")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("the broker did not start: %v", err)
	}
	return strings.TrimSpace(line)
}
