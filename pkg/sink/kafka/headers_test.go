package kafka

import (
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func TestHeaderTypesAreAlike(t *testing.T) {
	ours, theirs := reflect.TypeFor[sink.Header](), reflect.TypeFor[kgo.RecordHeader]()
	if ours.NumField() != theirs.NumField() {
		t.Fatalf("%d fields, the client's have %d", ours.NumField(), theirs.NumField())
	}
	for i := range ours.NumField() {
		a, b := ours.Field(i), theirs.Field(i)
		if a.Type != b.Type || a.Offset != b.Offset {
			t.Errorf("field %s %v at %d, the client's is %s %v at %d", a.Name, a.Type, a.Offset, b.Name, b.Type, b.Offset)
		}
	}
}

func TestSharedHeaders(t *testing.T) {
	if got := sharedHeaders(nil); len(got) != 0 {
		t.Errorf("no headers became %v", got)
	}
	if got := sharedHeaders([]sink.Header{}); len(got) != 0 {
		t.Errorf("no headers became %v", got)
	}
	got := sharedHeaders([]sink.Header{{Name: "a", Value: []byte("1")}, {Name: "b"}, {Name: "", Value: []byte{}}})
	if len(got) != 3 || got[0].Key != "a" || string(got[0].Value) != "1" || got[1].Key != "b" || got[1].Value != nil || got[2].Value == nil {
		t.Errorf("headers became %v", got)
	}
}
