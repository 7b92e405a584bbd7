package pgrepl

import (
	"maps"
	"testing"
)

func TestParseHistory(t *testing.T) {
	const file = "1\t0/3000148\tno recovery target specified\n\n# comment\n2\t0/5000060\tbefore 2000-01-01 00:00:00+00\n"
	got, err := ParseHistory([]byte(file))
	if want := (History{1: 0x3000148, 2: 0x5000060}); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"1\n", "x\t0/1\n", "0\t0/1\n", "1\t0x1\n", "9999999999\t0/1\n"} {
		if got, err := ParseHistory([]byte(bad)); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
	if got, err := ParseHistory(nil); err != nil || len(got) != 0 {
		t.Errorf("an empty file gave %v, %v", got, err)
	}
}
