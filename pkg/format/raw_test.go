package format_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/format"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// row is an event's columns by role; a role that is not there is NULL.
type row map[decoder.Role]string

var (
	position = decoder.Position{Commit: 0x16B374D848, Ordinal: 7}
	commit   = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
)

func event(r row) *decoder.Event {
	fields := map[decoder.Role][]byte{}
	for role, v := range r {
		fields[role] = []byte(v)
	}
	ev := decoder.NewEvent(decoder.NewTable(decoder.TableName{Schema: "public", Name: "outbox"}, nil), position, commit, fields)
	return &ev
}

func show(headers []sink.Header) []string {
	var all []string
	for _, h := range headers {
		text := h.Name + "=" + string(h.Value)
		if h.Value == nil {
			text = h.Name + " nil"
		}
		all = append(all, text)
	}
	return all
}

const (
	shownPosition = "position=00000016/B374D848:0000000007"
	shownSource   = "source=cdc"
)

func TestRawHeaders(t *testing.T) {
	tests := []struct {
		name string
		row  row
		want []string
	}{
		{"least", row{decoder.RoleID: "e", decoder.RoleType: "t"}, []string{"event-id=e", "event-type=t", shownPosition, shownSource}},
		{
			"most",
			row{
				decoder.RoleID: "e", decoder.RoleType: "t", decoder.RoleKey: "k", decoder.RoleOrder: "9",
				decoder.RoleAggregateType: "at", decoder.RoleAggregateID: "ai", decoder.RoleSequence: "3",
				decoder.RoleSchemaVersion: "2", decoder.RoleTenant: "acme", decoder.RoleCorrelationID: "c",
				decoder.RoleTrace: "00-x-y-01", decoder.RoleCreatedAt: "2026-03-01 12:00:00.1+00", decoder.RoleHeaders: `{"x":"1"}`,
			},
			[]string{
				"event-id=e", "event-type=t", shownPosition, shownSource, "created-at=2026-03-01 12:00:00.1+00", "aggregate-type=at",
				"aggregate-id=ai", "sequence=3", "schema-version=2", "tenant=acme", "correlation-id=c", "traceparent=00-x-y-01", "x=1",
			},
		},
		{"empty is not absent", row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RoleTenant: ""}, []string{"event-id=e", "event-type=t", shownPosition, shownSource, "tenant="}},
		{
			"row headers",
			row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RoleHeaders: `{"b": "1", "a": 2.50, "n": null, "b": [1, {"x": null}], "Ключ": "\u00e9", "": ""}`},
			[]string{"event-id=e", "event-type=t", shownPosition, shownSource, "b=1", "a=2.50", `b=[1, {"x": null}]`, "Ключ=é", "="},
		},
		{
			"the example of docs/formats.md",
			row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RoleHeaders: `{"region": "eu", "attempt": 2, "tags": ["a", "b"], "old": null}`},
			[]string{"event-id=e", "event-type=t", shownPosition, shownSource, "region=eu", "attempt=2", `tags=["a", "b"]`},
		},
		{"no row headers in the object", row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RoleHeaders: `{}`}, []string{"event-id=e", "event-type=t", shownPosition, shownSource}},
		{"names that only look reserved", row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RoleHeaders: `{"event_id":"1","ce":"2","dlq":"3","id":"4","xce_":"5"}`}, []string{"event-id=e", "event-type=t", shownPosition, shownSource, "event_id=1", "ce=2", "dlq=3", "id=4", "xce_=5"}},
	}
	raw := format.NewRaw(format.Options{Source: "cdc"})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.row[decoder.RolePayload] = "p"
			rec := sink.Record{Headers: []sink.Header{{Name: "left over"}, {Name: "from before"}}}
			if _, err := raw.Append(&rec, event(tt.row), nil); err != nil {
				t.Fatal(err)
			}
			if got := show(rec.Headers); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Payload bytes go out as they came, whatever they are.
func TestRawValueIsUntouched(t *testing.T) {
	raw := format.NewRaw(format.Options{Source: "cdc"})
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.OneOf(
			rapid.SampledFrom([]string{"", " {\"a\" : 1.0} \r\n", `\N\x00\`, "ab   ", "😀", "\xff\x00\xfe", "null"}),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "payload")
		var rec sink.Record
		_, err := raw.Append(&rec, event(row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RolePayload: payload}), nil)
		if err != nil || rec.Value == nil || string(rec.Value) != payload {
			t.Fatalf("%q became %q, %v", payload, rec.Value, err)
		}
	})
}

func TestRawFillsTheRecord(t *testing.T) {
	ev := event(row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RoleKey: "k", decoder.RolePayload: "p"})
	owner := new(int)
	rec := sink.Record{Destination: "topic", Key: []byte("key"), Owner: owner}
	buf, err := format.NewRaw(format.Options{Source: "cdc"}).Append(&rec, ev, []byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	if string(buf) != "before"+position.String() {
		t.Errorf("buffer %q", buf)
	}
	if string(rec.Position) != position.String() || cap(rec.Position) != len(rec.Position) {
		t.Errorf("position %q with room for %d", rec.Position, cap(rec.Position))
	}
	if !rec.Time.Equal(commit) {
		t.Errorf("time %v", rec.Time)
	}
	if rec.Destination != "topic" || string(rec.Key) != "key" || rec.Owner != owner {
		t.Errorf("the caller's fields changed: %+v", rec)
	}
}

// Records made into one buffer stay as they are while it grows.
func TestRawKeepsEarlierRecords(t *testing.T) {
	raw := format.NewRaw(format.Options{Source: "cdc"})
	var buf []byte
	records := make([]sink.Record, 50)
	for i := range records {
		ev := decoder.NewEvent(decoder.NewTable(decoder.TableName{Schema: "s", Name: "t"}, nil),
			decoder.Position{Commit: 1, Ordinal: uint64(i + 1)}, commit, map[decoder.Role][]byte{decoder.RolePayload: []byte("p")})
		var err error
		if buf, err = raw.Append(&records[i], &ev, buf); err != nil {
			t.Fatal(err)
		}
	}
	for i, rec := range records {
		want := fmt.Sprintf("00000000/00000001:%010d", i+1)
		if string(rec.Position) != want || string(rec.Headers[0].Value) != want {
			t.Errorf("record %d: %q, header %q", i, rec.Position, rec.Headers[0].Value)
		}
	}
}

func TestRawRefuses(t *testing.T) {
	const event1 = `format "public.outbox": event "e" of type "t" at 00000016/B374D848:0000000007: `
	tests := []struct {
		name            string
		payload         bool
		headers, reason string
		text            string
	}{
		{"NULL payload", false, `{}`, format.ReasonNullPayload, "the payload is NULL; mend the writer; this version delivers no null values"},
		{"array", true, `[{"a":"1"}]`, format.ReasonBadHeaders, "the headers column is not a JSON object; mend the writer: the column holds one JSON object"},
		{"scalar", true, `"x"`, format.ReasonBadHeaders, "the headers column is not a JSON object; mend the writer: the column holds one JSON object"},
		{"JSON null", true, `null`, format.ReasonBadHeaders, "the headers column is not a JSON object; mend the writer: the column holds one JSON object"},
		{"empty text", true, ``, format.ReasonBadHeaders, "the headers column is not valid JSON; mend the writer: the column holds one JSON object"},
		{"not JSON", true, `{"canary"`, format.ReasonBadHeaders, "the headers column is not valid JSON; mend the writer: the column holds one JSON object"},
		{"half a pair", true, `{"a":"1","b":"\ud800"}`, format.ReasonBadHeaders, "the headers column holds half of a surrogate pair, which is no character; mend the writer: the column holds one JSON object"},
		{"ours", true, `{"event-id":"canary"}`, format.ReasonReservedHeader, `the row's header "event-id" has a reserved name; rename it in the writer`},
		{"ours behind a good one", true, `{"a":"1","Position":"canary"}`, format.ReasonReservedHeader, `the row's header "Position" has a reserved name; rename it in the writer`},
		{"ours though null", true, `{"source":null}`, format.ReasonReservedHeader, `the row's header "source" has a reserved name; rename it in the writer`},
		{"ours written with escapes", true, `{"\u0073ource":"canary"}`, format.ReasonReservedHeader, `the row's header "source" has a reserved name; rename it in the writer`},
		{"CloudEvents", true, `{"CE_id":"canary"}`, format.ReasonReservedHeader, `the row's header "CE_id" has a reserved name; rename it in the writer`},
		{"dead letters", true, `{"dlq-reason":"canary"}`, format.ReasonReservedHeader, `the row's header "dlq-reason" has a reserved name; rename it in the writer`},
		{"a long name with line ends", true, `{"dlq-\r\n` + strings.Repeat("n", 5000) + `":1}`, format.ReasonReservedHeader, `the row's header "dlq-\r\n` + strings.Repeat("n", 122) + `"... has a reserved name; rename it in the writer`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RoleHeaders: tt.headers}
			if tt.payload {
				r[decoder.RolePayload] = "canary"
			}
			var rec sink.Record
			_, err := format.NewRaw(format.Options{Source: "cdc"}).Append(&rec, event(r), nil)
			var e *sink.Error
			if !errors.As(err, &e) || e.Kind != sink.Poison || e.Scope != sink.ScopeRecord || e.Reason != tt.reason {
				t.Fatalf("got %#v, want poison of reason %s", err, tt.reason)
			}
			if err.Error() != event1+tt.text {
				t.Errorf("got\n%s\nwant\n%s", err, event1+tt.text)
			}
		})
	}
}

// Every header that we make is reserved, in any spelling.
func TestReservedCoversOurs(t *testing.T) {
	r := row{}
	for _, role := range decoder.Roles() {
		r[role] = "{}"
	}
	var rec sink.Record
	if _, err := format.NewRaw(format.Options{Source: "cdc"}).Append(&rec, event(r), nil); err != nil {
		t.Fatal(err)
	}
	if len(rec.Headers) != 12 {
		t.Errorf("%d headers: %q", len(rec.Headers), show(rec.Headers))
	}
	for _, h := range rec.Headers {
		if !format.Reserved(h.Name) || !format.Reserved(strings.ToUpper(h.Name)) || !format.Reserved(strings.ToTitle(h.Name[:1])+h.Name[1:]) {
			t.Errorf("%s is not reserved", h.Name)
		}
	}
	for _, name := range []string{"", "c", "ce", "ce-id", "dl", "event", "content-type", "event-id2", "\u212Aey", "ſource"} {
		if format.Reserved(name) {
			t.Errorf("%q is reserved", name)
		}
	}
}

// One format serves any number of goroutines; the race detector watches.
func TestRawIsSharedByGoroutines(t *testing.T) {
	raw, ev := format.NewRaw(format.Options{Source: "cdc"}), event(fullRow())
	var want sink.Record
	if _, err := raw.Append(&want, ev, nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var rec sink.Record
			for range 200 {
				if _, err := raw.Append(&rec, ev, nil); err != nil || !slices.Equal(show(rec.Headers), show(want.Headers)) {
					t.Errorf("got %q, %v", show(rec.Headers), err)
					return
				}
			}
		})
	}
	wg.Wait()
}
