package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// Options describe a server. The zero value is a throw-away server of the
// default major that trusts every local connection.
type Options struct {
	// Major is one of Majors; 0 stands for MajorEnv, else DefaultMajor.
	Major int
	// Settings are added to postgresql.conf, above this package's own.
	Settings map[string]string
	// Dir keeps the server's data over Close: a later Start with the same Dir
	// finds it again. For root it must be a folder that others can enter.
	// Empty means a folder in the cache that Close removes.
	Dir string
	// Port is a fixed port; 0 means a free one.
	Port int
	// Password, when set, is the superuser's, and every connection has to
	// prove its own by SCRAM.
	Password string
	// Socket adds a Unix socket in Server.SocketDir.
	Socket bool
	// OwnSystemID runs initdb instead of copying the template: servers that
	// were copied share their system identifier. It costs half a second.
	OwnSystemID bool
	// Files are written into the data directory before the first start, with
	// mode 0600, by their relative names: certificates, standby.signal.
	Files map[string][]byte
}

// Server is a PostgreSQL server that this process started. All methods may be
// called from any goroutine.
type Server struct {
	opts      Options
	major     int
	version   string
	progs     string
	home      string
	socketDir string
	port      int
	who       owner
	held      *testserver.FileLock

	mu   sync.Mutex          // guards proc
	proc *testserver.Process // nil while the server is down
}

// Port returns the TCP port on 127.0.0.1; it stays the same over restarts.
func (s *Server) Port() int { return s.port }

// Major returns the PostgreSQL major version.
func (s *Server) Major() int { return s.major }

// DataDir returns the data directory. Its files belong to the user the server
// runs as.
func (s *Server) DataDir() string { return filepath.Join(s.home, "data") }

// SocketDir returns the folder of the Unix socket, or "" without
// Options.Socket.
func (s *Server) SocketDir() string { return s.socketDir }

// URL returns a connection URL without TLS. The superuser's has the password
// of Options.Password; an empty user means the superuser.
func (s *Server) URL(database, user string) string {
	if user == "" {
		user = superuser
	}
	account := url.User(user)
	if user == superuser && s.opts.Password != "" {
		account = url.UserPassword(user, s.opts.Password)
	}
	address := url.URL{
		Scheme:   "postgres",
		User:     account,
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return address.String()
}

// PID returns the postmaster's process id, or 0 while the server is down.
func (s *Server) PID() int {
	if proc := s.running(); proc != nil {
		return proc.PID
	}
	return 0
}

// LogText returns the server's log since Start.
func (s *Server) LogText() string {
	text, err := os.ReadFile(s.logPath())
	if err != nil {
		return "no log: " + err.Error()
	}
	return string(text)
}

func (s *Server) logPath() string { return filepath.Join(s.home, "postgres.log") }

// running returns the live postmaster, or nil.
func (s *Server) running() *testserver.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil && s.proc.Ended() {
		s.proc = nil
	}
	return s.proc
}

// Start makes a server and starts it; it accepts connections when Start
// returns. The first use of a major on a machine also downloads 15 MB. ctx
// bounds the start only; the caller ends the server by Close.
func Start(ctx context.Context, opts Options) (*Server, error) {
	return newServer(ctx, opts, func(ctx context.Context, s *Server, cache string) error { return s.prepare(ctx, cache) })
}

// newServer makes a server whose data directory is filled by fill, and starts
// it.
func newServer(ctx context.Context, opts Options, fill func(ctx context.Context, s *Server, cache string) error) (server *Server, err error) {
	major, err := majorOrDefault(opts.Major)
	if err != nil {
		return nil, err
	}
	version, err := release(major)
	if err != nil {
		return nil, err
	}
	cache, err := testserver.CacheDir("postgres", "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, major: major, version: version}
	if s.progs, err = programs(ctx, cache, version); err != nil {
		return nil, err
	}
	if s.who, err = findOwner(ctx, s.progs); err != nil {
		return nil, err
	}
	if s.home, s.held, err = testserver.MakeHome(ctx, cache, opts.Dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := fill(ctx, s, cache); err != nil {
		return nil, fmt.Errorf("prepare postgres %s: %w", version, err)
	}
	if err := s.firstLaunch(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// firstLaunch starts the server on its fixed port, or on the first free one.
func (s *Server) firstLaunch(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		s.port = s.opts.Port
		if s.port == 0 {
			port, err := testserver.FreePort(ctx)
			if err != nil {
				return err
			}
			s.port = port
		}
		if err := writeSettings(s.DataDir(), portSetting(s.port)); err != nil {
			return err
		}
		err := s.launch(ctx)
		if !errors.Is(err, errPortTaken) || s.opts.Port != 0 || attempt == 20 {
			return err
		}
	}
}

// Close ends the server at once and removes its data, unless it was given its
// folder by Options.Dir. It may be called twice.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	err := s.Stop(ctx, Immediate)
	if err != nil {
		err = s.Kill(ctx)
	}
	if s.socketDir != "" {
		err = errors.Join(err, os.RemoveAll(s.socketDir))
	}
	if s.opts.Dir == "" && s.home != "" {
		err = errors.Join(err, os.RemoveAll(s.home))
	}
	if s.held != nil {
		// The second Close finds the lock file closed already.
		if unlockErr := s.held.Unlock(); unlockErr != nil && !errors.Is(unlockErr, os.ErrClosed) {
			err = errors.Join(err, unlockErr)
		}
	}
	return err
}
