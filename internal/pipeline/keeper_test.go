package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// fakeStore keeps one checkpoint.
type fakeStore struct {
	mu     sync.Mutex
	kept   *offset.Checkpoint
	saves  int
	refuse bool
	behind bool
	// foreign: somebody else has written it last.
	foreign bool
	broken  error
}

func (s *fakeStore) Load(context.Context, string) (*offset.Checkpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept, s.broken
}

func (s *fakeStore) Save(_ context.Context, c offset.Checkpoint, _ uint32) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	if s.broken != nil || s.refuse {
		return false, s.broken
	}
	if s.kept != nil && c.Gap.To == 0 {
		c.Gap = s.kept.Gap // as the real one does
	}
	s.kept = &c
	return true, nil
}

func (s *fakeStore) Seal(_ context.Context, _ string, at lsn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept != nil && !s.foreign && at < s.kept.Ceiling {
		sealed := *s.kept
		sealed.Ceiling = at
		s.kept = &sealed
	}
	return s.broken
}

func (s *fakeStore) Behind(context.Context, string, uint32) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behind, s.broken
}

func (s *fakeStore) set(f func(*fakeStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *fakeStore) get() (c offset.Checkpoint, saves int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept != nil {
		c = *s.kept
	}
	return c, s.saves
}

func withStore(s *fakeStore) func(*Config) {
	return func(c *Config) { c.Checkpoint, c.OffsetInterval = s, 10*time.Second }
}

// What the server knows of the slot is written down soon, but only with events:
// an idle database is not kept busy.
func TestSlotThatHasComeFurtherIsWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{behind: true}
		r := start(t, func(c *Config) { withStore(store)(c); c.OffsetInterval = time.Hour })
		src := r.session()
		settle(time.Minute)
		_, before := store.get()
		src.transaction(1000, row(1))
		settle(2 * time.Second)
		c, saves := store.get()
		if c.Confirmed != endOf(1000) || saves != before+1 {
			t.Errorf("confirmed %v after %d more writes", c.Confirmed, saves-before)
		}
		store.set(func(s *fakeStore) { s.behind = false })
		src.transaction(2000, row(2))
		settle(time.Minute)
		if _, n := store.get(); n != saves {
			t.Errorf("%d more writes, though the server knows nothing new", n-saves)
		}
		r.end()
	})
}

// No status is above the ceiling that is stored.
func TestNothingAboveTheCeilingIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{refuse: true}
		r := start(t, withStore(store))
		out := <-r.sinks
		src := r.session()
		src.transaction(1000, row(1))
		settle(time.Minute)
		wantIDs(t, out, "e1")
		r.wantFlush(100) // the slot's own
		store.set(func(s *fakeStore) { s.refuse = false })
		settle(2 * time.Second)
		r.wantFlush(endOf(1000))
		const far = 1 << 40
		store.set(func(s *fakeStore) { s.broken = errors.New("no") })
		src.transaction(far, row(2))
		settle(time.Minute)
		c, _ := store.get()
		r.wantFlush(c.Ceiling)
		store.set(func(s *fakeStore) { s.broken = nil })
		settle(2 * time.Second)
		r.wantFlush(endOf(far))
		if c, _ := store.get(); c.Ceiling < c.Confirmed+ceilingStep {
			t.Errorf("the checkpoint is %+v", c)
		}
		r.end()
		// Nothing more is reported: the ceiling is what was.
		if c, _ := store.get(); c.Confirmed != endOf(far) || c.Ceiling != endOf(far) || c.SystemID != "1" || c.Timeline != 1 {
			t.Errorf("the last checkpoint is %+v", c)
		}
	})
}

// The first ceiling is as close as the others, wherever the slot stands: far above,
// it would let a slot pass that was made again.
func TestFirstCeilingIsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const far = 1 << 40
		store := new(fakeStore)
		r := start(t, withStore(store))
		r.server.change(func(s *fakeServer) { s.info.SlotConfirmed = far })
		r.session()
		settle(time.Minute)
		if c, _ := store.get(); c.Confirmed != far || c.Ceiling != far+ceilingStep {
			t.Errorf("the first checkpoint is %+v", c)
		}
		r.end()
	})
}

// The write makes WAL itself: an idle database must not be kept busy by it.
func TestIdleDatabaseIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(fakeStore)
		r := start(t, withStore(store))
		src := r.session()
		settle(time.Minute)
		_, before := store.get()
		for i := range 1000 {
			src.keepalive(lsn(1000+8*i), false) // what our own writes would make
			settle(time.Minute)
		}
		if _, after := store.get(); after != before {
			t.Errorf("%d writes in an idle day", after-before)
		}
		src.keepalive(40<<20, false)
		settle(time.Minute)
		if c, after := store.get(); after == before || c.Confirmed != 40<<20 {
			t.Errorf("16 MiB of a neighbour's WAL are worth a write: %+v", c)
		}
		src.transaction(41<<20, row(1))
		settle(time.Minute)
		if c, _ := store.get(); c.Confirmed != endOf(41<<20) {
			t.Errorf("an event is worth a write: %+v", c)
		}
		r.end()
	})
}

func TestStartsAtTheCheckpoint(t *testing.T) {
	checkpoint := func(change func(*offset.Checkpoint)) *offset.Checkpoint {
		c := &offset.Checkpoint{Slot: "s", SystemID: "1", Timeline: 1, Database: "db", Confirmed: 5000, Ceiling: 5000 + ceilingStep, Restart: 4000}
		change(c)
		return c
	}
	for _, test := range []struct {
		name   string
		change func(*offset.Checkpoint)
		config func(*Config)
		start  lsn
		held   string
	}{
		{name: "a crash put the slot back", change: func(*offset.Checkpoint) {}, start: 5000},
		{name: "from the slot", change: func(*offset.Checkpoint) {}, config: func(c *Config) { c.FromSlot = true }, start: 0},
		{name: "foreign database", change: func(c *offset.Checkpoint) { c.Database = "other" }, held: "other"},
		{name: "foreign system", change: func(c *offset.Checkpoint) { c.SystemID = "2" }, held: "system"},
		{name: "old primary", change: func(c *offset.Checkpoint) { c.Timeline = 2 }, held: "old primary"},
		{name: "ahead of the server", change: func(c *offset.Checkpoint) { c.Confirmed = 1 << 50 }, held: "restored"},
		{name: "made again", change: func(c *offset.Checkpoint) { c.Confirmed, c.Ceiling = 10, 20 }, held: "gap from LSN 0/A"},
		{
			name: "made again, from the slot", change: func(c *offset.Checkpoint) { c.Confirmed, c.Ceiling = 10, 20 },
			config: func(c *Config) { c.FromSlot = true }, held: "gap from LSN 0/A",
		},
		{
			name: "made again, accepted", change: func(c *offset.Checkpoint) { c.Confirmed, c.Ceiling = 10, 20 },
			config: func(c *Config) { c.AcceptGap = 10 }, start: 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &fakeStore{kept: checkpoint(test.change)}
				r := start(t, func(c *Config) {
					withStore(store)(c)
					if test.config != nil {
						test.config(c)
					}
				})
				settle(time.Minute)
				if test.held != "" {
					r.wantState(StateHeld)
					if st := r.p.Status(); !strings.Contains(st.Reason, test.held) || st.Remedy == "" {
						t.Errorf("held: %s; %s", st.Reason, st.Remedy)
					}
					if n := len(r.server.started); n != 0 {
						t.Errorf("%d sessions", n)
					}
				} else {
					r.wantState(StateStreaming)
					if got := r.server.started[0]; got != test.start {
						t.Errorf("started at %v, want %v", got, test.start)
					}
				}
				r.end()
			})
		})
	}
}

// What was confirmed after the last write is worth another one, also the end of a
// transaction whose rows were stored before it.
func TestLastRowIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(fakeStore)
		r := start(t, withStore(store))
		src := r.session()
		src.transaction(1000, row(1))
		src.send(begin(2000), row(2))
		settle(time.Minute)
		src.send(commit(2000))
		settle(time.Minute)
		if c, _ := store.get(); c.Confirmed != endOf(2000) {
			t.Errorf("the checkpoint is at %v, want %v", c.Confirmed, endOf(2000))
		}
		r.end()
	})
}

// A slot that may have been made again is ours if it has decoded as much as ours
// had. That is asked once it matters: of the slot that is there then.
func TestSuspectSlotAsksTheServer(t *testing.T) {
	for decoded, want := range map[int64]State{-1: StateHeld, 6: StateHeld, 7: StateStreaming} {
		synctest.Test(t, func(t *testing.T) {
			store := &fakeStore{kept: &offset.Checkpoint{Slot: "s", SystemID: "1", Timeline: 1, Database: "db", Confirmed: 50, Ceiling: 1000, Restart: 40, Decoded: 7}}
			r := start(t, func(c *Config) {
				withStore(store)(c)
				c.Decoded = func(context.Context) (int64, error) { return decoded, nil }
			})
			r.server.change(func(s *fakeServer) { s.info.SlotRestart = 90 })
			settle(time.Minute)
			r.wantState(want)
			r.end()
		})
	}
}

// While it runs it knows what it has reported: a slot above that was moved by
// somebody else, unless another instance has kept its own checkpoint since.
func TestSlotMovedWhileWeWereAway(t *testing.T) {
	for name, test := range map[string]struct {
		kept func(c offset.Checkpoint) *offset.Checkpoint
		want State
	}{
		"by hand": {func(c offset.Checkpoint) *offset.Checkpoint { return &c }, StateHeld},
		"by another": {func(c offset.Checkpoint) *offset.Checkpoint {
			c.Confirmed, c.Ceiling = 5000, 5000+ceilingStep
			return &c
		}, StateStreaming},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := new(fakeStore)
				r := start(t, withStore(store))
				src := r.session()
				src.transaction(1000, row(1))
				settle(time.Minute)
				c, _ := store.get()
				store.set(func(s *fakeStore) { s.kept = test.kept(c); s.foreign = name == "by another" })
				r.server.change(func(s *fakeServer) { s.info.SlotConfirmed, s.info.SlotRestart = 5000, 40 })
				src.cut(io.EOF)
				settle(time.Minute)
				r.wantState(test.want)
				r.end()
			})
		})
	}
}

// A slot that may have been made again is asked about; no newer row is no gap.
func TestSuspectSlotAsksTheTables(t *testing.T) {
	for answer, want := range map[offset.NewerRows]State{
		offset.NewerNone: StateStreaming, offset.NewerSome: StateHeld, offset.NewerEmptied: StateHeld, offset.NewerUnknown: StateHeld,
	} {
		t.Run(answer.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &fakeStore{kept: &offset.Checkpoint{Slot: "s", SystemID: "1", Timeline: 1, Database: "db", Confirmed: 50, Ceiling: 1000, Restart: 40}}
				r := start(t, func(c *Config) {
					withStore(store)(c)
					c.NewerRows = func(context.Context, *offset.Checkpoint) (offset.NewerRows, error) { return answer, nil }
				})
				r.server.change(func(s *fakeServer) { s.info.SlotRestart = 90 })
				settle(time.Minute)
				r.wantState(want)
				r.end()
			})
		})
	}
}

// After a failover beyond the switch point the checkpoint is void as well.
func TestFailoverVoidsTheCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(fakeStore)
		r := start(t, withStore(store))
		<-r.sinks
		src := r.session()
		src.transaction(9000, row(1))
		settle(time.Minute)
		r.wantFlush(endOf(9000))
		r.server.change(func(s *fakeServer) {
			s.info.Timeline, s.info.SlotConfirmed, s.info.History = 2, 500, pgrepl.History{1: 700}
		})
		src.cut(io.EOF)
		fresh := <-r.sinks
		src = r.session()
		src.transaction(800, row(2))
		settle(time.Minute)
		wantIDs(t, fresh, "e2")
		r.wantFlush(endOf(800))
		if got := r.server.started[1]; got != 0 {
			t.Errorf("started at %v", got)
		}
		if c, _ := store.get(); c.Timeline != 2 || c.Confirmed != endOf(800) {
			t.Errorf("checkpoint %+v", c)
		}
		r.end()
	})
}
