package format_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/format"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// typed is a table whose columns have the given types, and text otherwise.
func typed(types map[decoder.Role]uint32) *decoder.Table {
	columns := map[decoder.Role]decoder.Column{}
	for _, r := range decoder.Roles() {
		columns[r] = decoder.Column{Name: r.String(), TypeOID: decoder.OIDText, TypeMod: -1}
		if oid, ok := types[r]; ok {
			columns[r] = decoder.Column{Name: r.String(), TypeOID: oid, TypeMod: -1}
		}
	}
	return decoder.NewTable(decoder.TableName{Schema: "app", Name: "out\"box"}, columns)
}

func typedEvent(types map[decoder.Role]uint32, r row) *decoder.Event {
	fields := map[decoder.Role][]byte{}
	for role, v := range r {
		fields[role] = []byte(v)
	}
	ev := decoder.NewEvent(typed(types), position, commit, fields)
	return &ev
}

func envelope(t *testing.T, ev *decoder.Event) string {
	t.Helper()
	var rec sink.Record
	if _, err := format.NewEnvelope(format.Options{Source: "cdc", Database: "shop"}).Append(&rec, ev, nil); err != nil {
		t.Fatal(err)
	}
	return string(rec.Value)
}

// source is the member "source" of all events here.
const source = `"source":{"name":"cdc","database":"shop","schema":"app","table":"out\"box","position":"00000016/B374D848:0000000007","commitTime":"2026-03-01T12:00:00.123456Z"}`

func TestEnvelope(t *testing.T) {
	least := row{decoder.RoleID: "e", decoder.RoleType: "t"}
	with := func(more row) row {
		all := row{decoder.RolePayload: `{"a": 1}`}
		for _, r := range []row{least, more} {
			maps.Copy(all, r)
		}
		return all
	}
	ints := map[decoder.Role]uint32{decoder.RoleSequence: decoder.OIDInt8, decoder.RoleSchemaVersion: decoder.OIDInt2, decoder.RolePayload: decoder.OIDJSONB}
	at := func(oid uint32) map[decoder.Role]uint32 { return map[decoder.Role]uint32{decoder.RoleCreatedAt: oid} }
	for _, tt := range []struct {
		name  string
		types map[decoder.Role]uint32
		row   row
		want  string // between the ids and the source; then the payload
		value string
	}{
		{"least", nil, with(nil), "", `{"a": 1}`},
		{
			"most", ints, with(row{
				decoder.RoleKey: "k", decoder.RoleAggregateType: "at", decoder.RoleAggregateID: "ai", decoder.RoleSequence: "-3",
				decoder.RoleSchemaVersion: "2", decoder.RoleTenant: "acme", decoder.RoleCorrelationID: "c", decoder.RoleTrace: "00-x-y-01",
			}),
			`"partitionKey":"k","aggregateType":"at","aggregateId":"ai","sequence":-3,"schemaVersion":2,"tenant":"acme","correlationId":"c",`, `{"a": 1}`,
		},
		{"numbers of other types are text", nil, with(row{decoder.RoleSequence: "3", decoder.RoleSchemaVersion: "1.0"}), `"sequence":"3","schemaVersion":"1.0",`, `{"a": 1}`},
		{"empty is not absent", nil, with(row{decoder.RoleTenant: ""}), `"tenant":"",`, `{"a": 1}`},
		{"escapes", nil, with(row{decoder.RoleTenant: "a\"\\\x01\n\t\r\x1fé\u2028😀/"}), "\"tenant\":\"a\\\"\\\\\\u0001\\n\\t\\r\\u001fé\u2028😀/\",", `{"a": 1}`},
		{"timestamptz", at(decoder.OIDTimestamptz), with(row{decoder.RoleCreatedAt: "2026-03-01 12:00:00.1+00"}), `"occurredAt":"2026-03-01T12:00:00.1Z",`, `{"a": 1}`},
		{"timestamp", at(decoder.OIDTimestamp), with(row{decoder.RoleCreatedAt: "2026-03-01 12:00:00"}), `"occurredAt":"2026-03-01T12:00:00Z",`, `{"a": 1}`},
		{"infinity", at(decoder.OIDTimestamptz), with(row{decoder.RoleCreatedAt: "infinity"}), `"occurredAt":"infinity",`, `{"a": 1}`},
		{"before Christ", at(decoder.OIDTimestamptz), with(row{decoder.RoleCreatedAt: "0044-03-15 12:00:00+00 BC"}), `"occurredAt":"0044-03-15 12:00:00+00 BC",`, `{"a": 1}`},
		{"five digits", at(decoder.OIDTimestamp), with(row{decoder.RoleCreatedAt: "12026-03-01 12:00:00"}), `"occurredAt":"12026-03-01 12:00:00",`, `{"a": 1}`},
		{"a time in a text column", nil, with(row{decoder.RoleCreatedAt: "2026-03-01 12:00:00+00"}), `"occurredAt":"2026-03-01 12:00:00+00",`, `{"a": 1}`},
		{"text that is JSON", nil, with(row{decoder.RolePayload: " [1.0,\n null] "}), "", " [1.0,\n null] "},
		{"text that is not", nil, with(row{decoder.RolePayload: `{"a": 1`}), "", `"{\"a\": 1"`},
		{"empty text", nil, with(row{decoder.RolePayload: ""}), "", `""`},
		{"bytea", map[decoder.Role]uint32{decoder.RolePayload: decoder.OIDBytea}, with(row{decoder.RolePayload: "\x00\xff{"}), "", `"AP97"`},
		{"a key of bytes", map[decoder.Role]uint32{decoder.RoleKey: decoder.OIDBytea}, with(row{decoder.RoleKey: "\xff"}), `"partitionKey":"/w==",`, `{"a": 1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := `{"v":1,"eventId":"e","eventType":"t",` + tt.want + source + `,"payload":` + tt.value + `}`
			got := envelope(t, typedEvent(tt.types, tt.row))
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("no JSON: %s", got)
			}
		})
	}
}

// Whatever the columns hold, the envelope is JSON, and gives it back.
func TestEnvelopeIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`{}`, `"`, `\`, "null", "2026-03-01 12:00:00+00", "-", "1e5"}))
		oid := rapid.SampledFrom([]uint32{decoder.OIDText, decoder.OIDTimestamptz, decoder.OIDUUID})
		r, types := row{}, map[decoder.Role]uint32{}
		for _, role := range decoder.Roles() {
			if role != decoder.RoleHeaders {
				r[role], types[role] = text.Draw(t, role.String()), oid.Draw(t, role.String()+" type")
			}
		}
		var rec sink.Record
		buf, err := format.NewEnvelope(format.Options{Source: text.Draw(t, "source"), Database: text.Draw(t, "database")}).Append(&rec, typedEvent(types, r), make([]byte, 0, 10))
		var got struct {
			EventID, Tenant string
			Payload         json.RawMessage
		}
		if err != nil || json.Unmarshal(rec.Value, &got) != nil || got.EventID != r[decoder.RoleID] || got.Tenant != r[decoder.RoleTenant] {
			t.Fatalf("%q, %v, %+v", rec.Value, err, got)
		}
		payload := r[decoder.RolePayload]
		var inner string
		if !json.Valid([]byte(payload)) && (json.Unmarshal(got.Payload, &inner) != nil || inner != payload) {
			t.Fatalf("payload %q became %s", payload, got.Payload)
		}
		if !strings.HasSuffix(string(buf), string(rec.Value)) {
			t.Fatal("the value is not what was appended")
		}
	})
}

// The chosen roles become headers, and no others.
func TestHeadersChosen(t *testing.T) {
	r := fullRow()
	r[decoder.RoleHeaders] = `{"x":"1"}`
	for _, tt := range []struct {
		roles []decoder.Role
		want  string
	}{
		{[]decoder.Role{decoder.RoleID, decoder.RoleTenant}, "event-id position source tenant"},
		{[]decoder.Role{decoder.RoleHeaders, decoder.RoleType}, "event-type position source x"},
		{[]decoder.Role{}, "position source"},
		{nil, "event-id event-type position source created-at aggregate-type aggregate-id tenant x"},
	} {
		for _, name := range []string{format.NameRaw, format.NameEnvelope} {
			f, err := format.New(name, format.Options{Source: "cdc", Headers: tt.roles})
			if err != nil {
				t.Fatal(err)
			}
			var rec sink.Record
			if _, err := f.Append(&rec, event(r), nil); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, h := range rec.Headers {
				names = append(names, h.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("%s, %v: headers %s, want %s", name, tt.roles, got, tt.want)
			}
		}
	}
	if _, err := format.New("ram", format.Options{}); err == nil {
		t.Error("a format that does not exist was made")
	}
}

// The example of docs/formats.md.
func TestEnvelopeExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	want, _, _ := strings.Cut(rest, "\n```")
	table := decoder.NewTable(decoder.TableName{Schema: "public", Name: "outbox"}, map[decoder.Role]decoder.Column{
		decoder.RoleID: {TypeOID: decoder.OIDText}, decoder.RoleType: {TypeOID: decoder.OIDText}, decoder.RoleKey: {TypeOID: decoder.OIDText},
		decoder.RolePayload: {TypeOID: decoder.OIDJSONB}, decoder.RoleCreatedAt: {TypeOID: decoder.OIDTimestamptz},
		decoder.RoleAggregateType: {TypeOID: decoder.OIDText}, decoder.RoleAggregateID: {TypeOID: decoder.OIDText},
		decoder.RoleSequence: {TypeOID: decoder.OIDInt8}, decoder.RoleSchemaVersion: {TypeOID: decoder.OIDInt4},
		decoder.RoleTenant: {TypeOID: decoder.OIDText}, decoder.RoleCorrelationID: {TypeOID: decoder.OIDText},
	})
	fields := map[decoder.Role][]byte{}
	for r, v := range (row{
		decoder.RoleID: "6c1f9a52", decoder.RoleType: "order.created", decoder.RoleKey: "order-17", decoder.RolePayload: `{"total": 12.50}`,
		decoder.RoleCreatedAt: "2026-03-01 12:00:00.123456+00", decoder.RoleAggregateType: "Order", decoder.RoleAggregateID: "17",
		decoder.RoleSequence: "3", decoder.RoleSchemaVersion: "2", decoder.RoleTenant: "acme", decoder.RoleCorrelationID: "c-1",
	}) {
		fields[r] = []byte(v)
	}
	ev := decoder.NewEvent(table, position, commit, fields)
	if got := envelope(t, &ev); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEnvelopeRefusesANullPayload(t *testing.T) {
	var rec sink.Record
	_, err := format.NewEnvelope(format.Options{}).Append(&rec, event(row{decoder.RoleID: "e", decoder.RoleType: "t"}), nil)
	if sink.KindOf(err) != sink.Poison {
		t.Errorf("got %v", err)
	}
}

// With the room that it asks for, an envelope costs no allocation.
func TestEnvelopeDoesNotAllocate(t *testing.T) {
	f := format.NewEnvelope(format.Options{Source: "cdc", Database: "shop"})
	r := fullRow()
	r[decoder.RolePayload] = `{"x": "` + strings.Repeat("x", 450) + `"}`
	ev := event(r)
	size := ev.Size()
	rec, buf := sink.Record{Headers: make([]sink.Header, 0, 16)}, make([]byte, 0, decoder.PositionLen+f.Room(size))
	n := testing.AllocsPerRun(100, func() {
		if _, err := f.Append(&rec, ev, buf); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}
