package kafka

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func TestSendStoresTheRecordAsItIs(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(3, "orders"))
	s, got := newSink(t, c, nil)
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	r := &sink.Record{
		Destination: "orders", Key: []byte("k"), Value: []byte(`{"a": 1}`), Time: at,
		Headers: []sink.Header{{Name: "b", Value: []byte("2")}, {Name: "a", Value: []byte("1")}, {Name: "b"}, {Name: "c", Value: []byte{}}},
	}
	if err := s.Send(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	closeNow(t, s)
	if all := got.list(); len(all) != 1 || all[0].record != r || all[0].err != nil {
		t.Fatalf("results %v, want one success for the record", all)
	}
	stored := consume(t, c, "orders", 1)[0]
	if string(stored.Key) != "k" || string(stored.Value) != `{"a": 1}` {
		t.Errorf("stored key %q value %q", stored.Key, stored.Value)
	}
	if !stored.Timestamp.Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("timestamp %v, want the commit time %v", stored.Timestamp, at)
	}
	if len(stored.Headers) != len(r.Headers) {
		t.Fatalf("headers %v, want %v", stored.Headers, r.Headers)
	}
	for i, h := range stored.Headers {
		if h.Key != r.Headers[i].Name || string(h.Value) != string(r.Headers[i].Value) || (h.Value == nil) != (r.Headers[i].Value == nil) {
			t.Errorf("header %d is %q=%q, want %q=%q", i, h.Key, h.Value, r.Headers[i].Name, r.Headers[i].Value)
		}
	}
}
