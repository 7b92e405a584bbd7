package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// pollEvery is how often a state that nobody signals is looked at again.
const pollEvery = 5 * time.Millisecond

// FileLock is an advisory lock between processes; the kernel releases it when
// the holder dies, so it is never left behind.
type FileLock struct{ file *os.File }

// TryLock takes the lock at path, or returns nil without an error when another
// holder has it.
func TryLock(path string) (*FileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &FileLock{file}, nil
	}
	if closeErr := file.Close(); closeErr != nil {
		return nil, fmt.Errorf("close lock file: %w", closeErr)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil //nolint:nilnil // held by somebody else is an answer, not a failure
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// Lock waits until the lock at path is ours or ctx ends.
func Lock(ctx context.Context, path string) (*FileLock, error) {
	var held *FileLock
	err := Poll(ctx, func() (bool, error) {
		var err error
		held, err = TryLock(path)
		return held != nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("wait for lock %s: %w", path, err)
	}
	return held, nil
}

// Unlock releases the lock. The file stays: removing it would let two holders
// lock two different files of one name.
func (l *FileLock) Unlock() error { return l.file.Close() }

// Poll asks done until it says true, fails, or ctx ends.
func Poll(ctx context.Context, done func() (bool, error)) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
