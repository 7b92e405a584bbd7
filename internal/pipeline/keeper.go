package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

const (
	// ceilingStep is how far above the confirmed position the ceiling is set
	// at least, in bytes of WAL. Its half is what may be used before it is
	// raised.
	ceilingStep = 64 << 20
	// idleStep is how far the confirmed position must have moved for a write
	// without any event: the write makes WAL itself, and must not keep an idle
	// database busy.
	idleStep = 16 << 20
	// keepTimeout bounds one write.
	keepTimeout = 10 * time.Second
	// keepRetry is the pause after a write that failed.
	keepRetry = time.Second
)

// CheckpointStore keeps checkpoints; pgstore.Store is the real one.
type CheckpointStore interface {
	// Load returns nil when there is none for the slot.
	Load(ctx context.Context, slot string) (*offset.Checkpoint, error)
	// Save tells whether the checkpoint was stored. It is not where the
	// database is not the one, or not on the timeline, that it is about.
	Save(ctx context.Context, c offset.Checkpoint, walsender uint32) (bool, error)
	// Behind tells whether the server knows more of the slot, while the
	// walsender uses it, than its checkpoint does.
	Behind(ctx context.Context, slot string, walsender uint32) (bool, error)
	// Seal lowers the ceiling to the highest position that was reported, once
	// nothing more is. It does nothing to a checkpoint of somebody else.
	Seal(ctx context.Context, slot string, at decoder.LSN) error
}

// keeper writes the checkpoint. No status confirms a position above the ceiling
// before a higher one is stored: a slot that stands above it was not moved by us.
type keeper struct {
	p       *Pipeline
	store   CheckpointStore
	ceiling atomic.Uint64
	// reported is the highest position of this history that a status had.
	reported atomic.Uint64
	raise    chan struct{} // capacity 1: the ceiling is half used
	failing  bool          // the last write; only run's goroutine

	writing sync.Mutex // held while the store writes

	mu      sync.Mutex // guards what follows
	info    *SessionInfo
	saved   offset.Checkpoint
	floor   decoder.LSN  // where the history began
	gap     offset.Range // accepted, as it was stored when the history began
	records int64        // confirmed when it was saved
}

func newKeeper(p *Pipeline, store CheckpointStore) *keeper {
	return &keeper{p: p, store: store, raise: make(chan struct{}, 1)}
}

// bound is the highest position up to confirmed that may be reported.
func (k *keeper) bound(confirmed decoder.LSN) decoder.LSN {
	ceiling := decoder.LSN(k.ceiling.Load())
	if confirmed > ceiling-min(ceiling, ceilingStep/2) {
		select {
		case k.raise <- struct{}{}:
		default:
		}
	}
	at := min(confirmed, ceiling)
	k.reported.Store(max(k.reported.Load(), uint64(at)))
	return at
}

// begin takes over what is stored for a history that begins. The end of a gap
// counts only where it is a position of this history.
func (k *keeper) begin(c *offset.Checkpoint, floor decoder.LSN, info SessionInfo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.info, k.saved, k.floor, k.gap = nil, offset.Checkpoint{}, floor, offset.Range{}
	if c != nil {
		k.saved = *c
		if c.Timeline == info.Timeline || c.Gap.To <= info.History[c.Timeline] {
			k.gap = c.Gap
		}
	}
	// The floor is on record at the server; it needs no leave.
	k.ceiling.Store(uint64(floor))
	k.reported.Store(uint64(floor))
}

// follow takes the server of a session that streams; nil for none.
func (k *keeper) follow(info *SessionInfo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.info = info
}

// run writes until ctx ends, and then once more.
func (k *keeper) run(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	look := time.NewTicker(behindLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			last := context.WithoutCancel(ctx)
			k.keep(last, true)
			k.last(last)
			return
		case <-tick.C:
			k.keep(ctx, k.worth())
		case <-look.C:
			k.keep(ctx, k.behind(ctx))
		case <-k.raise:
			k.keep(ctx, true)
			for k.failing && ctx.Err() == nil {
				pause(ctx, keepRetry)
				k.keep(ctx, true)
			}
		}
	}
}

// worth tells whether there is anything new to write.
func (k *keeper) worth() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	confirmed, records := k.p.ledger.Progress()
	return confirmed > k.saved.Confirmed && (records > k.records || confirmed-k.saved.Confirmed >= idleStep)
}

// keep writes the checkpoint of the present history.
func (k *keeper) keep(ctx context.Context, worth bool) {
	if !worth {
		return
	}
	k.writing.Lock()
	defer k.writing.Unlock()
	c, records, info := k.next()
	if info == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	ok, err := k.store.Save(ctx, c, info.PID)
	failing := err != nil || !ok
	if failing && !k.failing {
		k.p.cfg.Log.Warn("the checkpoint was not stored; nothing above its ceiling is confirmed until it is",
			"ceiling", decoder.LSN(k.ceiling.Load()), "error", err)
	}
	if k.failing = failing; failing {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.info != info {
		return // another history has begun meanwhile
	}
	k.saved, k.records = c, records
	k.ceiling.Store(uint64(c.Ceiling))
}

// next is the checkpoint to write now, the records that are confirmed with it,
// and the session that it is about; nil when none streams.
func (k *keeper) next() (offset.Checkpoint, int64, *SessionInfo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info := k.info
	if info == nil {
		return offset.Checkpoint{}, 0, nil
	}
	confirmed, records := k.p.ledger.Progress()
	// From where this history began: the first checkpoint is no step of its own.
	step := max(decoder.LSN(ceilingStep), 4*(confirmed-min(confirmed, max(k.saved.Confirmed, k.floor))))
	c := checkpointOf(*info)
	c.Confirmed, c.Ceiling, c.Restart = confirmed, max(k.saved.Ceiling, confirmed+step), info.SlotRestart
	return c, records, info
}
