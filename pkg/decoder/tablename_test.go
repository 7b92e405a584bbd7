package decoder

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTableNameString(t *testing.T) {
	for want, n := range map[string]TableName{
		`public.outbox`:             {Schema: "public", Name: "outbox"},
		`"Billing"."Outbox"`:        {Schema: "Billing", Name: "Outbox"},
		`_a1."1a"`:                  {Schema: "_a1", Name: "1a"},
		`"Ünï Code"."Out.Box""x"`:   {Schema: "Ünï Code", Name: `Out.Box"x`},
		`"order"."select"`:          {Schema: "order", Name: "select"},
		`"all"."xmltable"`:          {Schema: "all", Name: "xmltable"},
		`""."a$b"`:                  {Name: "a$b"},
		`commit.partition`:          {Schema: "commit", Name: "partition"},
		`"user"."bill; drop table"`: {Schema: "user", Name: "bill; drop table"},
	} {
		if got := n.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestKeywordsAreSorted(t *testing.T) {
	if !slices.IsSorted(keywords[:]) {
		t.Error("the binary search needs them in order")
	}
}

func TestTableNameMatches(t *testing.T) {
	tests := []struct {
		written, schema, name string
		exact, ok             bool
	}{
		{`public.outbox`, "public", "outbox", true, true},
		{`public.outbox`, "public", "Outbox", false, false},
		{`public.Outbox`, "public", "Outbox", true, true},
		{`public.Outbox`, "public", "outbox", false, true},
		{`public.Outbox`, "public", "OUTBOX", false, false},
		{`public."Outbox"`, "public", "outbox", false, false},
		{`Billing."Outbox"`, "billing", "Outbox", false, true},
		{`"Billing".Outbox`, "billing", "outbox", false, false},
		{`public.Größe`, "public", "größe", false, true},
		{`public.ÜBER`, "public", "Über", false, true}, // the server folds ASCII letters only
		{`public.ÜBER`, "public", "über", false, false},
		{`public.outbox`, "tenant2", "outbox", false, false},
	}
	for _, tt := range tests {
		names, err := ParseTables(tt.written)
		if err != nil {
			t.Fatal(err)
		}
		if exact, ok := names[0].Matches(tt.schema, tt.name); exact != tt.exact || ok != tt.ok {
			t.Errorf("%s and %s.%s: got %t, %t; want %t, %t", tt.written, tt.schema, tt.name, exact, ok, tt.exact, tt.ok)
		}
	}
}

// TestTableNameRoundTrip: what is printed reads as the same name, and as no other.
func TestTableNameRoundTrip(t *testing.T) {
	part := rapid.StringOfN(rapid.RuneFrom([]rune(`aB1_$". éü`)), 1, 12, maxIdent)
	rapid.Check(t, func(t *rapid.T) {
		n := TableName{Schema: part.Draw(t, "schema"), Name: part.Draw(t, "name")}
		got, err := ParseTables(n.String())
		if err != nil || len(got) != 1 || got[0] != n {
			t.Fatalf("%v was read as %v, %v", n, got, err)
		}
	})
}
