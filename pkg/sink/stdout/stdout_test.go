package stdout

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reader is a standard output whose reader may stop reading, or go away.
type reader struct {
	mu      sync.Mutex
	cond    *sync.Cond
	lines   bytes.Buffer
	stalled bool
	accept  int // bytes still accepted before err; -1 for all
	err     error
}

func newReader() *reader {
	r := &reader{accept: -1}
	r.cond = sync.NewCond(&r.mu)
	return r
}

func (r *reader) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.stalled {
		r.cond.Wait()
	}
	if r.accept >= 0 && len(b) > r.accept {
		n, _ := r.lines.Write(b[:r.accept])
		r.accept = 0
		return n, r.err
	}
	if r.accept >= 0 {
		r.accept -= len(b)
	}
	return r.lines.Write(b)
}

func (r *reader) stall(stalled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stalled = stalled
	r.cond.Broadcast()
}

// failAfter makes writes fail once n more bytes were taken.
func (r *reader) failAfter(n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accept, r.err = n, err
}

func (r *reader) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.String()
}

func TestConformance(t *testing.T) {
	sinktest.Run(t, sinktest.Features{Destinations: []string{"a", "b"}}, func(tb testing.TB, results sink.Results) sinktest.Subject {
		tb.Helper()
		out := newReader()
		tb.Cleanup(func() { out.stall(false) })
		return sinktest.Subject{
			Sink:   New(out, results),
			Stored: func(tb testing.TB) []sink.Record { tb.Helper(); return parse(tb, out.text()) },
			Stall:  func(testing.TB) { out.stall(true) },
			Break:  func(testing.TB) { out.failAfter(0, syscall.EPIPE) },
		}
	})
}

// line is what a reader of our output would declare.
type line struct {
	Destination string    `json:"destination"`
	Time        time.Time `json:"time"`
	Key         *string   `json:"key"`
	KeyBase64   *string   `json:"key_base64"`
	Headers     []struct {
		Name        *string `json:"name"`
		NameBase64  *string `json:"name_base64"`
		Value       *string `json:"value"`
		ValueBase64 *string `json:"value_base64"`
	} `json:"headers"`
	Value       *string `json:"value"`
	ValueBase64 *string `json:"value_base64"`
}

func parse(tb testing.TB, text string) []sink.Record {
	tb.Helper()
	var all []sink.Record
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	for {
		var l line
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			tb.Fatalf("line %d: %v", len(all)+1, err)
		}
		r := sink.Record{
			Destination: l.Destination, Time: l.Time,
			Key: either(tb, l.Key, l.KeyBase64), Value: either(tb, l.Value, l.ValueBase64),
		}
		for _, h := range l.Headers {
			r.Headers = append(r.Headers, sink.Header{
				Name: string(either(tb, h.Name, h.NameBase64)), Value: either(tb, h.Value, h.ValueBase64),
			})
		}
		all = append(all, r)
	}
}

func either(tb testing.TB, text, encoded *string) []byte {
	tb.Helper()
	switch {
	case text != nil:
		return []byte(*text)
	case encoded != nil:
		b, err := base64.StdEncoding.DecodeString(*encoded)
		if err != nil {
			tb.Fatal(err)
		}
		return b
	}
	return nil
}

func TestLine(t *testing.T) {
	at := time.Date(2024, 5, 6, 9, 8, 9, 123456000, time.FixedZone("", 2*3600))
	for _, tt := range []struct {
		name   string
		record sink.Record
		want   string
	}{
		{
			"all",
			sink.Record{
				Destination: "orders", Time: at, Key: []byte("17"), Value: []byte(`{"total": 1}`),
				Headers: []sink.Header{{Name: "event-id", Value: []byte("a1")}},
			},
			`{"destination":"orders","time":"2024-05-06T07:08:09.123456Z","key":"17","headers":[{"name":"event-id","value":"a1"}],"value":"{\"total\": 1}"}`,
		},
		{"null", sink.Record{Destination: "d"}, `{"destination":"d","key":null,"headers":[],"value":null}`},
		{"empty", sink.Record{Destination: "d", Key: []byte{}, Value: []byte{}}, `{"destination":"d","key":"","headers":[],"value":""}`},
		{
			"not text",
			sink.Record{Destination: "d", Key: []byte{0xff}, Value: []byte("a\xc3"), Headers: []sink.Header{{Name: "\xfe", Value: []byte{0x80}}}},
			`{"destination":"d","key_base64":"/w==","headers":[{"name_base64":"/g==","value_base64":"gA=="}],"value_base64":"YcM="}`,
		},
		{
			"escapes, and none that JSON does not need",
			sink.Record{Destination: "d", Key: []byte("\"\\\n\r\t\x00\x1f\x7f"), Value: []byte("<ü>&'/\u2028\U0001F600")},
			`{"destination":"d","key":"\"\\\n\r\t\u0000\u001f` + "\x7f" + `","headers":[],"value":"<ü>&'/` + "\u2028\U0001F600" + `"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(AppendLine(nil, "", &tt.record)); got != tt.want+"\n" {
				t.Errorf("line\n%s, want\n%s", got, tt.want)
			}
		})
	}
}

func TestLineWithARoute(t *testing.T) {
	got := string(AppendLine([]byte("before\n"), `a "b"`, &sink.Record{Destination: "kafka:d"}))
	if want := "before\n" + `{"route":"a \"b\"","destination":"kafka:d","key":null,"headers":[],"value":null}` + "\n"; got != want {
		t.Errorf("line\n%s, want\n%s", got, want)
	}
}

// FuzzLine: whatever the bytes, a line is one line of JSON that gives them back.
func FuzzLine(f *testing.F) {
	f.Add("orders", []byte("k"), []byte(`{"a":1}`), "h", []byte("v"))
	f.Add("", []byte("\x00\n\xff"), []byte("\\\"\u2028"), "\n", []byte{})
	f.Fuzz(func(t *testing.T, destination string, key, value []byte, name string, header []byte) {
		destination = strings.ToValidUTF8(destination, "?")
		r := sink.Record{Destination: destination, Key: key, Value: value, Headers: []sink.Header{{Name: name, Value: header}}}
		text := string(AppendLine(nil, "", &r))
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Fatalf("not one line: %q", text)
		}
		got := parse(t, text)
		if len(got) != 1 || got[0].Destination != destination || !bytes.Equal(got[0].Key, key) || !bytes.Equal(got[0].Value, value) ||
			got[0].Headers[0].Name != name || !bytes.Equal(got[0].Headers[0].Value, header) {
			t.Fatalf("%q gave back %+v", text, got)
		}
	})
}

// results collects outcomes by value.
type results struct {
	mu  sync.Mutex
	got map[string]error
}

func (r *results) add(rec *sink.Record, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.got == nil {
		r.got = make(map[string]error)
	}
	r.got[string(rec.Value)] = err
}

// TestCutWrite: of a write that fails in the middle, the whole lines are
// stored, the cut one is not.
func TestCutWrite(t *testing.T) {
	out := newReader()
	out.stall(true)
	var got results
	s := New(out, got.add)
	send := func(v string) {
		if err := s.Send(t.Context(), &sink.Record{Destination: "d", Value: []byte(v)}); err != nil {
			t.Fatal(err)
		}
	}
	one := len(AppendLine(nil, "", &sink.Record{Destination: "d", Value: []byte("1")}))
	out.failAfter(3*one-1, syscall.ENOSPC)
	for _, v := range []string{"1", "2", "3", "4"} {
		send(v)
	}
	out.stall(false)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for v, ok := range map[string]bool{"1": true, "2": true, "3": false, "4": false} {
		err, answered := got.got[v]
		if !answered || (err == nil) != ok {
			t.Errorf("record %s: answered %t, result %v", v, answered, err)
		}
		if !ok && (sink.KindOf(err) != sink.Fatal || !errors.Is(err, syscall.ENOSPC)) {
			t.Errorf("record %s: %v, want fatal and the system's error", v, err)
		}
	}
}

// TestFullPipe: a reader that does not read makes Send wait, not memory grow.
func TestFullPipe(t *testing.T) {
	out := newReader()
	out.stall(true)
	var got results
	s := New(out, got.add)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	big := make([]byte, 256<<10)
	taken := 0
	time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	var err error
	for ; err == nil; taken++ {
		err = s.Send(ctx, &sink.Record{Destination: "d", Value: big})
	}
	if !errors.Is(err, cause) {
		t.Errorf("send gave %v, want the context's cause", err)
	}
	if most := 2*maxBuffered/len(big) + 2; taken > most {
		t.Errorf("%d records taken, at most %d fit", taken, most)
	}
	out.stall(false)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSend(b *testing.B) {
	s := New(io.Discard, func(*sink.Record, error) {})
	r := &sink.Record{
		Destination: "orders", Key: []byte("k"), Value: bytes.Repeat([]byte("x"), 450), Time: time.Now(),
		Headers: []sink.Header{{Name: "event-id", Value: []byte("0192f8a0-0000-7000-8000-000000000000")}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Send(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}
