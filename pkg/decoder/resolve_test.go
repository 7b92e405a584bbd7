package decoder

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// relationOf has text columns of these names.
func relationOf(table string, columns ...string) *Relation {
	schema, name, _ := strings.Cut(table, ".")
	rel := &Relation{ID: 1, Namespace: schema, Name: name}
	for _, c := range columns {
		rel.Columns = append(rel.Columns, Column{Name: c, TypeOID: OIDText})
	}
	return rel
}

func columnsOf(t *Table) string {
	var parts []string
	for _, r := range Roles() {
		if name, _, ok := t.Column(r); ok {
			parts = append(parts, fmt.Sprintf("%v=%s", r, name))
		}
	}
	return strings.Join(parts, " ")
}

func TestResolve(t *testing.T) {
	tests := []struct {
		name, mapping, columns, want string
	}{
		{"usual names", "", "id event_type partition_key payload", "id=id type=event_type key=partition_key payload=payload"},
		{
			"Debezium's names", "", "id aggregatetype aggregateid type payload",
			"id=id type=type key=aggregateid payload=payload aggregate_type=aggregatetype",
		},
		{
			"camel case", "", "eventId eventType partitionKey payload aggregateType",
			"id=eventId type=eventType key=partitionKey payload=payload aggregate_type=aggregateType",
		},
		{"other case", "", "Id EventType PARTITION_KEY Payload", "id=Id type=EventType key=PARTITION_KEY payload=Payload"},
		{"exact case first", "", "Id id type TYPE event_TYPE aggregate_id payload", "id=id type=type key=aggregate_id payload=payload aggregate_id=aggregate_id"},
		{
			"the list's order", "", "id type event_type aggregate_id partition_key payload",
			"id=id type=event_type key=partition_key payload=payload aggregate_id=aggregate_id",
		},
		{
			"all optional roles", "", "id type partition_key payload aggregate_type aggregate_id sequence schema_version tenant correlation_id traceparent headers created_at order",
			"id=id type=type key=partition_key payload=payload aggregate_type=aggregate_type aggregate_id=aggregate_id sequence=sequence " +
				"schema_version=schema_version tenant=tenant correlation_id=correlation_id trace=traceparent headers=headers created_at=created_at order=order",
		},
		{"set for all", "id=eid,type=kind", "id eid type kind aggregateid payload", "id=eid type=kind key=aggregateid payload=payload"},
		{"set for the table", "id=nope,type=kind; public.outbox: id=eid", "id eid type kind aggregateid payload", "id=eid type=kind key=aggregateid payload=payload"},
		{"for another table", "id=id; public.other: id=eid", "id eid type aggregateid payload", "id=id type=type key=aggregateid payload=payload"},
		{"first alternative", "type=kind|event_type", "id event_type kind aggregateid payload", "id=id type=kind key=aggregateid payload=payload"},
		{"second alternative", "type=kind|event_type", "id event_type aggregateid payload", "id=id type=event_type key=aggregateid payload=payload"},
		{"exact second before folded first", "type=kind|event_type", "id event_type KIND aggregateid payload", "id=id type=event_type key=aggregateid payload=payload"},
		{"folded", "id=EVENTID", "eventId type aggregateid payload", "id=eventId type=type key=aggregateid payload=payload"},
		{"quoted", `key="Kunden-Nr"`, "id type Kunden-Nr payload", "id=id type=type key=Kunden-Nr payload=payload"},
		{"one column, two roles", "key=id,order=id", "id type payload", "id=id type=type key=id payload=payload order=id"},
		{"optional column is missing", "tenant=mandant,headers=none", "id type aggregateid payload headers", "id=id type=type key=aggregateid payload=payload"},
		{"id by a set name although two fit", "id=event_id", "id event_id type aggregateid payload", "id=event_id type=type key=aggregateid payload=payload"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tables := mustTables(t, "public.outbox,public.other", tt.mapping)
			rel := relationOf("public.outbox", strings.Fields(tt.columns)...)
			table, err := tables.Resolve(rel)
			if err != nil {
				t.Fatal(err)
			}
			if got := columnsOf(table); got != tt.want || table.Relation != rel || table.Name.String() != "public.outbox" {
				t.Errorf("%v:\ngot  %s\nwant %s", table.Name, got, tt.want)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	tests := []struct {
		name, mapping, columns string
		want                   []string
	}{
		{"two ids", "", "id event_id type aggregateid payload", []string{
			`columns of outbox table public.outbox: role "id" could be column "id" or "event_id"; set OUTBOX_CDC_COLUMNS='public.outbox: id=event_id'`,
		}},
		{"two ids in other case", "", "Id EVENT_ID type aggregateid payload", []string{`role "id" could be column "Id" or "EVENT_ID"; set OUTBOX_CDC_COLUMNS='public.outbox: id="EVENT_ID"'`}},
		{"folds to two", "tenant=MANDANT", "id type aggregateid payload mandant Mandant", []string{`role "tenant" could be column "mandant" or "Mandant"`}},
		{"quoted does not fold", `id="ID"`, "id type aggregateid payload", []string{
			`no column for role "id": looked for ID, the nearest is "id"; set OUTBOX_CDC_COLUMNS='public.outbox: id=id'`,
		}},
		{"nearest", "", "id evt_type aggregateid body", []string{
			`no column for role "type": looked for event_type, eventType, type, the nearest is "evt_type"; set OUTBOX_CDC_COLUMNS='public.outbox: type=evt_type'`,
			`no column for role "payload": looked for payload, there are id, evt_type, aggregateid, body; set OUTBOX_CDC_COLUMNS='public.outbox: payload=COLUMN'`,
		}},
		{"no columns", "", "", []string{
			`no column for role "id": looked for id, event_id, eventId; set OUTBOX_CDC_COLUMNS='public.outbox: id=COLUMN'`,
			`role "type"`, `role "key"`, `role "payload"`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table, err := mustTables(t, "public.outbox", tt.mapping).Resolve(relationOf("public.outbox", strings.Fields(tt.columns)...))
			var e *MappingError
			if !errors.As(err, &e) || table != nil || e.Table.String() != "public.outbox" || errors.Unwrap(err) == nil {
				t.Fatalf("got %v, %v", table, err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("got %q, want %d faults", lines, len(tt.want))
			}
			for i, want := range tt.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("got  %s\nwant %s", lines[i], want)
				}
			}
		})
	}
}

func TestResolveErrorIsBounded(t *testing.T) {
	var columns []string
	for i := range 1600 {
		columns = append(columns, fmt.Sprintf("%s_%d", strings.Repeat("z", 50), i))
	}
	_, err := mustTables(t, "public.outbox", "").Resolve(relationOf("public.outbox", columns...))
	if err == nil || len(err.Error()) > 4*600 {
		t.Errorf("got %d bytes: %v", len(fmt.Sprint(err)), err)
	}
}

func TestResolveTables(t *testing.T) {
	columns := []string{"id", "type", "aggregateid", "payload"}
	tables := mustTables(t, `public.outbox, public.Mixed, public.mixed2, "Q"."Out"`, "")
	for table, want := range map[string]bool{
		"public.outbox": true, "tenant2.outbox": false, "public.Outbox": false, ".outbox": false,
		"public.Mixed": true, "public.mixed": true, "public.MIXED": false, "Q.Out": true, "q.out": false,
	} {
		rel := relationOf(table, columns...)
		got, err := tables.Resolve(rel)
		if err != nil || (got != nil) != want {
			t.Errorf("%s: got %v, %v; want it configured: %t", table, got, err, want)
		}
		if got != nil && got.Name != rel.TableName() {
			t.Errorf("%s goes by the name %v", table, got.Name)
		}
	}
	if got := (&Relation{Name: "pg_class"}).TableName().String(); got != "pg_catalog.pg_class" {
		t.Errorf("an empty namespace is %s", got)
	}
}

func TestTablesMatchExactFirst(t *testing.T) {
	tables := mustTables(t, "public.Outbox, public.outbox", "public.Outbox: id=a; public.\"outbox\": id=b")
	if n, ok := tables.Match("public", "outbox"); !ok || n != (TableName{Schema: "public", Name: "outbox"}) {
		t.Errorf("got %v, %t", n, ok)
	}
	if n, ok := tables.Match("public", "Outbox"); !ok || n.Name != "Outbox" {
		t.Errorf("got %v, %t", n, ok)
	}
	names := tables.Names()
	names[0].Name = "x"
	if tables.Names()[0].Name != "Outbox" {
		t.Error("the caller can change the tables")
	}
}

func TestNewTables(t *testing.T) {
	if _, err := NewTables(nil, Mapping{}); err == nil {
		t.Error("no table is accepted")
	}
	names, err := ParseTables("public.outbox,billing.outbox")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseMapping("id=a; public.outbx: id=b; Billing.Outbox: id=c; zzzz.yyyyyyyyyy: id=d")
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewTables(names, m)
	want := `column mapping: table public.outbx is not one of the outbox tables; did you mean "public.outbox"?` + "\n" +
		`column mapping: table zzzz.yyyyyyyyyy is not one of the outbox tables; there are billing.outbox public.outbox`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"event_type", "tenant", "payload"}
	for wanted, want := range map[string]string{"eventtype": "event_type", "TENANT": "tenant", "tennant": "tenant", "payloads": "payload", "q": "", "": ""} {
		if got, _ := nearest([]string{wanted}, names); got != want {
			t.Errorf("%q: got %q, want %q", wanted, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
