package e2e

import (
	"bytes"
	"slices"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// death is an end of the connector's process, or of its session with the ledger
// lost: what the slot stood at then, and what the topic held.
type death struct {
	stood decoder.LSN
	ends  []int64 // by partition
}

// buried waits until the slot is free after the end of a process.
func (r *rig) buried() death {
	r.tb.Helper()
	return death{stood: r.inactive(), ends: r.ends(r.topic)}
}

// allowed are the repeats that a test has to put up with: of events whose
// transaction was not confirmed when the connector died the last time.
type allowed struct {
	deaths []death
	// crash: the server crashed too, or one before 17 was shut down, so that
	// its slot may have gone back.
	crash bool
	// ghosts is the key of events that a failover has lost: they may have been
	// delivered, and are not in the table.
	ghosts string
}

// covers tells whether a copy of a record that was stored before is to be
// expected where it is.
func (a allowed) covers(again record) bool {
	for _, d := range slices.Backward(a.deaths) {
		if d.ends[again.partition] <= again.offset {
			return again.commit >= d.stood
		}
	}
	return false
}

// verify compares the topic with the outbox table: nothing is missing, nothing
// invented, each key in one partition and in commit order, the bytes are the
// server's, and repeats are exact copies that were to be expected. It returns
// the number of repeats by the commit of their transaction.
func (r *rig) verify(w *watcher, may allowed) (repeats map[decoder.LSN]int) {
	r.tb.Helper()
	records := r.records(r.topic)
	want := r.table()
	repeats = map[decoder.LSN]int{}
	first := map[string]record{}
	got := map[string][]string{} // ids by key
	for _, rec := range records {
		if may.ghosts != "" && string(rec.key) == may.ghosts {
			continue
		}
		if original, again := first[rec.id]; again {
			repeats[rec.commit]++
			if !r.checkRepeat(original, rec, may) {
				return repeats
			}
			continue
		}
		first[rec.id] = rec
		key := string(rec.key)
		got[key] = append(got[key], rec.id)
		if one := first[got[key][0]]; one.partition != rec.partition {
			r.tb.Fatalf("key %q is in the partitions %d and %d", key, one.partition, rec.partition)
		}
		if payload, ok := want.payloads[rec.id]; !ok || payload != string(rec.value) {
			r.tb.Fatalf("record %q has value %.100q; in the table: %v, %.100q", rec.id, rec.value, ok, payload)
		}
	}
	for key, ids := range want.keys {
		if !slices.Equal(got[key], ids) {
			r.tb.Errorf("key %q: %s", key, firstDifference(got[key], ids))
		}
	}
	if len(first) != len(want.payloads) {
		r.tb.Errorf("%d events were delivered, %d were committed", len(first), len(want.payloads))
	}
	if w != nil {
		w.check(records, may.crash)
	}
	return repeats
}

func (r *rig) checkRepeat(original, again record, may allowed) bool {
	r.tb.Helper()
	if !bytes.Equal(original.key, again.key) || !bytes.Equal(original.value, again.value) ||
		original.commit != again.commit || original.ordinal != again.ordinal {
		r.tb.Errorf("record %s was repeated as something else: %+v, then %+v", again.id, original, again)
		return false
	}
	if !may.covers(again) {
		r.tb.Errorf("record %s, committed at %v, was repeated; deaths of the connector: %+v", again.id, again.commit, may.deaths)
		return false
	}
	return true
}

// outbox is what was committed.
type outbox struct {
	payloads map[string]string   // by id
	keys     map[string][]string // ids by key, in commit order
}

func (r *rig) table() outbox {
	r.tb.Helper()
	o := outbox{payloads: map[string]string{}, keys: map[string][]string{}}
	rows, err := r.db.Conn(r.tb).Query(r.tb.Context(), `SELECT id, coalesce(partition_key, ''), payload::text
		FROM app.outbox ORDER BY id COLLATE "C"`)
	if err != nil {
		r.tb.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, key, payload string
		if err := rows.Scan(&id, &key, &payload); err != nil {
			r.tb.Fatal(err)
		}
		o.payloads[id] = payload
		o.keys[key] = append(o.keys[key], id)
	}
	if err := rows.Err(); err != nil {
		r.tb.Fatal(err)
	}
	return o
}

// firstDifference says where two lists part.
func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return "got " + got[i] + " where " + want[i] + " was due"
		}
	}
	if len(got) > len(want) {
		return "got " + got[len(want)] + ", which is not in the table"
	}
	return "missing " + want[len(got)] + " and what follows"
}

func TestFirstDifference(t *testing.T) {
	for _, test := range []struct {
		got, want []string
		text      string
	}{
		{[]string{"a", "c"}, []string{"a", "b", "c"}, "got c where b was due"},
		{[]string{"a", "b"}, []string{"a"}, "got b, which is not in the table"},
		{[]string{"a"}, []string{"a", "b"}, "missing b and what follows"},
	} {
		if text := firstDifference(test.got, test.want); text != test.text {
			t.Errorf("%v, %v: %q, want %q", test.got, test.want, text, test.text)
		}
	}
}
