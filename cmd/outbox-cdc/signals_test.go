package main

import (
	"syscall"
	"testing"
)

func TestUntilSignal(t *testing.T) {
	ctx, release := untilSignal(t.Context())
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if t.Context().Err() != nil {
		t.Error("the parent has ended")
	}
	release()

	ctx, release = untilSignal(t.Context())
	if ctx.Err() != nil {
		t.Error("ended without a signal")
	}
	release()
	if ctx.Err() == nil {
		t.Error("released and not ended")
	}
}
