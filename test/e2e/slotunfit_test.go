package e2e

import (
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// TestForeignSlot: a slot that is none of ours, or that would lose or invent
// events, is left alone, whoever uses it. Each is told apart, and once it is gone
// the connector goes on by itself.
func TestForeignSlot(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	r.dropSlot()
	other := &pgtest.DB{Server: r.db.Server, Name: "postgres"}
	in := "'" + r.slot + "', "
	c := start(t, r.settings)
	for _, test := range []struct {
		title, make string
		from        *pgtest.DB
		session     bool // the slot ends with its session
		says        []string
	}{
		{"physical", "pg_create_physical_replication_slot('" + r.slot + "')", r.db, false, []string{"slot.plugin", "not a logical slot", "OUTBOX_CDC_SLOT"}},
		{"other plugin", "pg_create_logical_replication_slot(" + in + "'test_decoding')", r.db, false, []string{"slot.plugin", "test_decoding", "OUTBOX_CDC_SLOT"}},
		{"other database", "pg_create_logical_replication_slot(" + in + "'pgoutput')", other, false, []string{"slot.database", "belongs to database", "postgres", "connect to that database"}},
		{"two-phase", "pg_create_logical_replication_slot(" + in + "'pgoutput', false, true)", r.db, false, []string{"slot.two_phase", "before they are committed", "pg_drop_replication_slot('" + r.slot + "')"}},
		{"temporary", "pg_create_logical_replication_slot(" + in + "'pgoutput', true)", r.db, true, []string{"slot.temporary", "goes with its session", "outbox-cdc setup"}},
	} {
		t.Run(test.title, func(t *testing.T) {
			c.tb = t
			c.held("slot.exists "+r.slot, "does not exist", "pg_create_logical_replication_slot('"+r.slot+"'")
			conn := test.from.Conn(t)
			if _, err := conn.Exec(t.Context(), "SELECT "+test.make); err != nil {
				t.Fatal(err)
			}
			c.held(test.says...)
			code, text := command(t, r.settings, "check")
			for _, word := range test.says {
				if code != 3 || !strings.Contains(text, word) {
					t.Errorf("check ended with %d, without %q:\n%s", code, word, text)
				}
			}
			if test.session {
				_ = conn.Close(t.Context())
			} else {
				test.from.Exec(t, "SELECT pg_drop_replication_slot('"+r.slot+"')")
			}
		})
	}
	c.tb = t
	c.held("slot.exists "+r.slot, "does not exist")
	r.createSlot()
	r.resumes(c, 1)
}
