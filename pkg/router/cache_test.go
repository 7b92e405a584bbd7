package router

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

func typedEvent(table *decoder.Table, eventType string) *decoder.Event {
	ev := decoder.NewEvent(table, decoder.Position{}, time.Time{}, map[decoder.Role][]byte{
		decoder.RoleID: []byte("e"), decoder.RoleType: []byte(eventType),
	})
	return &ev
}

// Any number of types, tables and names leaves the router as small as it was
// told to be.
func TestCachesAreBounded(t *testing.T) {
	r, err := New("* -> kafka:{type} any_name=true", WithRouteCache(8), WithNameCache(5))
	if err != nil {
		t.Fatal(err)
	}
	var d Decision
	for i := range 100 {
		table := decoder.NewTable(decoder.TableName{Schema: "s", Name: fmt.Sprint("t", i%3)}, nil)
		if _, err := r.Route(typedEvent(table, fmt.Sprint("type-", i)), &d, nil); err != nil {
			t.Fatal(err)
		}
	}
	if r.routes.Len() != 8 || r.names.Len() != 5 {
		t.Errorf("%d decisions and %d names are kept", r.routes.Len(), r.names.Len())
	}
}

// Long types and names that are refused leave nothing behind.
func TestCachesTakeNothingFromBadRows(t *testing.T) {
	r, err := New("* -> kafka:t.{type}")
	if err != nil {
		t.Fatal(err)
	}
	table := decoder.NewTable(decoder.TableName{Schema: "s", Name: "t"}, nil)
	var d Decision
	for _, eventType := range []string{strings.Repeat("n", maxCachedType+1), strings.Repeat("n", 1<<20)} {
		if _, err := r.Route(typedEvent(table, eventType), &d, nil); err == nil {
			t.Errorf("a type of %d bytes was taken", len(eventType))
		}
	}
	if _, err := r.Route(typedEvent(table, "not legal"), &d, nil); err == nil {
		t.Error("an illegal name was taken")
	}
	if r.routes.Len() != 1 || r.names.Len() != 0 {
		t.Errorf("%d decisions and %d names are kept", r.routes.Len(), r.names.Len())
	}
	if cap(r.name) > 4*maxTopic || cap(r.scratch) > 4*maxTopic {
		t.Errorf("the buffers have grown to %d and %d", cap(r.name), cap(r.scratch))
	}
}

// The same type in another table, or in another version of a table, is another
// question.
func TestCacheMindsTheTable(t *testing.T) {
	r, err := New("* table=s.a -> kafka:a name=a; * -> kafka:other")
	if err != nil {
		t.Fatal(err)
	}
	var d Decision
	for range 2 {
		for _, name := range []string{"a", "b", "a"} {
			table := decoder.NewTable(decoder.TableName{Schema: "s", Name: name}, nil)
			if _, err := r.Route(typedEvent(table, "t"), &d, nil); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"a": "a", "b": "other"}[name]
			if d.Targets[0].Destination != want {
				t.Errorf("table %s: %s", name, d.Targets[0].Destination)
			}
		}
	}
}
