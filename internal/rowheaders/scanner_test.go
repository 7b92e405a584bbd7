package rowheaders

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// walk prints every member as name=value, with a mark for null.
func walk(column string) ([]string, error) {
	var got []string
	s := Scan([]byte(column))
	for m, ok := s.Next(); ok; m, ok = s.Next() {
		text := fmt.Sprintf("%s=%s", m.Name, m.Value)
		if m.Null {
			text += " (null)"
		}
		got = append(got, text)
	}
	return got, s.Err()
}

func TestScan(t *testing.T) {
	tests := []struct {
		name, column string
		want         []string
	}{
		{"empty", `{}`, nil},
		{"blanks", " {\n } ", nil},
		{"string", `{"a":"1"}`, []string{"a=1"}},
		{"jsonb printing", `{"a": "1", "b": 2}`, []string{"a=1", "b=2"}},
		{"duplicates keep their order", `{"b":"1","a":"2","b":"3"}`, []string{"b=1", "a=2", "b=3"}},
		{"other values are their text", `{"n":1.50,"t":true,"o":{"x":[1, "}"]},"a":[ ]}`, []string{"n=1.50", "t=true", `o={"x":[1, "}"]}`, "a=[ ]"}},
		{"text ends before blanks", "{\"n\": 1 ,\"m\":2\n}", []string{"n=1", "m=2"}},
		{"null", `{"a":null,"b":"null"}`, []string{"a=null (null)", "b=null"}},
		{"empty name and value", `{"":""}`, []string{"="}},
		{"structure inside strings", `{"a,}":"{:\"]"}`, []string{`a,}={:"]`}},
		{"escapes", `{"\u0061":"\"\\\/\b\f\n\r\t\u00e9"}`, []string{"a=\"\\/\b\f\n\r\té"}},
		{"surrogate pair", `{"a":"\ud83d\ude00!"}`, []string{"a=😀!"}},
		{"raw non-ASCII", `{"ключ":"значение"}`, []string{"ключ=значение"}},
		{"escaped zero", `{"a":"x\u0000y"}`, []string{"a=x\x00y"}},
		{"escapes in a nested value stay", `{"a":["\u0061"]}`, []string{`a=["\u0061"]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := walk(tt.column)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestScanRefuses(t *testing.T) {
	tests := []struct {
		column string
		want   error
	}{
		{``, ErrInvalid},
		{`{`, ErrInvalid},
		{`{"a":}`, ErrInvalid},
		{`{"a":1,}`, ErrInvalid},
		{`{"a":1} x`, ErrInvalid},
		{`{'a':1}`, ErrInvalid},
		{`[]`, ErrNotObject},
		{`["a"]`, ErrNotObject},
		{`"a"`, ErrNotObject},
		{` 1`, ErrNotObject},
		{`null`, ErrNotObject},
		{`{"a":"\ud83d"}`, ErrSurrogate},
		{`{"a":"\ud83dxxxxxx"}`, ErrSurrogate},
		{`{"a":"\ude00\ud83d"}`, ErrSurrogate},
		{`{"\ud83d":"b"}`, ErrSurrogate},
	}
	for _, tt := range tests {
		t.Run(tt.column, func(t *testing.T) {
			got, err := walk(tt.column)
			if !errors.Is(err, tt.want) || got != nil {
				t.Errorf("got %q, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// A map read by encoding/json is the model for everything but order.
func TestScanAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "object")
		column, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		s := Scan(column)
		for m, ok := s.Next(); ok; m, ok = s.Next() {
			got[string(m.Name)] = string(m.Value)
		}
		if s.Err() != nil || len(got) != len(want) {
			t.Fatalf("%s: got %q, %v", column, got, s.Err())
		}
		for k, v := range want {
			if got[k] != v {
				t.Fatalf("%s: %q is %q, want %q", column, k, got[k], v)
			}
		}
	})
}

func TestScanWithoutEscapesDoesNotAllocate(t *testing.T) {
	column := []byte(`{"a": "1", "b": [1, 2], "c": null}`)
	n := testing.AllocsPerRun(100, func() {
		s := Scan(column)
		for _, ok := s.Next(); ok; _, ok = s.Next() {
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":"\u00e9","b":[{"c":"}"}]}`, `{"a":"\ud83d\ude00"}`, `[1]`, `{"a":1 , "a":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, column []byte) {
		s := Scan(column)
		members := 0
		for m, ok := s.Next(); ok; m, ok = s.Next() {
			members++
			if utf8.Valid(column) && !utf8.Valid(m.Name) {
				t.Fatalf("name %q is not UTF-8", m.Name)
			}
		}
		var object map[string]json.RawMessage
		err := json.Unmarshal(column, &object)
		switch {
		case s.Err() == nil && (err != nil || object == nil):
			t.Fatalf("accepted %q: %v", column, err)
		case s.Err() == nil && members < len(object):
			t.Fatalf("%d members of %q, want at least %d", members, column, len(object))
		}
	})
}
