package pipeline

import (
	"context"
	"time"
)

// A slot is known to be ours by what the checkpoint has on record of it. The
// server moves the slot's restart_lsn on every few seconds: a checkpoint that
// knows an older one cannot tell the slot from one that was made again, if the
// host then dies and the server forgets its statistics. So while there are events
// it is looked at often, and written down at once. (Not without events: the write
// is what would make the server move it again.)

// behindLook is the time between two looks.
const behindLook = time.Second

// behind tells whether events were confirmed since the last write, and the slot
// has come further than the checkpoint knows.
func (k *keeper) behind(ctx context.Context) bool {
	_, records := k.p.ledger.Progress()
	k.mu.Lock()
	info, news := k.info, records > k.records
	k.mu.Unlock()
	if info == nil || !news {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	behind, err := k.store.Behind(ctx, info.Slot, info.PID)
	return err == nil && behind // the next write says what is wrong
}
