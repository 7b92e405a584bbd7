package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server whose picture can be changed.
func serve(t *testing.T, change func(*Config)) (base string, set func(Status)) {
	t.Helper()
	var current atomic.Pointer[Status]
	current.Store(&Status{})
	cfg := Config{
		Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Status: func() Status { return *current.Load() },
	}
	if change != nil {
		change(&cfg)
	}
	s, err := Listen(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return "http://" + s.Address(), func(st Status) { current.Store(&st) }
}

func request(t *testing.T, method, url string) (code int, body, contentType string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header.Get("Content-Type")
}

func TestHealth(t *testing.T) {
	base, set := serve(t, nil)
	for _, test := range []struct {
		name           string
		status         Status
		health, ready  int
		healthB, bodyR string
	}{
		{"streaming", Status{State: "streaming", Ready: true, Alive: true}, 200, 200, "ok", "streaming"},
		{"held", Status{State: "held", Alive: true}, 200, 503, "ok", "held"},
		{"stuck", Status{State: "streaming", Ready: true}, 503, 503, "stuck", "streaming"},
		{"draining", Status{State: "draining", Alive: true}, 200, 503, "ok", "draining"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set(test.status)
			if code, body, _ := request(t, "GET", base+"/healthz"); code != test.health || body != test.healthB+"\n" {
				t.Errorf("/healthz %d %q", code, body)
			}
			if code, body, _ := request(t, "GET", base+"/readyz"); code != test.ready || body != test.bodyR+"\n" {
				t.Errorf("/readyz %d %q", code, body)
			}
		})
	}
}

// The shape of /status is a contract: these names, LSNs as strings, no null lists.
func TestStatusShape(t *testing.T) {
	base, set := serve(t, nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	set(Status{
		Name: "n", Version: "v", State: "halted", Since: at, Reason: "r", Remedy: "m",
		Slot:   Slot{Name: "s", ConfirmedLSN: 0x1600000001},
		Stream: Stream{Timeline: 3, InFlightEvents: 4, InFlightBytes: 5},
		Routes: []Route{{Name: "*", Delivered: 6, Halted: true}},
		Halted: []Halted{{Position: "p", EventID: "e", Route: "*", Reason: "too_large", Error: "x", Since: at}},
		Alerts: []Alert{},
	})
	code, body, contentType := request(t, "GET", base+"/status")
	if code != 200 || contentType != "application/json" {
		t.Errorf("%d %s", code, contentType)
	}
	var got any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	var want any
	const contract = `{"name":"n","version":"v","state":"halted","since":"2026-01-02T03:04:05Z","ready":false,"reason":"r","remedy":"m",
		"slot":{"name":"s","confirmed_lsn":"16/1","restart_lsn":"0/0","lag_bytes":0,"retained_bytes":0,"wal_status":"","read_at":null},"stream":{"timeline":3,"in_flight_events":4,"in_flight_bytes":5},
		"routes":[{"name":"*","delivered":6,"halted":true}],
		"halted":[{"position":"p","event_id":"e","route":"*","reason":"too_large","error":"x","since":"2026-01-02T03:04:05Z"}],"alerts":[]}`
	if err := json.Unmarshal([]byte(contract), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("/status\n%s\nwant\n%s", body, contract)
	}
}

func TestMetricsAndUnknownRequests(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "things", Help: "Some."}))
	base, _ := serve(t, func(c *Config) { c.Metrics = registry })
	if code, body, _ := request(t, "GET", base+"/metrics"); code != 200 || !strings.Contains(body, "things 0") {
		t.Errorf("/metrics %d %q", code, body)
	}
	for path, want := range map[string]int{"/": 404, "/debug/pprof/": 404, "/healthz/x": 404} {
		if code, _, _ := request(t, "GET", base+path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	if code, _, _ := request(t, "POST", base+"/status"); code != http.StatusMethodNotAllowed {
		t.Errorf("POST /status: %d", code)
	}
}

func TestPprofOnRequest(t *testing.T) {
	base, _ := serve(t, func(c *Config) { c.Pprof = true })
	if code, body, _ := request(t, "GET", base+"/debug/pprof/"); code != 200 || !strings.Contains(body, "goroutine") {
		t.Errorf("/debug/pprof/ %d", code)
	}
}

func TestTakenAddressSaysWhatToDo(t *testing.T) {
	base, _ := serve(t, nil)
	_, err := Listen(t.Context(), Config{Address: strings.TrimPrefix(base, "http://"), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err == nil || !strings.Contains(err.Error(), "OUTBOX_CDC_LISTEN_ADDRESS") || !strings.Contains(err.Error(), "choose another address") {
		t.Errorf("error %v", err)
	}
}
