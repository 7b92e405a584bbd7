package e2e

import (
	"context"
	"testing"
	"time"
)

const (
	// patience bounds each wait; none comes near it unless the test fails.
	patience = time.Minute
	// glance is how often a condition is looked at.
	glance = 20 * time.Millisecond
)

// eventually waits until the condition holds, within the limit, and returns how
// long it took. The condition says what it found, for the failure's message.
func eventually(tb testing.TB, limit time.Duration, what string, condition func(ctx context.Context) (ok bool, found any)) time.Duration {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	begin := time.Now()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		ok, found := condition(ctx)
		if ok {
			return time.Since(begin)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("not within %v: %s; found last: %v", limit, what, found)
		}
	}
}

// elapse lets time pass in which something must hold throughout.
func elapse(tb testing.TB, d time.Duration, holds func()) {
	tb.Helper()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); <-tick.C {
		holds()
	}
}
