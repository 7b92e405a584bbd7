package pipeline

import (
	"context"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// seal makes the highest position that was reported the ceiling. It is called
// when nothing more of this history will be; then nothing more is kept of it.
func (k *keeper) seal(ctx context.Context) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	info := k.info
	k.mu.Unlock()
	if info == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	if err := k.store.Seal(ctx, info.Slot, decoder.LSN(k.reported.Load())); err != nil {
		return err
	}
	k.follow(nil)
	return nil
}

// last seals what was kept, where that has worked.
func (k *keeper) last(ctx context.Context) {
	if k.failing {
		return
	}
	if err := k.seal(ctx); err != nil {
		k.p.cfg.Log.Warn("the last checkpoint was not sealed: it may not be noticed if somebody moves the slot now", "error", err)
	}
}
