package e2e

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// settings are OUTBOX_CDC_ variables without their prefix. Others have their
// whole name.
type settings map[string]string

// with returns a copy with other values; empty ones are as if unset.
func (s settings) with(other settings) settings {
	all := maps.Clone(s)
	maps.Copy(all, other)
	return all
}

// environ is the whole environment of the process.
func (s settings) environ() []string {
	env := []string{"HOME=/nonexistent", "GORACE=halt_on_error=1"}
	for name, value := range s {
		if !strings.HasPrefix(name, "PG") {
			name = "OUTBOX_CDC_" + name
		}
		env = append(env, name+"="+value)
	}
	return env
}

// connector is a running process of the binary under test.
type connector struct {
	tb   testing.TB
	cmd  *exec.Cmd
	log  logText
	out  logText
	done chan struct{}
	code int // valid once done is closed; -1 for a signal
	url  string
}

// launch starts the binary. At the test's end it is stopped if it still runs,
// and must not have found a data race or panicked.
func launch(tb testing.TB, binary string, s settings, args ...string) *connector {
	tb.Helper()
	c := &connector{tb: tb, done: make(chan struct{})}
	c.cmd = exec.Command(binary, args...)
	c.cmd.Env = s.environ()
	c.cmd.Stderr, c.cmd.Stdout = &c.log, &c.out
	if err := c.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(c.done)
		var failed *exec.ExitError
		if err := c.cmd.Wait(); errors.As(err, &failed) {
			c.code = failed.ExitCode()
		}
	}()
	tb.Cleanup(c.end)
	return c
}

// start launches the binary as it is tested and waits until it listens.
func start(tb testing.TB, s settings, args ...string) *connector {
	tb.Helper()
	c := launch(tb, binaries.tested, s, args...)
	c.listens()
	return c
}

// startReady starts the connector and waits until it is ready.
func startReady(tb testing.TB, s settings, args ...string) *connector {
	tb.Helper()
	c := start(tb, s, args...)
	c.state("streaming")
	return c
}

// listens waits until the process has told its address.
func (c *connector) listens() {
	c.tb.Helper()
	eventually(c.tb, patience, "the connector listens", func(context.Context) (bool, any) {
		if line := c.log.find("outbox-cdc starts"); line != nil {
			address, _ := line["listen"].(string)
			c.url = "http://" + address
		}
		if c.ended() {
			c.tb.Fatalf("the connector ended with %d:\n%s", c.code, c.log.String())
		}
		return c.url != "", c.log.end(5)
	})
}

func (c *connector) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// end is the cleanup.
func (c *connector) end() {
	if !c.ended() {
		_ = c.cmd.Process.Signal(syscall.SIGTERM)
		patient := time.NewTimer(patience)
		defer patient.Stop()
		select {
		case <-c.done:
		case <-patient.C:
			_ = c.cmd.Process.Signal(syscall.SIGQUIT) // its goroutines go into the log
			<-c.done
			c.tb.Error("the connector did not stop")
		}
	}
	text := c.log.String()
	for _, mark := range []string{"DATA RACE", "panic:", "goroutine 1 ["} {
		if strings.Contains(text, mark) {
			c.tb.Errorf("%q in the connector's log:\n%s", mark, text)
			return
		}
	}
	if c.tb.Failed() {
		c.tb.Logf("the connector's log ends with:\n%s", c.log.end(15))
	}
}

// signal sends a signal and waits for the end of the process. It returns how
// long that took.
func (c *connector) signal(sig syscall.Signal) time.Duration {
	c.tb.Helper()
	begin := time.Now()
	if err := c.cmd.Process.Signal(sig); err != nil {
		c.tb.Fatal(err)
	}
	c.wait()
	return time.Since(begin)
}

// stop ends the process as an orchestrator does; the exit code must be 0.
func (c *connector) stop() time.Duration {
	c.tb.Helper()
	took := c.signal(syscall.SIGTERM)
	if c.code != 0 {
		c.tb.Fatalf("exit code %d after SIGTERM:\n%s", c.code, c.log.end(20))
	}
	return took
}

// kill is kill -9.
func (c *connector) kill() {
	c.tb.Helper()
	c.signal(syscall.SIGKILL)
}

// wait waits for the end of the process and returns its exit code.
func (c *connector) wait() int {
	c.tb.Helper()
	patient := time.NewTimer(patience)
	defer patient.Stop()
	select {
	case <-c.done:
	case <-patient.C:
		c.tb.Fatalf("the connector still runs:\n%s", c.log.end(20))
	}
	return c.code
}

// peakRSS is the largest resident memory that the process had so far, in bytes.
func (c *connector) peakRSS() int {
	c.tb.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/status")
	if err != nil {
		c.tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				c.tb.Fatal(err)
			}
			return kib << 10
		}
	}
	c.tb.Fatal("no VmHWM")
	return 0
}
