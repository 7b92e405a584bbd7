package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// roleSettings are what a DBA may have given to all roles of services, and what
// would end a session, or change what a row looks like.
func roleSettings() []string {
	return []string{
		"statement_timeout = '1s'", "idle_session_timeout = '1s'", "idle_in_transaction_session_timeout = '1s'", "lock_timeout = '1s'",
		"client_min_messages = error", "datestyle = 'SQL, DMY'", "intervalstyle = sql_standard", "timezone = 'Asia/Kathmandu'",
		"bytea_output = escape", "extra_float_digits = -15", "client_encoding = LATIN1", "synchronous_commit = off", "search_path = ''",
		"transaction_timeout = '1s'", // new in 17
	}
}

// TestRoleSettings: none of them touches the stream, and the warning that is all
// that PostgreSQL 18 says of a missing publication arrives.
func TestRoleSettings(t *testing.T) {
	t.Parallel()
	for _, major := range []int{17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pool.Server(t, major), 1)
			name := "r_" + r.db.Name
			r.as(name, "LOGIN REPLICATION", "")
			for _, setting := range roleSettings() {
				r.db.Exec(t, fmt.Sprintf("ALTER ROLE %s SET %s", name, setting))
			}
			r.db.Exec(t, "ALTER TABLE app.outbox ADD created_at timestamptz, ADD headers jsonb")
			c := startReady(t, r.settings.with(settings{"OFFSET_INTERVAL": "2s"}))
			pid := r.slotNow().pid
			r.db.Exec(t, `INSERT INTO app.outbox VALUES ('a:1', 'E', 'a', '{"p": "zł€"}', '2026-11-30 23:59:59.25+02', '{"h": "ż"}')`)
			r.settle()
			rec := byID(t, r.records(topic))["a:1"]
			if got := rec.headers["created-at"]; got != "2026-11-30 21:59:59.25+00" || string(rec.value) != `{"p": "zł€"}` || rec.headers["h"] != "ż" {
				t.Errorf("got %q, %v", rec.value, rec.headers)
			}
			// Longer than any of the limits, with something to do and without.
			i := 1
			elapse(t, 4*time.Second, func() {
				if now := r.slotNow().pid; now != pid {
					t.Fatalf("the session was %d and is %d", pid, now)
				}
				if i++; i < 50 {
					r.db.Exec(t, fmt.Sprintf(`INSERT INTO app.outbox VALUES ('a:%d', 'E', 'a', '{}')`, i))
				}
			})
			r.settle()
			c.state("streaming")
			for _, lost := range []string{"the stream is lost", "the checkpoint was not stored"} {
				if strings.Contains(c.log.String(), lost) {
					t.Errorf("%q in the log:\n%s", lost, c.log.String())
				}
			}
			r.db.Exec(t, "DROP PUBLICATION ob_pub")
			end := r.insert(100, 100, "a")
			c.held("ob_pub", "does not exist")
			if !strings.Contains(c.log.String(), "gap from LSN") {
				t.Error("no gap was noticed")
			}
			if s := r.slotNow(); s.confirmed >= end {
				t.Errorf("the slot went to %v, over rows that end at %v", s.confirmed, end)
			}
		})
	}
}
