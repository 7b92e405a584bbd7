package config

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "1KiB": 1024, "16MiB": 16 << 20, "4GiB": 4 << 30, "2TiB": 2 << 40, "1PiB": 1 << 50,
		"1KB": 1000, "5MB": 5e6, "3GB": 3e9, "1.5KiB": 1536, "0.5GB": 5e8, "16 MiB": 16 << 20, "0MiB": 0,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "1", "16", "MiB", "16M", "16mib", "16mb", "16B", "-1MiB", "+1MiB", "1e3MiB", "0x1MiB", "1_0MiB",
		"1.MiB", ".5MiB", "1.5.5MiB", "1,5MiB", "16MiBs", " 16MiB", "16MiB ", "1.1234567MiB", "5000PiB", "99999999999999999999KiB",
	} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestBytesString(t *testing.T) {
	for b, want := range map[Bytes]string{
		0: "0", 17: "17B", 1000: "1KB", 1024: "1KiB", 1536: "1536B", 1 << 20: "1MiB", 5e6: "5MB", 1 << 40: "1TiB", 1<<20 + 1024: "1025KiB",
	} {
		if got := b.String(); got != want {
			t.Errorf("%d: got %s, want %s", int64(b), got, want)
		}
	}
}

func TestBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]Bytes{1000, 1024, 1e6, 1 << 20, 1 << 30}).Draw(t, "unit")
		b := unit * Bytes(rapid.Int64Range(0, 1<<20).Draw(t, "count"))
		if got, err := ParseBytes(b.String()); err != nil || got != b {
			t.Fatalf("%d became %q and that %d, %v", int64(b), b, int64(got), err)
		}
	})
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "250ms": 250 * time.Millisecond, "1m30s": 90 * time.Second, "1d": 24 * time.Hour,
		"7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "1d0s": 24 * time.Hour, "1.5h": 90 * time.Minute, "10us": 10 * time.Microsecond,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "1 s", "-1s", "+1s", "1.5d", "d", "1d1d", "1h1d", "1d1", "1day", "s", "200000d", "106750d9999999h", "1D"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// FuzzValues: no text makes a parser panic or give a negative value.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"1d12h", "16MiB", "0", "1.5GB", "9223372036854775807d", "-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := ParseBytes(s); err == nil && b < 0 {
			t.Errorf("%q is %d bytes", s, b)
		}
		if d, err := ParseDuration(s); err == nil && d < 0 {
			t.Errorf("%q is %v", s, d)
		}
		if n, err := parseInteger(s); err == nil && n < 0 {
			t.Errorf("%q is %d", s, n)
		}
	})
}

func TestEditDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"", "ab", 2}, {"SLOTT", "SLOT", 1}, {"kitten", "sitting", 3}, {"TABELS", "TABLES", 2}} {
		if got := editDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("%q, %q: got %d, want %d", tc.a, tc.b, got, tc.want)
		}
		if got := editDistance(tc.b, tc.a); got != tc.want {
			t.Errorf("%q, %q: got %d, want %d", tc.b, tc.a, got, tc.want)
		}
	}
	if got := nearest("x", nil); got != "" {
		t.Errorf("nearest of none is %q", got)
	}
	if got := clip(strings.Repeat("x", 200)); len(got) != 131 {
		t.Errorf("clip leaves %d bytes", len(got))
	}
}
