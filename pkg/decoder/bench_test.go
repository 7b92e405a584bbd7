package decoder

import (
	"strings"
	"testing"
)

// benchRow is a row of nine columns with a payload of 450 bytes.
func benchRow(tb testing.TB) (d *Decoder, msg wire) {
	tb.Helper()
	rel := outbox("aggregate_type", "aggregate_id", "tenant", "created_at", "note")
	d = session(tb, mustTables(tb, "public.outbox", ""), beginMsg(0x100), relationMsg(rel))
	msg = insertMsg(rel.ID, "6f1c1a52-3f0e-4f53-9a3f-0c2d2f3f5a11", "order.created", "customer-4711",
		`{"x": "`+strings.Repeat("p", 440)+`"}`, "order", "4711", nil, "2026-01-02 03:04:05.678901+00", "not mapped")
	return d, msg
}

func BenchmarkDecodeInsert(b *testing.B) {
	d, msg := benchRow(b)
	arena := make([]byte, 0, 1<<20)
	var ev Event
	b.ReportAllocs()
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		if cap(arena)-len(arena) < len(msg) {
			arena = arena[:0]
		}
		var err error
		if arena, _, err = d.Decode(msg, arena, &ev); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodeOneRowTransaction is Begin, Insert and Commit.
func BenchmarkDecodeOneRowTransaction(b *testing.B) {
	d, msg := benchRow(b)
	begin, commit := beginMsg(0), commitMsg(0x100, 0x108)
	arena := make([]byte, 0, len(msg))
	var ev Event
	if _, _, err := d.Decode(commit, arena, &ev); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for lsn := uint64(0x200); b.Loop(); lsn += 0x100 {
		begin = begin[:1].u64(lsn).u64(testTime).u32(testXID)
		commit = commit[:2].u64(lsn).u64(lsn + 8).u64(testTime)
		for _, m := range [...]wire{begin, msg, commit} {
			if _, _, err := d.Decode(m, arena, &ev); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecodeOtherTable(b *testing.B) {
	rel := outbox()
	rel.ID, rel.Name = 16500, "orders"
	d, _ := benchRow(b)
	if _, _, err := d.Decode(relationMsg(rel), nil, nil); err != nil {
		b.Fatal(err)
	}
	msg := insertMsg(rel.ID, "1", "a", "b", strings.Repeat("p", 450))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Decode(msg, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
