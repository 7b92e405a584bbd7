package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// Mode is how a server is shut down; the names are pg_ctl's.
type Mode uint8

const (
	// Smart waits until all clients have gone.
	Smart Mode = iota + 1
	// Fast ends all sessions, waits for the walsenders to send everything, and
	// writes a checkpoint.
	Fast
	// Immediate ends at once, without a checkpoint; the next start recovers.
	Immediate
)

// signal is what the postmaster understands as the mode.
func (m Mode) signal() (syscall.Signal, error) {
	switch m {
	case Smart:
		return syscall.SIGTERM, nil
	case Fast:
		return syscall.SIGINT, nil
	case Immediate:
		return syscall.SIGQUIT, nil
	default:
		return 0, fmt.Errorf("unknown shutdown mode %d", m)
	}
}

// Stop shuts the server down and waits for its end; when ctx ends before, the
// server goes on shutting down. A server that is down stays so.
func (s *Server) Stop(ctx context.Context, mode Mode) error {
	sig, err := mode.signal()
	if err != nil {
		return err
	}
	return s.end(ctx, func(pid int) error { return syscall.Kill(pid, sig) })
}

// Kill ends the postmaster and all its children with SIGKILL, as a crash of
// the machine would (but for the page cache), and waits for the postmaster.
func (s *Server) Kill(ctx context.Context) error {
	return s.end(ctx, func(pid int) error {
		victims := append(children(pid), pid)
		var errs []error
		for _, victim := range victims {
			if err := syscall.Kill(victim, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	})
}

// end applies an action to the postmaster and waits until it has ended.
func (s *Server) end(ctx context.Context, action func(pid int) error) error {
	proc := s.running()
	if proc == nil {
		return nil
	}
	if err := action(proc.PID); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal postgres %s: %w", s.version, err)
	}
	select {
	case <-proc.Done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("postgres %s has not stopped: %w", s.version, context.Cause(ctx))
	}
}

// Start starts a server again that was stopped or killed, with the same data
// and port. A server that is up is left alone.
func (s *Server) Start(ctx context.Context) error {
	if s.running() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return testserver.Poll(ctx, func() (bool, error) {
		err := s.launch(ctx)
		if errors.Is(err, errPortTaken) {
			return false, nil // whoever took it may give it back
		}
		return err == nil, err
	})
}

// Restart stops the server and starts it again.
func (s *Server) Restart(ctx context.Context, mode Mode) error {
	if err := s.Stop(ctx, mode); err != nil {
		return err
	}
	return s.Start(ctx)
}

// children lists the direct children of a process where the kernel tells them;
// elsewhere they notice by themselves that the postmaster is gone.
func children(pid int) []int {
	id := strconv.Itoa(pid)
	text, err := os.ReadFile("/proc/" + id + "/task/" + id + "/children")
	if err != nil {
		return nil
	}
	var pids []int
	for field := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}
