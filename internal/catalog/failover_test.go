package catalog

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

func TestFailoverSlot(t *testing.T) {
	server := func(version, standbys int) Server {
		s := healthy()
		s.VersionNum, s.PhysicalSlots = version, standbys
		return s
	}
	plain, synced := &Slot{Name: "s"}, &Slot{Name: "s", Failover: true}
	for _, tc := range []struct {
		title  string
		want   Failover
		server Server
		slot   *Slot
		part   string // of the warning; "" for none
	}{
		{"nobody to fail over to", FailoverAuto, server(170000, 0), plain, ""},
		{"a standby", FailoverAuto, server(170000, 1), plain, "ALTER_REPLICATION_SLOT s (FAILOVER)"},
		{"not said", "", server(180000, 1), plain, "is not a failover slot"},
		{"a standby of a failover slot", FailoverAuto, server(180000, 1), synced, ""},
		{"before 17", FailoverAuto, server(160000, 1), plain, ""},
		{"wanted before 17", FailoverOn, server(160000, 0), plain, "has no failover slots"},
		{"wanted", FailoverOn, server(170000, 0), plain, "is not a failover slot"},
		{"not wanted", FailoverOff, server(170000, 1), plain, ""},
		{"no slot yet", FailoverOn, server(170000, 1), nil, ""},
	} {
		t.Run(tc.title, func(t *testing.T) {
			var fs findings
			judgeFailover(&fs, tc.slot, tc.server, Want{Slot: "s", Failover: tc.want})
			switch {
			case tc.part == "" && len(fs) > 0:
				t.Errorf("warned: %v", fs)
			case tc.part != "" && (len(fs) != 1 || fs[0].Status != Warn || !strings.Contains(fs[0].String(), tc.part)):
				t.Errorf("got %v, want %q", fs, tc.part)
			}
		})
	}
}

// TestFailoverRemedy: the command that the warning names does what it says.
func TestFailoverRemedy(t *testing.T) {
	server := pgtest.Run(t, pgtest.Options{Major: 18})
	db := server.NewDB(t)
	db.Exec(t, outboxDDL+`CREATE PUBLICATION pub FOR TABLE outbox`)
	db.Exec(t, `SELECT pg_create_physical_replication_slot('standby')`)
	w := wanted(t, db, "public.outbox", "")
	createSlot(t, db, w)
	found := get(t, inspect(t, db, w), "slot.failover", w.Slot)
	expect(t, found, Warn, "is not a failover slot")
	command := regexp.MustCompile(`-c '(.*)'`).FindStringSubmatch(found.Remedy)
	if command == nil {
		t.Fatalf("remedy %q", found.Remedy)
	}
	conn, err := pgconn.Connect(t.Context(), db.URL()+"&replication=database")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), command[1]).ReadAll(); err != nil {
		t.Fatal(err)
	}
	for _, f := range inspect(t, db, w).Findings {
		if f.Name == "slot.failover" {
			t.Errorf("still %v", f)
		}
	}
}
