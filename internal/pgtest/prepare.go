package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// prepare makes the data directory, if it is not there from an earlier run,
// and writes settings, access rules and the caller's files into it.
func (s *Server) prepare(ctx context.Context, cache string) error {
	if err := s.makeData(ctx, cache); err != nil {
		return err
	}
	settings := defaults()
	if s.opts.Socket {
		if err := s.makeSocketDir(); err != nil {
			return err
		}
		settings["unix_socket_directories"] = s.socketDir
	}
	if err := writeSettings(s.DataDir(), settings); err != nil {
		return err
	}
	if err := writeSettings(s.DataDir(), s.opts.Settings); err != nil {
		return err
	}
	if s.opts.Password != "" {
		if err := s.setPassword(ctx); err != nil {
			return err
		}
	}
	if err := s.writeFile("pg_hba.conf", []byte(accessRules(s.opts.Password != ""))); err != nil {
		return err
	}
	for name, content := range s.opts.Files {
		if err := s.writeFile(name, content); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) makeData(ctx context.Context, cache string) error {
	_, err := os.Stat(filepath.Join(s.DataDir(), "PG_VERSION"))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.opts.OwnSystemID {
		return initdb(ctx, s.progs, s.DataDir(), s.who)
	}
	from, err := template(ctx, cache, s.progs, s.version, s.who)
	if err != nil {
		return err
	}
	return copyTree(from, s.DataDir(), s.who)
}

// makeSocketDir makes a folder with a short name: a socket's path may not be
// longer than about 100 bytes.
func (s *Server) makeSocketDir() error {
	dir, err := os.MkdirTemp("/tmp", "pgtest-")
	if err != nil {
		return fmt.Errorf("make the socket folder: %w", err)
	}
	s.socketDir = dir
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("open the socket folder: %w", err)
	}
	return s.who.own(dir)
}

// writeFile replaces a file of the data directory.
func (s *Server) writeFile(name string, content []byte) error {
	path := filepath.Join(s.DataDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return s.who.own(path)
}

// setPassword sets the superuser's password before the server runs, so that it
// never listens without one.
func (s *Server) setPassword(ctx context.Context) error {
	cmd := s.who.command(ctx, filepath.Join(s.progs, "bin", "postgres"),
		"--single", "-D", s.DataDir(), "-c", "unix_socket_directories=",
		"-c", "synchronous_standby_names=", // nobody could answer
		superuser)
	cmd.Stdin = strings.NewReader("ALTER ROLE " + superuser + " PASSWORD '" +
		strings.ReplaceAll(s.opts.Password, "'", "''") + "'\n")
	// The output repeats no statement, so it cannot show the password.
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("set the superuser's password: %w\n%s", err, output)
	}
	return nil
}
