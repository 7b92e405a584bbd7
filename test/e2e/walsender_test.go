package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl/pgfake"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestMessagesNobodyAskedFor: what is not understood may be an event. It is
// held, nothing after the last whole transaction is confirmed, and the stream
// goes on when the server makes sense again.
func TestMessagesNobodyAskedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		msg  func(base decoder.LSN) []wire
		says string
	}{
		"begin prepare":   {func(at decoder.LSN) []wire { return []wire{wire{'b'}.lsn(at).lsn(at + 8).lsn(0).u32(7).str("g")} }, "prepare"},
		"prepare":         {func(at decoder.LSN) []wire { return []wire{wire{'P'}.u8(0).lsn(at).lsn(at + 8).lsn(0).u32(7).str("g")} }, "prepare"},
		"commit prepared": {func(at decoder.LSN) []wire { return []wire{wire{'K'}.u8(0).lsn(at).lsn(at + 8).lsn(0).u32(7).str("g")} }, "prepare"},
		"rollback": {func(at decoder.LSN) []wire {
			return []wire{wire{'r'}.u8(0).lsn(at).lsn(at + 8).lsn(0).lsn(0).u32(7).str("g")}
		}, "prepare"},
		"stream prepare":   {func(at decoder.LSN) []wire { return []wire{wire{'p'}.u8(0).lsn(at).lsn(at + 8).lsn(0).u32(7).str("g")} }, "prepare"},
		"unknown":          {func(decoder.LSN) []wire { return []wire{{0x7f, 1, 2, 3}} }, "pgoutput"},
		"cut off":          {func(at decoder.LSN) []wire { return []wire{begin(at), outboxRelation(), insertMsg("a:9")[:20]} }, "pgoutput"},
		"trailing":         {func(at decoder.LSN) []wire { return []wire{begin(at), append(outboxRelation(), 0)} }, "pgoutput"},
		"unknown relation": {func(at decoder.LSN) []wire { return []wire{begin(at), insertMsg("a:9")} }, "relation"},
		"backwards":        {func(decoder.LSN) []wire { return []wire{begin(0x20)} }, "before the end of the last transaction"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t, func(c *pgfake.Conn, base decoder.LSN, n int) {
				if n > 0 {
					transaction(c, base+0x2000, "a:2")
					return
				}
				if name != "unknown relation" {
					transaction(c, base+0x1000, "a:1")
				}
				for _, msg := range test.msg(base + 0x2000) {
					c.Data(base+0x2000, msg)
				}
			})
			s.c.held(test.says, "nothing is skipped")
			if at := s.confirmed(); at > s.base+0x1000+commitLen {
				t.Errorf("confirmed %v, the last whole transaction ends at %v", at, s.base+0x1000+commitLen)
			}
			s.c.state("streaming")
			s.fake.WaitStatus(t, func(st pgfake.Status) bool { return st.Flush == s.base+0x2000+commitLen })
			want := "1 2"
			if name == "unknown relation" {
				want = "2"
			}
			if got := s.ids("a"); got != want {
				t.Errorf("delivered: %s, want %s", got, want)
			}
		})
	}
}

// TestServerCannotDecode: the same failure at the same place three times is the
// server's, named with the place.
func TestServerCannotDecode(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"XX000", "22021", "XX001"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t, func(c *pgfake.Conn, base decoder.LSN, n int) {
				switch {
				case n == 0:
					transaction(c, base+0x1000, "a:1")
					fallthrough
				case n < 4:
					c.Error(code, "could not map filenumber")
					c.Close()
				default:
					transaction(c, base+0x2000, "a:2")
				}
			})
			s.c.state("halted")
			st := s.c.status()
			at := s.base + 0x1000 + commitLen
			if !strings.Contains(st.Reason, "can't decode what follows "+at.String()) || !strings.Contains(st.Reason, code) || st.Remedy == "" {
				t.Errorf("status %+v, want the place %v", st, at)
			}
			s.c.state("streaming")
			s.fake.WaitStatus(t, func(st pgfake.Status) bool { return st.Flush == s.base+0x2000+commitLen })
			if got := s.ids("a"); got != "1 2" {
				t.Errorf("delivered: %s", got)
			}
		})
	}
}

// TestGoesBackInTheNextSession: a server that goes on below what it was asked
// for, which it never does: it may be a copy that was restored.
func TestGoesBackInTheNextSession(t *testing.T) {
	t.Parallel()
	s := newScripted(t, func(c *pgfake.Conn, base decoder.LSN, n int) {
		switch n {
		case 0:
			transaction(c, base+0x1000, "a:1")
			transaction(c, base+0x2000, "a:2")
			c.Error("57P01", "terminating connection due to administrator command")
			c.Close()
		case 1:
			transaction(c, base+0x1800, "a:stray")
		default:
			transaction(c, base+0x3000, "a:3")
		}
	})
	s.c.held("before "+(s.base+0x2000+commitLen).String()+" where the stream was to begin", "nothing is skipped")
	s.c.state("streaming")
	s.fake.WaitStatus(t, func(st pgfake.Status) bool { return st.Flush == s.base+0x3000+commitLen })
	if got := s.ids("a"); got != "1 2 3" {
		t.Errorf("delivered: %s", got)
	}
}

// TestKeepaliveStorm: a server that asks for a reply after every reply costs
// neither CPU nor memory: two answers a second say the same.
func TestKeepaliveStorm(t *testing.T) {
	t.Parallel()
	const storm = 100_000
	s := newScripted(t, func(c *pgfake.Conn, base decoder.LSN, _ int) {
		var all []byte
		for range storm {
			all = pgfake.AppendKeepalive(all, base+0x800, true)
		}
		c.Raw(all)
		transaction(c, base+0x1000, "a:1")
		c.Raw(all)
	})
	begin := time.Now()
	s.fake.WaitStatus(t, func(st pgfake.Status) bool { return st.Flush == s.base+0x1000+commitLen })
	before := len(s.fake.Statuses())
	elapse(t, 2*time.Second, func() {})
	took := time.Since(begin)
	// Progress and the beginning have theirs.
	if n := len(s.fake.Statuses()); float64(n) > 2*took.Seconds()+6 {
		t.Errorf("%d statuses in %v, %d of them until the row was confirmed", n, took, before)
	}
	if peak := s.c.peakRSS(); !raceEnabled && peak > 60<<20 {
		t.Errorf("%d MB of memory", peak>>20)
	}
	if got := s.ids("a"); got != "1" {
		t.Errorf("delivered: %s", got)
	}
}

// TestPoisonedSlot: a slot that was confirmed beyond the end of the log would
// skip what is written next, and the server's first keepalive would say that all
// is well. Nothing streams from it.
func TestPoisonedSlot(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	config, err := pgconn.ParseConfig(r.db.URL())
	if err != nil {
		t.Fatal(err)
	}
	session, err := pgrepl.Connect(t.Context(), pgrepl.Config{Conn: config, Slot: r.slot, Publication: "ob_pub", MaxMessage: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := session.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	far := r.end() + 1<<40
	if err := stream.Finish(pgrepl.Status{Write: far, Flush: far}, time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	r.insert(1, 3, "a")
	c := start(t, r.settings)
	c.held("slot.position "+r.slot, "above the server's end of WAL", "pg_drop_replication_slot('")
	if s := r.slotNow(); s.pid != 0 || s.confirmed != far {
		t.Errorf("the slot is used by %d and stands at %v", s.pid, s.confirmed)
	}
}
