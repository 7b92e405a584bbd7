package kafkatest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// TestBrokerDiesWithItsParent: kill -9 of the test leaves no broker behind, and
// what it left on disk is swept by the next start.
func TestBrokerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	pool.Broker(t) // so that there is nothing to fetch
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), holdEnv+"=1")
	cmd.Stderr = t.Output()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var addr, home string
	if _, err := fmt.Fscan(stdout, &addr, &home); err != nil {
		t.Fatalf("the holder said nothing: %v, %v", err, cmd.Wait())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	if err := testserver.Poll(ctx, func() (bool, error) { return !listening(ctx, addr), nil }); err != nil {
		t.Errorf("the broker outlives its parent: %v", err)
	}
	Run(t)
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("the folder of the killed broker is still there: %v", err)
	}
}

func listening(ctx context.Context, addr string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
