package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

const (
	startLimit = 2 * time.Minute  // for a start whose context has no earlier end
	closeLimit = 30 * time.Second // for Close, which has no context
)

// errPortTaken is a start that failed because somebody listens on the port.
var errPortTaken = errors.New("the port is taken")

// errBusy is a start that failed because children of a killed postmaster are
// still on their way out.
var errBusy = errors.New("the previous server is not quite gone")

// launch starts the postmaster and waits until it accepts connections.
func (s *Server) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return testserver.Poll(ctx, func() (bool, error) {
		err := s.launchOnce(ctx)
		return err == nil, ignoreBusy(err)
	})
}

func ignoreBusy(err error) error {
	if errors.Is(err, errBusy) {
		return nil
	}
	return err
}

func (s *Server) launchOnce(ctx context.Context) (err error) {
	log, err := os.OpenFile(s.logPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	before, err := log.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("find the end of the server's log: %w", err)
	}
	// The server outlives ctx, which bounds only the start.
	cmd := s.who.command(context.WithoutCancel(ctx), filepath.Join(s.progs, "bin", "postgres"), "-D", s.DataDir())
	cmd.Stdout, cmd.Stderr = log, log
	proc, err := testserver.StartProcess(cmd)
	if err != nil {
		return fmt.Errorf("start postgres %s: %w", s.version, err)
	}
	s.mu.Lock()
	s.proc = proc
	s.mu.Unlock()
	err = testserver.Poll(ctx, func() (bool, error) {
		if proc.Ended() {
			return false, s.whyEnded(s.LogText()[before:])
		}
		return ready(s.DataDir(), proc.PID), nil
	})
	if err != nil && !proc.Ended() {
		return errors.Join(fmt.Errorf("postgres %s is not ready: %w", s.version, err), s.Kill(context.WithoutCancel(ctx)))
	}
	return err
}

// whyEnded reads from its log why a server ended while it was starting. The
// messages are English because the server runs with LC_ALL=C.
func (s *Server) whyEnded(log string) error {
	switch {
	case strings.Contains(log, "Address already in use"):
		return fmt.Errorf("start postgres %s on port %d: %w", s.version, s.port, errPortTaken)
	case strings.Contains(log, "pre-existing shared memory block"),
		strings.Contains(log, `lock file "postmaster.pid" already exists`):
		return errBusy
	default:
		return fmt.Errorf("postgres %s ended while starting:\n%s", s.version, testserver.Tail(log, 20))
	}
}

// ready reads what the postmaster itself says in postmaster.pid (the eighth
// line, see miscadmin.h: LOCK_FILE_LINE_PM_STATUS): connecting could reach a
// stranger on the same port.
func ready(data string, pid int) bool {
	content, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return false
	}
	lines := strings.Split(string(content), "\n")
	if len(lines) < 8 || lines[0] != strconv.Itoa(pid) {
		return false
	}
	status := strings.TrimSpace(lines[7])
	return status == "ready" || status == "standby"
}
