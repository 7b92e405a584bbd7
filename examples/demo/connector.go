package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	readyLimit = time.Minute      // from start to /readyz
	stopLimit  = 25 * time.Second // from SIGTERM to the end: above SHUTDOWN_GRACE
	buildLimit = 10 * time.Minute
)

// connector is the real binary as a process.
type connector struct {
	binary  string
	env     []string
	logFile string
	ready   string // URL of /readyz

	// wanted says that the process should be up.
	wanted atomic.Bool
	// proc is the present process. Only the demo's main goroutine starts and
	// ends it.
	proc atomic.Pointer[process]
}

type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed at the end; then err may be read
	err  error
}

// build builds the connector into dir and returns the binary's path.
func build(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	binary := filepath.Join(dir, "outbox-cdc")
	//nolint:gosec // the path is our own temporary folder's
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", binary, "github.com/outbox-cdc/outbox-cdc/cmd/outbox-cdc")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the connector: %w\n%s", err, output)
	}
	return binary, nil
}

// command runs one of the connector's other commands and returns what it says.
func (c *connector) command(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.binary, args...) //nolint:gosec // the binary is the one we demonstrate
	cmd.Env = env
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("outbox-cdc %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return string(output), nil
}

// start starts it and waits until it streams.
func (c *connector) start(ctx context.Context) (err error) {
	log, err := os.OpenFile(c.logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the connector's log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	// It outlives ctx: it is ended in order.
	//nolint:gosec // the binary is the one we demonstrate
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.binary, "run")
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = c.env, log, log, childAttr()
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ties the child's life to this thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start the connector: %w", err)
	}
	c.proc.Store(p)
	c.wanted.Store(true)
	return c.waitReady(ctx, p)
}

func (c *connector) waitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return poll(ctx, "the connector to be ready", func() (bool, error) {
		select {
		case <-p.done:
			return false, fmt.Errorf("the connector has ended at its start: %w", ended(p.err))
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.ready, http.NoBody)
		if err != nil {
			return false, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return false, nil //nolint:nilerr // it does not listen yet
		}
		return resp.StatusCode == http.StatusOK, resp.Body.Close()
	})
}

// kill ends it as kill -9 does and waits for its end.
func (c *connector) kill() error {
	p := c.proc.Load()
	c.wanted.Store(false)
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill the connector: %w", err)
	}
	<-p.done
	return nil
}

// stop ends it with SIGTERM, else with SIGKILL, and tells how it ended. One
// that is down already is no error.
func (c *connector) stop() error {
	p := c.proc.Load()
	if p == nil || !c.wanted.Swap(false) {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the connector: %w", err)
	}
	limit := time.NewTimer(stopLimit)
	defer limit.Stop()
	select {
	case <-p.done:
	case <-limit.C:
		return errors.Join(errors.New("the connector did not stop"), p.cmd.Process.Kill())
	}
	if p.err != nil {
		return fmt.Errorf("the connector has ended: %w", p.err)
	}
	return nil
}

// fault says whether it is down although it should be up.
func (c *connector) fault() error {
	p := c.proc.Load()
	if p == nil || !c.wanted.Load() {
		return nil
	}
	select {
	case <-p.done:
		if c.wanted.Load() {
			return fmt.Errorf("the connector has ended by itself: %w", ended(p.err))
		}
	default:
	}
	return nil
}

// logTail returns the last lines of its log.
func (c *connector) logTail(n int) string {
	text, err := os.ReadFile(c.logFile)
	if err != nil {
		return "no log: " + err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

var errExitZero = errors.New("exit status 0")

// ended makes an end without an error an error.
func ended(err error) error {
	if err == nil {
		return errExitZero
	}
	return err
}
