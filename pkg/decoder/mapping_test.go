package decoder

import (
	"strings"
	"testing"
)

func TestParseMapping(t *testing.T) {
	m, err := ParseMapping(`id=event_id, type = kind | "event Type" ;billing.outbox: id=eid ; "B;x"."O:=|,": key="Kunden-Nr",id=a|b;`)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		table, role, want string
	}{
		{"public.outbox", "id", "event_id"},
		{"public.outbox", "type", "kind|event Type"},
		{"public.outbox", "key", ""},
		{"billing.outbox", "id", "eid"},
		{"billing.outbox", "type", "kind|event Type"},
		{`"B;x"."O:=|,"`, "id", "a|b"},
		{`"B;x"."O:=|,"`, "key", "Kunden-Nr"},
		{`"B;x"."O:=|,"`, "type", "kind|event Type"},
	}
	for _, tt := range tests {
		names, err := ParseTables(tt.table)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := ParseRole(tt.role)
		cols := m.forTable(names[0])
		var got []string
		for _, id := range cols[r] {
			got = append(got, id.text)
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s of %s: got %q, want %q", tt.role, tt.table, got, tt.want)
		}
	}
}

func TestParseMappingEmpty(t *testing.T) {
	for _, text := range []string{"", " ", ";", "\n;;"} {
		m, err := ParseMapping(text)
		if err != nil || len(m.sections) != 0 {
			t.Errorf("%q: got %v, %v", text, m, err)
		}
		for r, cols := range m.all {
			if cols != nil {
				t.Errorf("%q sets role %d", text, r)
			}
		}
	}
	// A mapping may begin with a table's part.
	if m, err := ParseMapping("a.b: id=x"); err != nil || len(m.sections) != 1 {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestParseMappingFaults(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"id", []string{`character 3: want = and a column after "id"`}},
		{"id=", []string{`character 4: a column is missing`}},
		{"id=a|", []string{`character 6: a column is missing`}},
		{"id=|a", []string{`character 4: want a column, got '|'`}},
		{"id=a b", []string{`character 6: want a comma between roles, got 'b'`}},
		{"id=my-id", []string{`character 6: want a comma between roles, got '-'; quote names`}},
		{"id=a,", []string{`character 6: a role is missing`}},
		{"idd=a", []string{`character 1: there is no role "idd"; did you mean "id"?`}},
		{"aggregat_type=a", []string{`did you mean "aggregate_type"?`}},
		{"zzzzzzzzzzzzzzz=a", []string{`there are aggregate_id aggregate_type correlation_id`}},
		{"id=a,id=b", []string{`character 6: role "id" is set twice; separate alternatives with |`}},
		{"=a", []string{`character 1: want a role or table, got '='`}},
		{"id=a; key=b", []string{`character 7: only the first part is for all tables`}},
		{"outbox: id=a", []string{`character 7: table "outbox" needs its schema`}},
		{"a.b id=x", []string{`character 5: want a colon after the table`}},
		{"a.b:", []string{`character 5: a role is missing`}},
		{"a.b: id=x; a.\"b\": key=y", []string{`character 12: table a.b has two parts; join them`}},
		{"id=\"a", []string{`character 4: the closing quote is missing`}},
		{"idd=a, key=; a.b: typ=x, id=a c; d: e=f", []string{
			`character 1: there is no role "idd"`, `character 12: want a column, got ';'`,
			`character 19: there is no role "typ"; did you mean "type"?`, `character 31: want a comma between roles`,
			`character 35: table "d" needs its schema`,
		}},
	}
	for _, tt := range tests {
		_, err := ParseMapping(tt.text)
		if err == nil {
			t.Errorf("%q is accepted", tt.text)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(tt.want) {
			t.Errorf("%q: got %q, want %d faults", tt.text, lines, len(tt.want))
			continue
		}
		for i, want := range tt.want {
			if !strings.HasPrefix(lines[i], "column mapping") || !strings.Contains(lines[i], want) {
				t.Errorf("%q: got %q, want %q", tt.text, lines[i], want)
			}
		}
	}
}
