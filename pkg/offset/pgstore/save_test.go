package pgstore

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

func TestSaveAndLoadOnAllMajors(t *testing.T) {
	for _, major := range pgtest.Majors() {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			db := pool.Server(t, major).NewDB(t)
			s, cp := newStore(t, db), here(t, db)
			if got, err := s.Load(t.Context(), cp.Slot); got != nil || err != nil {
				t.Fatalf("before the first save: %v, %v", got, err)
			}
			save(t, s, cp, 0, true)
			got := load(t, s, cp.Slot)
			if age := time.Since(got.UpdatedAt); age > time.Minute || age < -time.Minute {
				t.Errorf("updated at %v", got.UpdatedAt)
			}
			if got.Gap != (offset.Range{}) {
				t.Errorf("a gap of nobody: %+v", got.Gap)
			}
			gap := offset.Range{From: 5, To: 7}
			cp.Gap = gap
			save(t, s, cp, 0, true)
			cp.Gap = offset.Range{}
			save(t, s, cp, 0, true)
			got, cp.Gap = load(t, s, cp.Slot), gap
			got.UpdatedAt, cp.Phase = time.Time{}, offset.PhaseStream
			if got != cp {
				t.Errorf("got %+v, want %+v", got, cp)
			}
			// A table that is there is left as it is.
			db.Exec(t, CreateSchema(checkpoints())+CreateTable(checkpoints()))
			load(t, s, cp.Slot)
		})
	}
}

// TestNothingIsLowered: a save that comes late, of a stream that is behind,
// changes no position.
func TestNothingIsLowered(t *testing.T) {
	db := pool.NewDB(t)
	s, cp := newStore(t, db), here(t, db)
	for _, tc := range []struct{ confirmed, ceiling, wantConfirmed, wantCeiling decoder.LSN }{
		{0x100, 0x200, 0x100, 0x200},
		{0x90, 0x300, 0x100, 0x300},
		{0x110, 0x250, 0x110, 0x300},
		{0x110, 0x300, 0x110, 0x300},
		{1 << 40, 1 << 41, 1 << 40, 1 << 41},
	} {
		cp.Confirmed, cp.Ceiling = tc.confirmed, tc.ceiling
		save(t, s, cp, 0, true)
		if got := load(t, s, cp.Slot); got.Confirmed != tc.wantConfirmed || got.Ceiling != tc.wantCeiling {
			t.Errorf("after %v, %v: %v, %v, want %v, %v", tc.confirmed, tc.ceiling, got.Confirmed, got.Ceiling, tc.wantConfirmed, tc.wantCeiling)
		}
	}
}

// TestSavedOnlyWhereItIsRight: what does not belong to this server, or not over
// what is there, is dropped without an error, and nothing is changed.
func TestSavedOnlyWhereItIsRight(t *testing.T) {
	db := pool.NewDB(t)
	s, cp := newStore(t, db), here(t, db)
	for title, change := range map[string]func(*offset.Checkpoint){
		"another system":   func(cp *offset.Checkpoint) { cp.SystemID = "1" },
		"a later timeline": func(cp *offset.Checkpoint) { cp.Timeline = 2 },
		"timeline 16":      func(cp *offset.Checkpoint) { cp.Timeline = 16 },
		"another database": func(cp *offset.Checkpoint) { cp.Database = "postgres" },
	} {
		wrong := cp
		change(&wrong)
		if saved, err := s.Save(t.Context(), wrong, 0); saved || err != nil {
			t.Errorf("%s: saved %v, %v", title, saved, err)
		}
	}
	if got, err := s.Load(t.Context(), cp.Slot); got != nil || err != nil {
		t.Fatalf("a row came of it: %v, %v", got, err)
	}
	for title, update := range map[string]string{
		"a row of another system":   "system_id = '1'",
		"a row of a later timeline": "timeline = 2",
		"a row of another database": "database = 'shop'",
	} {
		save(t, s, cp, 0, true)
		db.Exec(t, "UPDATE outbox_cdc.checkpoint SET confirmed_lsn = '0/50', "+update)
		if saved, err := s.Save(t.Context(), cp, 0); saved || err != nil {
			t.Errorf("%s: saved %v, %v", title, saved, err)
		}
		if got := load(t, s, cp.Slot); got.Confirmed != 0x50 {
			t.Errorf("%s: was changed to %v", title, got.Confirmed)
		}
		db.Exec(t, "DELETE FROM outbox_cdc.checkpoint")
	}
}

// TestNewTimeline: positions of an older timeline give way, higher or not, and
// what was known of the slot on the other server goes.
func TestNewTimeline(t *testing.T) {
	db := pool.NewDB(t)
	s, cp := newStore(t, db), here(t, db)
	save(t, s, cp, 0, true)
	db.Exec(t, "UPDATE outbox_cdc.checkpoint SET timeline = 0, confirmed_lsn = '1/0', ceiling_lsn = '2/0', restart_lsn = '1/0', decoded_txns = 5, snapshot = '10:10:'")
	save(t, s, cp, 0, true)
	got := load(t, s, cp.Slot)
	if got.Timeline != 1 || got.Confirmed != cp.Confirmed || got.Ceiling != cp.Ceiling || got.Restart != 0 || got.Decoded != 0 {
		t.Errorf("got %+v", got)
	}
	if got.Snapshot != "10:10:" {
		t.Errorf("snapshot %q: the row had it before the timelines parted", got.Snapshot)
	}
}

// TestServersWithoutWrites: a standby, also one only by its settings, is no
// error; the next save may reach the primary.
func TestServersWithoutWrites(t *testing.T) {
	pair := pgtest.RunPair(t, pgtest.Options{})
	db := pair.Primary.NewDB(t)
	s, cp := newStore(t, db), here(t, db)
	save(t, s, cp, 0, true)
	if err := pair.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	standby := storeAt(t, pair.Standby.URL(db.Name, "postgres"))
	cp.Confirmed = 0x180
	save(t, standby, cp, 0, false)
	if got := load(t, standby, cp.Slot); got.Confirmed != 0x100 {
		t.Errorf("the standby has %v", got.Confirmed)
	}
	db.Exec(t, "ALTER DATABASE "+db.Name+" SET default_transaction_read_only = on")
	save(t, storeAt(t, db.URL()), cp, 0, false)
	db.Exec(t, "BEGIN READ WRITE; ALTER DATABASE "+db.Name+" RESET default_transaction_read_only; COMMIT")
	save(t, s, cp, 0, true)

	// After a promotion only a stream on the new timeline may write there,
	// and the old primary still takes what belongs to it.
	if err := pair.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := pair.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	save(t, standby, cp, 0, false)
	after := cp
	after.Timeline, after.Confirmed = 2, 0x170
	save(t, s, after, 0, false)
	save(t, standby, after, 0, true)
	save(t, standby, cp, 0, false)
	if got := load(t, standby, cp.Slot); got.Timeline != 2 || got.Confirmed != 0x170 {
		t.Errorf("got %+v", got)
	}
}

// TestConcurrentSavers: whoever comes last, the highest position stays.
func TestConcurrentSavers(t *testing.T) {
	db := pool.NewDB(t)
	s, cp := newStore(t, db), here(t, db)
	const savers, saves = 3, 20
	var wg sync.WaitGroup
	for n := range savers {
		one := s
		if n > 0 {
			one = storeAt(t, db.URL())
		}
		wg.Go(func() {
			for i := range saves {
				mine := cp
				mine.Confirmed += decoder.LSN((i*7+n)%saves + 1)
				mine.Ceiling = mine.Confirmed + 0x100
				if saved, err := one.Save(t.Context(), mine, 0); !saved || err != nil {
					t.Errorf("saved %v, %v", saved, err)
				}
			}
		})
	}
	wg.Wait()
	if got := load(t, s, cp.Slot); got.Confirmed != cp.Confirmed+saves || got.Ceiling != cp.Confirmed+saves+0x100 {
		t.Errorf("got %+v", got)
	}
}

// TestWhatTheServerKnowsOfTheSlot: it is kept only while the slot is ours, and
// tells ours from a new one of the same name, on each version.
func TestWhatTheServerKnowsOfTheSlot(t *testing.T) {
	for _, major := range []int{14, 17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			db := pool.Server(t, major).NewDB(t)
			s, cp := newStore(t, db), here(t, db)
			conn := db.Conn(t) // a temporary slot is its session's
			pid := conn.PgConn().PID()
			run := func(sql string) {
				t.Helper()
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			create := "SELECT pg_create_logical_replication_slot('" + cp.Slot + "', 'test_decoding', true)"
			get := "SELECT count(*) FROM pg_logical_slot_get_changes('" + cp.Slot + "', NULL, NULL)"
			decoded := "SELECT total_txns FROM pg_stat_replication_slots WHERE slot_name = '" + cp.Slot + "'"
			run(create)
			run("CREATE TABLE t ()")
			run("INSERT INTO t DEFAULT VALUES")
			run(get)
			until(t, func() bool { return db.Text(t, decoded) == "2" })
			behind := func(pid uint32, want bool) {
				t.Helper()
				if got, err := s.Behind(t.Context(), cp.Slot, pid); got != want || err != nil {
					t.Errorf("behind: %t, %v", got, err)
				}
			}
			behind(pid, false) // there is no checkpoint
			save(t, s, cp, pid+1, true)
			behind(pid, true)
			behind(pid+1, false)
			if got := load(t, s, cp.Slot); got.Restart != 0 || got.Decoded != 0 {
				t.Errorf("somebody else's slot: %+v", got)
			}
			save(t, s, cp, pid, true)
			got := load(t, s, cp.Slot)
			if got.Restart == 0 || got.Decoded != 2 {
				t.Errorf("our slot: %+v", got)
			}
			behind(pid, false)
			run("SELECT pg_drop_replication_slot('" + cp.Slot + "')")
			run(create)
			save(t, s, cp, 0, true)
			if kept := load(t, s, cp.Slot); kept.Restart != got.Restart || kept.Decoded != got.Decoded {
				t.Errorf("without a stream: %+v, was %+v", kept, got)
			}
			until(t, func() bool { return db.Text(t, decoded) == "0" })
		})
	}
}
