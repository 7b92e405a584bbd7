package statusview

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/internal/httpapi"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) *time.Time {
	t := now.Add(-d)
	return &t
}

func TestShow(t *testing.T) {
	s := &httpapi.Status{
		Name: "shop", Version: "1.2.3", State: "halted", Since: *before(3*time.Minute + 5*time.Second),
		Reason: "an event can't be delivered", Remedy: "mend the topic",
		Slot: httpapi.Slot{
			Name: "outbox_cdc", ConfirmedLSN: 0x16B374D848, LagBytes: 1 << 20, RetainedBytes: 5 << 30,
			WALStatus: "extended", ReadAt: before(2 * time.Second),
		},
		Stream: httpapi.Stream{Timeline: 3, InFlightEvents: 12, InFlightBytes: 999},
		Routes: []httpapi.Route{{Name: "order.*", Delivered: 1234}, {Name: "rest", Delivered: 5, Halted: true}},
		Halted: []httpapi.Halted{{Position: "0/1:1", EventID: "e\n1", Route: "rest", Reason: "too_large", Error: "1 MB", Since: *before(49 * time.Hour)}},
	}
	want := `shop (outbox-cdc 1.2.3): halted for 3m5s, not ready
  why     an event can't be delivered
  remedy  mend the topic
  event   "e\n1" at 0/1:1, route "rest", too_large for 2d1h: 1 MB
slot    outbox_cdc  confirmed 16/B374D848
                    1.0 MiB behind, 5.0 GiB of WAL retained (extended), as of 2s ago
stream  timeline 3  12 events in flight, 999 B
routes  order.*     1234 delivered since start
        rest        5 delivered since start, HALTED
`
	var b strings.Builder
	if err := Show(&b, s, now); err != nil || b.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	if err := Show(&b, &httpapi.Status{Name: "n", State: "starting", Since: now, Ready: true}, now); err != nil || !strings.Contains(b.String(), "not looked at yet") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestCaughtUp(t *testing.T) {
	at := func(confirmed decoder.LSN, lag int64, read *time.Time) *httpapi.Status {
		return &httpapi.Status{Slot: httpapi.Slot{ConfirmedLSN: confirmed, LagBytes: lag, ReadAt: read}}
	}
	old, fresh, later := before(time.Minute), before(2*time.Second), before(time.Second)
	for _, tc := range []struct {
		title   string
		answers []*httpapi.Status
		want    bool // of the last one; all before must be false
	}{
		{"never looked", []*httpapi.Status{at(100, 0, nil), at(100, 0, nil)}, false},
		{"an old look proves nothing", []*httpapi.Status{at(100, 0, old), at(100, 0, old)}, false},
		{"idle", []*httpapi.Status{at(100, 0, old), at(100, 0, fresh)}, true},
		{"behind, then there", []*httpapi.Status{at(100, 0, old), at(100, 50, fresh), at(125, 25, fresh), at(150, 0, fresh)}, true},
		{"at the end of a page", []*httpapi.Status{at(100, 24, old), at(100, 24, fresh)}, true},
		{"what is written later is not waited for", []*httpapi.Status{at(100, 0, old), at(100, 50, fresh), at(150, 999, later)}, true},
		{"the first look came after the first answer", []*httpapi.Status{at(0, 0, nil), at(100, 0, old), at(100, 0, fresh)}, true},
	} {
		var c caughtUp
		for i, s := range tc.answers {
			if got, last := c.holds(s), i == len(tc.answers)-1; got != (last && tc.want) {
				t.Errorf("%s: answer %d gives %t", tc.title, i, got)
			}
		}
	}
}

// connector answers as one does whose n-th answer the function makes.
func connector(t *testing.T, answer func(n int64) httpapi.Status) *Client {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/status" {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(answer(n.Add(1)))
	}))
	t.Cleanup(server.Close)
	c, err := New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func TestWaitCaughtUp(t *testing.T) {
	behind := func(n int64) httpapi.Status {
		return httpapi.Status{State: "streaming", Slot: httpapi.Slot{ConfirmedLSN: decoder.LSN(n), LagBytes: max(50-n, 0), ReadAt: before(time.Hour - time.Duration(n)*time.Second)}}
	}
	if err := WaitCaughtUp(t.Context(), connector(t, behind), time.Millisecond); err != nil {
		t.Error(err)
	}
	stuck := func(int64) httpapi.Status {
		return httpapi.Status{State: "held", Slot: httpapi.Slot{LagBytes: 2048}, Stream: httpapi.Stream{InFlightEvents: 3}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := WaitCaughtUp(ctx, connector(t, stuck), time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "held") && !strings.Contains(err.Error(), "no connector answers") {
		t.Errorf("got %v", err)
	}
}

func TestClientRefuses(t *testing.T) {
	for _, base := range []string{"", "localhost:9855", "ftp://x", "http://", "http://[::1"} {
		if _, err := New(base); err == nil {
			t.Errorf("%q was taken", base)
		}
	}
	for listen, want := range map[string]string{
		"127.0.0.1:9855": "http://127.0.0.1:9855", ":80": "http://127.0.0.1:80", "0.0.0.0:1": "http://127.0.0.1:1", "[::]:1": "http://127.0.0.1:1", "[::1]:1": "http://[::1]:1", "host:1": "http://host:1", "nix": "",
	} {
		if got, err := Local(listen); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", listen, got, err)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/json/status" {
			_, _ = w.Write([]byte(`{"hello": 1}`))
			return
		}
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer other.Close()
	for base, part := range map[string]string{other.URL: "403", other.URL + "/json": "does not answer as outbox-cdc does", "http://127.0.0.1:1": "no connector answers"} {
		c, err := New(base)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", base, err, part)
		}
		c.http.CloseIdleConnections()
	}
}
