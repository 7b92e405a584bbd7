package e2e

import (
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl/pgfake"
	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestPositionBeyondTheLog: a stream that names a position far beyond the end of
// the server's log is left, and nothing up to there is confirmed: the server would
// skip all that is written until then.
func TestPositionBeyondTheLog(t *testing.T) {
	t.Parallel()
	s := newScripted(t, func(c *pgfake.Conn, base decoder.LSN, n int) {
		if n == 0 {
			transaction(c, base+0x1000, "a:1")
			c.Keepalive(base+1<<40, true)
			return
		}
		transaction(c, base+0x2000, "a:2")
	})
	last := s.base + 0x2000 + commitLen
	s.fake.WaitStatus(t, func(st pgfake.Status) bool { return st.Flush >= last })
	if at := s.confirmed(); at != last {
		t.Errorf("confirmed %v, want %v", at, last)
	}
	if got := s.ids("a"); got != "1 2" {
		t.Errorf("delivered: %s", got)
	}
}

// TestLogThatGrowsFast: a server that has really written more than a gigabyte since
// the connector looked is asked, and the session goes on.
func TestLogThatGrowsFast(t *testing.T) {
	t.Parallel()
	r := newRig(t, pgtest.Run(t, pgtest.Options{Settings: map[string]string{"wal_init_zero": "off"}}), 1)
	c := startReady(t, r.settings)
	r.insert(1, 10, "a")
	r.settle()
	pid, begin := r.slotNow().pid, r.end()
	for n := 100; r.end() < begin+5*256<<20; n++ {
		// Each switch leaves the rest of a file of 16 MiB empty.
		r.db.Exec(t, "SELECT pg_logical_emit_message(false, 'filler', 'x'), pg_switch_wal() FROM generate_series(1, 20)")
		r.insert(n, n, "a")
	}
	r.settle()
	if s := r.slotNow(); s.pid != pid {
		t.Errorf("the session is another one:\n%s", c.log.end(5))
	}
	r.verify(nil, allowed{})
}
