package decoder

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseLSN(t *testing.T) {
	for text, want := range map[string]LSN{
		"0/0":               0,
		"16/B374D848":       0x16B374D848,
		"16/b374d848":       0x16B374D848,
		"00000016/0000000A": 0x160000000A,
		"FFFFFFFF/FFFFFFFF": math.MaxUint64,
		"0/1":               1,
		"1/0":               1 << 32,
	} {
		if got, err := ParseLSN(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "/", "0", "0/", "/0", "0/0/0", "g/0", "0/g", "0x1/0", "+1/0", "-1/0", " 0/0", "0/0 ", "0_1/0",
		"000000000/0", "0/123456789", "0/١", strings.Repeat("1", 200) + "/1",
	} {
		_, err := ParseLSN(text)
		if !errors.Is(err, errLSN) {
			t.Errorf("%q: got %v", text, err)
		} else if len(err.Error()) > 300 {
			t.Errorf("%q: the error repeats it all", text)
		}
	}
}

func TestLSNRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := LSN(rapid.Uint64().Draw(t, "lsn"))
		if want := fmt.Sprintf("%X/%X", uint64(l)>>32, uint32(l)); l.String() != want {
			t.Fatalf("prints %q, want %q", l, want)
		}
		if got, err := ParseLSN(l.String()); err != nil || got != l {
			t.Fatalf("%v came back as %v, %v", l, got, err)
		}
	})
}

func TestLSNText(t *testing.T) {
	type doc struct {
		LSN LSN `json:"lsn"`
	}
	text, err := json.Marshal(doc{0x16B374D848})
	if err != nil || string(text) != `{"lsn":"16/B374D848"}` {
		t.Errorf("got %s, %v", text, err)
	}
	var back doc
	if err := json.Unmarshal(text, &back); err != nil || back.LSN != 0x16B374D848 {
		t.Errorf("got %v, %v", back.LSN, err)
	}
	if err := json.Unmarshal([]byte(`{"lsn":"x"}`), &back); !errors.Is(err, errLSN) || back.LSN != 0x16B374D848 {
		t.Errorf("got %v, %v", back.LSN, err)
	}
}
