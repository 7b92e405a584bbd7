package decoder

import (
	"slices"
	"strings"
	"testing"
)

func TestParseTables(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{`public.outbox`, []string{`public.outbox`}},
		{` public . outbox , "Billing"."Outbox" ` + "\n", []string{`public.outbox`, `"Billing"."Outbox"`}},
		{`"Ünï Code"."Out.Box""x",a."b,c"`, []string{`"Ünï Code"."Out.Box""x"`, `a."b,c"`}},
		{`größe.tabelle$1`, []string{`"größe"."tabelle$1"`}},
		{`public."outbox",public.outbox2`, []string{`public.outbox`, `public.outbox2`}},
		{`public."` + strings.Repeat("x", 63) + `"`, []string{`public.` + strings.Repeat("x", 63)}},
	}
	for _, tt := range tests {
		names, err := ParseTables(tt.text)
		var got []string
		for _, n := range names {
			got = append(got, n.String())
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, %v; want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestParseTablesFaults(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", []string{`no table is named`}},
		{" \n", []string{`no table is named`}},
		{"outbox", []string{`character 7: table "outbox" needs its schema: write schema.table`}},
		{"public.", []string{`character 8: a table name is missing`}},
		{".outbox", []string{`character 1: want a schema, got '.'`}},
		{"public.outbox,", []string{`character 15: a schema is missing`}},
		{"public.outbox,,a.b", []string{`character 15: want a schema, got ','`}},
		{"my-app.outbox", []string{`character 3: table "my" needs its schema`}},
		{"public.my-outbox", []string{`character 10: want a comma between tables, got '-'; quote names`}},
		{"public.1st", []string{`character 8: want a table name, got '1'; quote names`}},
		{"a.b.c", []string{`character 4: want a comma between tables, got '.'`}},
		{"a.b c.d", []string{`character 5: want a comma between tables, got 'c'`}},
		{`public."outbox`, []string{`character 8: the closing quote is missing`}},
		{`public.""`, []string{`character 8: the table name is empty`}},
		{`public."` + strings.Repeat("x", 64) + `"`, []string{`the table name is longer than 63 bytes`}},
		{"public.\"a\x00\"", []string{`the table name is not valid UTF-8 without zero bytes`}},
		{"public.\"\xff\"", []string{`the table name is not valid UTF-8 without zero bytes`}},
		{"public.\xff", []string{`want a table name, got '�'`}},
		{`a.b, c.d, a."b"`, []string{`character 11: table a.b is named twice`}},
		{`a-"x,y", b`, []string{`character 2: table "a" needs its schema`, `character 11: table "b" needs its schema`}},
		{`ü.é, x, "y"."z" w`, []string{`character 7: table "x" needs its schema`, `character 17: want a comma between tables, got 'w'`}},
	}
	for _, tt := range tests {
		names, err := ParseTables(tt.text)
		if err == nil || names != nil {
			t.Errorf("%q: got %v, want an error", tt.text, names)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(tt.want) {
			t.Errorf("%q: got %q, want %d faults", tt.text, lines, len(tt.want))
			continue
		}
		for i, want := range tt.want {
			if !strings.HasPrefix(lines[i], "table list") || !strings.Contains(lines[i], want) {
				t.Errorf("%q: got %q, want %q", tt.text, lines[i], want)
			}
		}
	}
}
