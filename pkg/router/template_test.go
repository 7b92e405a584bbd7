package router

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// parsed reads a template that is meant to be good.
func parsed(t interface{ Fatalf(string, ...any) }, text string) *template {
	var f faults
	tokens := lex(`"`+text+`"`, &f)
	tpl, ok := parseTemplate(tokens[0].word, &f)
	if !ok {
		t.Fatalf("%q: %v", text, f.join())
	}
	return tpl
}

func tenantEvent(tenant string) *decoder.Event {
	ev := decoder.NewEvent(decoder.NewTable(decoder.TableName{Schema: "s", Name: "t"}, nil), decoder.Position{}, time.Time{},
		map[decoder.Role][]byte{decoder.RoleTenant: []byte(tenant)})
	return &ev
}

func TestTemplateLiteral(t *testing.T) {
	tests := []struct {
		text, literal string
		ok            bool
	}{
		{"", "", true},
		{"orders", "orders", true},
		{"{{a}}", "{a}", true},
		{"{{{{", "{{", true},
		{"{id}", "", false},
		{"a{id}", "", false},
		{"{{{id}}}", "", false},
	}
	for _, tt := range tests {
		if got, ok := parsed(t, tt.text).literal(); got != tt.literal || ok != tt.ok {
			t.Errorf("%q: %q, %v", tt.text, got, ok)
		}
	}
}

// Any chain of filters is the composition of its definitions.
func TestFiltersAreTheirDefinitions(t *testing.T) {
	definitions := map[string]func(string) string{
		"lower": func(s string) string { return strings.Map(unicode.ToLower, s) },
		"upper": func(s string) string { return strings.Map(unicode.ToUpper, s) },
		"hash":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))[:32] },
	}
	rapid.Check(t, func(t *rapid.T) {
		chain := rapid.SliceOfN(rapid.SampledFrom(filterNames()), 0, 4).Draw(t, "filters")
		tenant := rapid.StringN(1, 40, -1).Draw(t, "tenant")
		want, text := tenant, "<{tenant"
		for _, name := range chain {
			want, text = definitions[name](want), text+"|"+name
		}
		tpl, prefix := parsed(t, text+"}>"), rapid.SampledFrom([]string{"", "before"}).Draw(t, "prefix")
		got, err := tpl.appendText([]byte(prefix), tenantEvent(tenant), nil)
		if err != nil || string(got) != prefix+"<"+want+">" {
			t.Fatalf("%s of %q: got %q, %v, want %q", text, tenant, got, err, want)
		}
		name, err := tpl.appendName([]byte(prefix), tenantEvent(tenant), nil, 1000)
		if err != nil || string(name) != string(got) {
			t.Fatalf("%s of %q as a name: %q, %v", text, tenant, name, err)
		}
	})
}

// The limit is about the name alone, and to the byte.
func TestAppendNameLimit(t *testing.T) {
	tests := []struct {
		text   string
		tenant int
		long   bool
	}{
		{"p.{tenant}", 8, false},
		{"p.{tenant}", 9, true},
		{"p.{tenant}", 5000, true},
		{"p.{tenant|lower}", 8, false},
		{"p.{tenant|upper}", 9, true},
		{"{tenant}.{tenant}", 5, true},
		{"p{tenant|hash}", 1, true},
	}
	for _, tt := range tests {
		_, err := parsed(t, tt.text).appendName([]byte("not counted"), tenantEvent(strings.Repeat("x", tt.tenant)), nil, 10)
		if errors.Is(err, errTooLong) != tt.long {
			t.Errorf("%s of %d bytes: %v", tt.text, tt.tenant, err)
		}
	}
}

// A huge field is refused before it is copied.
func TestAppendNameDoesNotCopyHugeFields(t *testing.T) {
	ev := tenantEvent(strings.Repeat("x", 1<<20))
	buf, err := parsed(t, "p.{tenant|lower}").appendName(make([]byte, 0, 64), ev, nil, maxTopic)
	if !errors.Is(err, errTooLong) || cap(buf) != 64 {
		t.Errorf("room for %d bytes, %v", cap(buf), err)
	}
}

func TestTopicFault(t *testing.T) {
	tests := []struct {
		name         string
		ok, rendered bool
	}{
		{"a", true, true},
		{"azAZ09._-", true, true},
		{"...", true, true},
		{".a", true, true},
		{"_a", true, true},
		{"__a", true, false},
		{"__consumer_offsets", false, false},
		{"__transaction_state", false, false},
		{strings.Repeat("n", 249), true, true},
		{strings.Repeat("n", 250), false, false},
		{"", false, false},
		{".", false, false},
		{"..", false, false},
		{"a b", false, false},
		{"a:b", false, false},
		{"a/b", false, false},
		{"é", false, false},
		{"a\x00", false, false},
		{"a\xff", false, false},
	}
	for _, tt := range tests {
		if got := topicFault(tt.name); (got == "") != tt.ok {
			t.Errorf("%q: %q", tt.name, got)
		}
		if got := renderedTopicFault(tt.name); (got == "") != tt.rendered {
			t.Errorf("%q rendered: %q", tt.name, got)
		}
	}
}

// Every byte is legal or not as the broker's own rule has it.
func TestTopicCharacters(t *testing.T) {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	for c := range 256 {
		name := "x" + string([]byte{byte(c)})
		if got := topicFault(name) == ""; got != strings.Contains(legal, name[1:]) {
			t.Errorf("%q: %v", name, got)
		}
	}
}
