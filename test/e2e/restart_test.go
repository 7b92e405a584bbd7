package e2e

import (
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// TestServerRestart restarts the server under writes: once in order, once at
// once, once by kill -9. The process lives on and so does its ledger.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	r := newRig(t, server, 1)
	w := r.watch()
	c := startReady(t, r.settings)
	writer := r.startLoad(3*time.Millisecond, 3, "a", "b", "c")
	var deaths []death
	for name, down := range map[string]func() error{
		"fast":      func() error { return server.Stop(t.Context(), pgtest.Fast) },
		"immediate": func() error { return server.Stop(t.Context(), pgtest.Immediate) },
		"kill":      func() error { return server.Kill(t.Context()) },
	} {
		writer.more(50)
		if err := down(); err != nil {
			t.Fatal(err)
		}
		if err := server.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		d := death{stood: r.slotNow().confirmed, ends: r.ends(topic)}
		deaths = append(deaths, d)
		begin := time.Now()
		c.state("streaming")
		writer.more(5)
		r.settle()
		took := time.Since(begin)
		t.Logf("%s: all is delivered %v after the start", name, took)
		if took > 10*time.Second {
			t.Errorf("%s: it took %v to go on", name, took)
		}
	}
	writer.stop()
	r.settle()
	repeats := r.verify(w, allowed{deaths: deaths, crash: true})
	if len(repeats) > 0 {
		t.Errorf("events of %d transactions were repeated though the process lived on", len(repeats))
	}
}
