package e2e

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// waiter is a connector whose server is shut down while its sink is frozen.
type waiter struct {
	*rig
	name   string
	c      *connector
	f      *freezer
	stood  decoder.LSN // what was confirmed before
	commit decoder.LSN // what is not stored ends here
	// down is what was there when the server came up again. A reader that was
	// not reading then can't tell whether the slot was somebody else's
	// meanwhile, and may have to give up what it has.
	down death
}

// waiters are the cases of one server: whether anything was confirmed in the
// session before, and whether the window is full, so that the reader cannot see
// what the server asks.
func waiters(t *testing.T, server *pgtest.Server) []*waiter {
	t.Helper()
	var all []*waiter
	for _, flushed := range []bool{false, true} {
		for _, full := range []bool{false, true} {
			w := &waiter{rig: newRig(t, server, 1)}
			w.name = strconv.Itoa(server.Major()) + ", flushed before: " + strconv.FormatBool(flushed) + ", window full: " + strconv.FormatBool(full)
			w.f = w.newFreezer()
			// With so many of them the race detector would cost too much.
			w.c = launch(t, binaries.plain, w.settings.with(settings{"MAX_IN_FLIGHT_EVENTS": "100"}))
			w.c.listens()
			w.c.state("streaming")
			if flushed {
				w.insert(1, 10, "a")
				w.settle()
			}
			w.f.freeze()
			rows := 5
			if full {
				rows = 5000
			}
			w.stood = w.slotNow().confirmed
			w.commit = w.insert(1001, 1000+rows, "b")
			eventuallyHolding(t, w.f)
			all = append(all, w)
		}
	}
	return all
}

// TestServerStopsWhileTheSinkIsFrozen: a fast shutdown waits for walsenders, and
// must not wait for a sink that may be stuck for hours. The slots stay where
// they are, and all is delivered once the sink and the server are back.
func TestServerStopsWhileTheSinkIsFrozen(t *testing.T) {
	t.Parallel()
	var servers []*pgtest.Server
	for _, major := range pgtest.Majors() {
		servers = append(servers, pgtest.Run(t, pgtest.Options{Major: major}))
	}
	var all []*waiter
	for _, server := range servers {
		all = append(all, waiters(t, server)...)
	}
	stopAll(t, servers, pgtest.Fast, 15*time.Second)
	for _, server := range servers {
		if err := server.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range all {
		// Before 17 a shutdown does not save where a slot stands.
		if s := w.slotNow(); s.confirmed >= w.commit || w.db.Server.Major() >= 17 && s.confirmed < w.stood {
			t.Errorf("%s: the slot went from %v to %v; what is not stored ends at %v", w.name, w.stood, s.confirmed, w.commit)
		}
		w.down = death{stood: w.slotNow().confirmed, ends: w.ends(topic)}
		w.f.release()
	}
	for _, w := range all {
		w.c.state("streaming")
		w.insert(2000000, 2000000, "c")
		w.settle()
		w.verify(nil, allowed{deaths: []death{w.down}})
	}
	// With sinks that work it is a matter of a moment.
	stopAll(t, servers, pgtest.Fast, 5*time.Second)
}

// stopAll shuts the servers down side by side, within the limit.
func stopAll(t *testing.T, servers []*pgtest.Server, mode pgtest.Mode, limit time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stopping sync.WaitGroup
	for _, server := range servers {
		stopping.Go(func() {
			begin := time.Now()
			err := server.Stop(ctx, mode)
			took := time.Since(begin)
			t.Logf("PostgreSQL %d was down after %v", server.Major(), took)
			if err != nil || took > limit {
				t.Errorf("PostgreSQL %d: the shutdown took %v, want at most %v: %v", server.Major(), took, limit, err)
			}
		})
	}
	stopping.Wait()
}

// TestServerStopsAtOnceWhileTheSinkIsFrozen: an immediate shutdown asks nobody.
func TestServerStopsAtOnceWhileTheSinkIsFrozen(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	all := waiters(t, server)
	stopAll(t, []*pgtest.Server{server}, pgtest.Immediate, 5*time.Second)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		if s := w.slotNow(); s.confirmed >= w.commit {
			t.Errorf("%s: the slot stands at %v; what is not stored ends at %v", w.name, s.confirmed, w.commit)
		}
		w.down = death{stood: w.slotNow().confirmed, ends: w.ends(topic)}
		w.f.release()
		w.c.state("streaming")
		w.insert(2000000, 2000000, "c")
		w.settle()
		w.verify(nil, allowed{deaths: []death{w.down}})
	}
}
