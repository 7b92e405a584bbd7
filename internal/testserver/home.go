package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// MakeHome returns the locked folder of a new server: the given one, or a new
// one in the cache.
func MakeHome(ctx context.Context, cache, given string) (home string, held *FileLock, err error) {
	if given != "" {
		return givenHome(given)
	}
	servers := filepath.Join(cache, "servers")
	if err := os.MkdirAll(servers, 0o755); err != nil {
		return "", nil, fmt.Errorf("make the folder of servers: %w", err)
	}
	// Nobody sweeps between the making of our folder and its lock.
	sweeping, err := Lock(ctx, filepath.Join(cache, "servers.lock"))
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, sweeping.Unlock()) }()
	if err := sweep(servers); err != nil {
		return "", nil, err
	}
	home, err = os.MkdirTemp(servers, "s-")
	if err != nil {
		return "", nil, fmt.Errorf("make the server's folder: %w", err)
	}
	return lockHome(home)
}

func givenHome(given string) (string, *FileLock, error) {
	home, err := filepath.Abs(given)
	if err != nil {
		return "", nil, fmt.Errorf("find the server's folder: %w", err)
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", nil, fmt.Errorf("make the server's folder: %w", err)
	}
	return lockHome(home)
}

func lockHome(home string) (string, *FileLock, error) {
	if err := os.Chmod(home, 0o755); err != nil {
		return "", nil, fmt.Errorf("open the server's folder: %w", err)
	}
	held, err := TryLock(filepath.Join(home, "lock"))
	if err != nil {
		return "", nil, err
	}
	if held == nil {
		return "", nil, fmt.Errorf("the folder %s is in use by another process", home)
	}
	return home, held, nil
}

// sweep removes what killed processes left behind: folders whose lock is free.
func sweep(servers string) error {
	entries, err := os.ReadDir(servers)
	if err != nil {
		return fmt.Errorf("list the folder of servers: %w", err)
	}
	for _, entry := range entries {
		home := filepath.Join(servers, entry.Name())
		held, err := TryLock(filepath.Join(home, "lock"))
		if errors.Is(err, os.ErrNotExist) {
			continue // being removed by its owner just now
		}
		if err != nil {
			return err
		}
		if held == nil {
			continue
		}
		// The server may still be on its way down and write into the folder;
		// what then stays is swept the next time.
		removeErr := os.RemoveAll(home)
		if err := held.Unlock(); err != nil {
			return errors.Join(err, removeErr)
		}
	}
	return nil
}
