package testserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLockIsExclusiveUntilReleased(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := TryLock(path); second != nil || err != nil {
		t.Fatalf("a second holder got %v, %v; want neither", second, err)
	}
	gone := errors.New("no more patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := Lock(ctx, path); !errors.Is(err, gone) {
		t.Errorf("waiting for a held lock = %v, want %v", err, gone)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := TryLock(path)
	if again == nil || err != nil {
		t.Fatalf("a released lock gave %v, %v", again, err)
	}
	if err := again.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestSweepRemovesOnlyWhatNobodyHolds(t *testing.T) {
	servers := t.TempDir()
	for _, name := range []string{"held", "left"} {
		if err := os.MkdirAll(filepath.Join(servers, name, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	held, err := TryLock(filepath.Join(servers, "held", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := sweep(servers); err != nil {
		t.Fatal(err)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(servers)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != "held" {
		t.Errorf("after the sweep: %v, want only held", entries)
	}
}

func TestTail(t *testing.T) {
	if got := Tail("a\nb\nc\n", 2); got != "b\nc" {
		t.Errorf("tail = %q, want the last two lines", got)
	}
	if got := Tail("a", 5); got != "a" {
		t.Errorf("tail = %q, want all there is", got)
	}
}
