package e2e

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// watcher samples, all the time, what the slot confirms and what the topic
// holds. The topic is looked at after the slot, so whatever is below the
// confirmed position must be in it.
type watcher struct {
	r      *rig
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	samples []sample
	fell    []decoder.LSN // positions that were below an earlier one
}

// sample is one look at a position that is new.
type sample struct {
	confirmed decoder.LSN
	ends      []int64 // by partition
}

// watch starts a watcher; it is stopped by the comparison at the latest.
func (r *rig) watch() *watcher {
	ctx, cancel := context.WithCancel(r.tb.Context())
	w := &watcher{r: r, cancel: cancel}
	w.done.Go(func() {
		for ctx.Err() == nil {
			w.session(ctx)
		}
	})
	r.tb.Cleanup(w.stop)
	return w
}

func (w *watcher) stop() {
	w.cancel()
	w.done.Wait()
}

// session samples until its connection fails.
func (w *watcher) session(ctx context.Context) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	<-tick.C // do not hammer a server that is down
	conn, err := pgx.Connect(ctx, w.r.db.URL())
	if err != nil {
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for ; ctx.Err() == nil; <-tick.C {
		s, err := readSlot(ctx, conn, w.r.slot)
		if err != nil {
			return
		}
		// Where the look fails, the next one is later and less strict.
		if ends, err := w.r.lookEnds(ctx, w.r.topic); err == nil {
			w.add(s.confirmed, ends)
		}
	}
}

func (w *watcher) add(confirmed decoder.LSN, ends []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.samples); n > 0 {
		switch last := w.samples[n-1].confirmed; {
		case confirmed < last:
			w.fell = append(w.fell, confirmed)
			return
		case confirmed == last:
			return // the earlier look is the stricter one
		}
	}
	w.samples = append(w.samples, sample{confirmed, ends})
}

// moves is how many different positions were seen.
func (w *watcher) moves() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.samples)
}

// check demands that every record was stored before a position above its commit
// was confirmed. A server that crashed may have an older position on disk than
// it had shown, which is no fault of the connector: mayFall.
func (w *watcher) check(records []record, mayFall bool) {
	w.r.tb.Helper()
	w.stop()
	if len(w.fell) > 0 && !mayFall {
		w.r.tb.Errorf("the slot went back to %v", w.fell)
	}
	seen := map[string]bool{}
	for _, rec := range records { // in the order of offsets: the first copy counts
		if seen[rec.id] {
			continue
		}
		seen[rec.id] = true
		i := sort.Search(len(w.samples), func(i int) bool { return w.samples[i].confirmed > rec.commit })
		if i < len(w.samples) && rec.offset >= w.samples[i].ends[rec.partition] {
			w.r.tb.Errorf("event %s, committed at %v, was not stored when the slot stood at %v", rec.id, rec.commit, w.samples[i].confirmed)
			return
		}
	}
}
