package app

import (
	"os"
	"runtime/debug"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

const (
	// memoryBase is what the process needs beside what is in flight: the
	// runtime, connections and their buffers, a produce request.
	memoryBase = 12 << 20
	// memoryPerEvent is what the Kafka client and the ledger keep for an event
	// in flight, beside its bytes.
	memoryPerEvent = 400
)

// limitMemory sets a soft limit for the garbage collector: memory follows the
// bounds of the configuration, instead of twice what they allow. It is soft:
// a row that is larger than the window still passes. GOMEMLIMIT overrides it.
func limitMemory(cfg *config.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(cfg))
	}
}

func memoryLimit(cfg *config.Config) int64 {
	return memoryBase + int64(cfg.MaxInFlightBytes) + memoryPerEvent*int64(cfg.MaxInFlightEvents)
}
