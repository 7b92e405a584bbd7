package decoder

import (
	"errors"
	"testing"
)

func TestReader(t *testing.T) {
	r := reader{msg: wire{}.u8(1).u16(0x0203).u32(0x04050607).u64(0x08090A0B0C0D0E0F).str("ab").str("").value("cd").value("")}
	if r.uint8() != 1 || r.uint16() != 0x0203 || r.uint32() != 0x04050607 || r.uint64() != 0x08090A0B0C0D0E0F {
		t.Error("the numbers are not big-endian")
	}
	if s, e := r.cstring(), r.cstring(); string(s) != "ab" || len(e) != 0 {
		t.Errorf("got %q and %q", s, e)
	}
	if v, e := r.value(), r.value(); string(v) != "cd" || e == nil || len(e) != 0 {
		t.Errorf("got %q and %#v", v, e)
	}
	if err := r.finish(); err != nil {
		t.Error(err)
	}
}

// TestReaderFirstErrorSticks: after an error nothing more is read, even where
// the bytes would do, and the place is that of the first.
func TestReaderFirstErrorSticks(t *testing.T) {
	reads := map[string]func(*reader){
		"uint16":  func(r *reader) { r.uint16() },
		"uint32":  func(r *reader) { r.uint32() },
		"uint64":  func(r *reader) { r.uint64() },
		"cstring": func(r *reader) { r.cstring() },
		"value":   func(r *reader) { r.value() },
		"count":   func(r *reader) { r.count(2, 1) },
	}
	for name, read := range reads {
		r := reader{msg: []byte{9, 7}, off: 1}
		read(&r)
		if !errors.Is(r.err, errShort) || r.errOff != 1 {
			t.Errorf("%s: got %v at %d", name, r.err, r.errOff)
		}
		if v := r.uint8(); v != 0 {
			t.Errorf("%s: then read %d", name, v)
		}
		for other, next := range reads {
			next(&r)
			if r.errOff != 1 {
				t.Errorf("%s, then %s: the place moved to %d", name, other, r.errOff)
			}
		}
		r.fail(0, errTrailing)
		if err := r.finish(); !errors.Is(err, errShort) {
			t.Errorf("%s: ended as %v", name, err)
		}
	}
}

func TestReaderCount(t *testing.T) {
	for _, tt := range []struct {
		n    uint32
		size int
		want int
	}{{0, 4, 0}, {2, 4, 2}, {3, 4, 0}, {8, 1, 8}, {9, 1, 0}, {0xFFFFFFFF, 10, 0}, {0x80000000, 2, 0}} {
		r := reader{msg: make([]byte, 8)}
		if got := r.count(tt.n, tt.size); got != tt.want || (r.err == nil) != (got == int(tt.n)) {
			t.Errorf("%d of %d bytes: got %d, %v", tt.n, tt.size, got, r.err)
		}
	}
}

func TestKindString(t *testing.T) {
	for k, want := range map[Kind]string{
		KindBegin: "Begin", KindCommit: "Commit", KindOrigin: "Origin", KindRelation: "Relation", KindType: "Type",
		KindInsert: "Insert", KindUpdate: "Update", KindDelete: "Delete", KindTruncate: "Truncate",
		KindMessage: "Message", KindStreamAbort: "Stream Abort", 'S': "message 'S'", 0: `message '\x00'`,
	} {
		if got := k.String(); got != want {
			t.Errorf("%d: got %q, want %q", k, got, want)
		}
	}
}
