package app

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

// TestMemoryLimit: the limit follows the bounds of the configuration, and an
// operator's own one stays.
func TestMemoryLimit(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(was) })
	cfg := &config.Config{MaxInFlightBytes: 16 << 20, MaxInFlightEvents: 20_000}
	t.Setenv("GOMEMLIMIT", "1GiB")
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(cfg)
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("limit %d in spite of GOMEMLIMIT", got)
	}
	t.Setenv("GOMEMLIMIT", "")
	limitMemory(cfg)
	if got := debug.SetMemoryLimit(-1); got < 32<<20 || got > 40<<20 {
		t.Errorf("limit %d MB for the default bounds", got>>20)
	}
	cfg.MaxInFlightBytes, cfg.MaxInFlightEvents = 1<<30, 1_000_000
	limitMemory(cfg)
	if got := debug.SetMemoryLimit(-1); got < 1<<30+256<<20 {
		t.Errorf("limit %d MB for 1 GiB and a million events in flight", got>>20)
	}
}
