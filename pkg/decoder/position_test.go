package decoder

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPositionString(t *testing.T) {
	for want, p := range map[string]Position{
		"00000000/01A2B3C4:0000000001":           {Commit: 0x1A2B3C4, Ordinal: 1},
		"00000016/B374D848:0000000042":           {Commit: 0x16B374D848, Ordinal: 42},
		"FFFFFFFF/FFFFFFFF:9999999999":           {Commit: math.MaxUint64, Ordinal: 9_999_999_999},
		"00000000/00000001:18446744073709551615": {Commit: 1, Ordinal: math.MaxUint64},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, err := ParsePosition(want); err != nil || got != p {
			t.Errorf("%q was read as %v, %v", want, got, err)
		}
	}
}

func TestParsePosition(t *testing.T) {
	if got, err := ParsePosition("16/B374D848:7"); err != nil || got != (Position{Commit: 0x16B374D848, Ordinal: 7}) {
		t.Errorf("the short form was read as %v, %v", got, err)
	}
	for _, text := range []string{
		"", ":", "0/1", "0/1:", "0/1:0", ":1", "0/1:+1", "0/1:-1", "0/1:1:1", "0/1:1 ", "0/1:x", "0/1:18446744073709551616", "g/1:1", "0/1:1_0",
	} {
		if _, err := ParsePosition(text); !errors.Is(err, errPosition) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestPositionOrder: the text sorts as the positions do.
func TestPositionOrder(t *testing.T) {
	position := rapid.Custom(func(t *rapid.T) Position {
		return Position{
			Commit:  LSN(rapid.Uint64Range(0, 1<<40).Draw(t, "commit")),
			Ordinal: rapid.Uint64Range(1, 9_999_999_999).Draw(t, "ordinal"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		p, q := position.Draw(t, "p"), position.Draw(t, "q")
		if rapid.Bool().Draw(t, "same commit") {
			q.Commit = p.Commit
		}
		if got, want := p.Compare(q), cmp.Compare(p.String(), q.String()); got != want {
			t.Fatalf("Compare(%v, %v) is %d, of the texts %d", p, q, got, want)
		}
		if p.Compare(q) != -q.Compare(p) || p.Compare(Position{p.Commit, p.Ordinal}) != 0 {
			t.Fatalf("%v and %v have no order", p, q)
		}
		if want := fmt.Sprintf("%08X/%08X:%010d", uint64(p.Commit)>>32, uint32(p.Commit), p.Ordinal); p.String() != want || len(want) != PositionLen {
			t.Fatalf("prints %q, want %q", p, want)
		}
		if got, err := ParsePosition(p.String()); err != nil || got != p {
			t.Fatalf("%v came back as %v, %v", p, got, err)
		}
	})
}

func TestPositionAllocations(t *testing.T) {
	buf := make([]byte, 0, PositionLen)
	p := Position{Commit: 0x16B374D848, Ordinal: 12}
	if n := testing.AllocsPerRun(100, func() {
		if b, err := p.AppendText(buf[:0]); err != nil || len(b) != PositionLen {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
