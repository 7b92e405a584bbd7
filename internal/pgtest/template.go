package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// template returns a data directory of the release to copy servers from, made
// once for each owner: a copy costs a fraction of initdb.
func template(ctx context.Context, cache, progs, version string, who owner) (dir string, err error) {
	dir = filepath.Join(cache, "template-"+version+"-"+strconv.Itoa(int(who.uid)))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	held, err := testserver.Lock(ctx, filepath.Join(cache, "template.lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, held.Unlock()) }()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	work, err := os.MkdirTemp(cache, "template-work-")
	if err != nil {
		return "", fmt.Errorf("make a folder for initdb: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.Chmod(work, 0o755); err != nil {
		return "", fmt.Errorf("open the folder for initdb: %w", err)
	}
	data := filepath.Join(work, "data")
	if err := initdb(ctx, progs, data, who); err != nil {
		return "", err
	}
	if err := os.Rename(data, dir); err != nil {
		return "", fmt.Errorf("keep the template: %w", err)
	}
	return dir, nil
}

// initdb makes a new data directory with a system identifier of its own.
func initdb(ctx context.Context, progs, data string, who owner) error {
	if err := os.Mkdir(data, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if err := who.own(data); err != nil {
		return fmt.Errorf("give away the data directory: %w", err)
	}
	cmd := who.command(ctx, filepath.Join(progs, "bin", "initdb"), "--pgdata", data, "--username", superuser,
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, output)
	}
	return nil
}
