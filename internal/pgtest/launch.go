package pgtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
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

// freePort returns a port that nobody listens on. It lies below the ephemeral
// ranges of Linux and macOS, so that no outgoing connection takes it while the
// server is down for a moment.
func freePort(ctx context.Context) (int, error) {
	const first, count = 20000, 10000
	for range 100 {
		port := first + rand.IntN(count)
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("release port %d: %w", port, err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("no free port between %d and %d", first, first+count)
}

// launch starts the postmaster and waits until it accepts connections.
func (s *Server) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return poll(ctx, func() (bool, error) {
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
	proc, err := startProcess(cmd)
	if err != nil {
		return fmt.Errorf("start postgres %s: %w", s.version, err)
	}
	s.mu.Lock()
	s.proc = proc
	s.mu.Unlock()
	err = poll(ctx, func() (bool, error) {
		if proc.ended() {
			return false, s.whyEnded(s.LogText()[before:])
		}
		return ready(s.DataDir(), proc.pid), nil
	})
	if err != nil && !proc.ended() {
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
		return fmt.Errorf("postgres %s ended while starting:\n%s", s.version, tail(log, 20))
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
