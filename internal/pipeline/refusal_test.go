package pipeline

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// workload is transactions of rows, some of which the cluster refuses.
type workload struct {
	sizes []int // rows of each transaction
	bad   []int // rows, in order
	heavy []int
	fan   int // destinations
	fence bool
	batch int
	limit int64
	kind  sink.Kind
}

// topics are where the rule sends every row; a workload uses the first ones.
var topics = []string{"orders", "audit"}

// at is where the transaction of a row commits.
func (w workload) at(row int) lsn {
	tx := 0
	for row -= w.sizes[0]; row >= 0; row -= w.sizes[tx] {
		tx++
	}
	return lsn(1000 * (tx + 1))
}

// feed serves every session from where it starts.
func (w workload) feed(t *testing.T, r *rig) {
	t.Helper()
	for {
		select {
		case <-t.Context().Done():
			return
		case src := <-r.server.arrived:
			var from lsn
			r.server.change(func(s *fakeServer) { from = s.started[len(s.started)-1] })
			n := 0
			for tx, size := range w.sizes {
				var rows [][]byte
				for range size {
					rows = append(rows, row(n))
					n++
				}
				if at := lsn(1000 * (tx + 1)); endOf(at) > from {
					src.transaction(at, rows...)
				}
			}
		}
	}
}

// deliver runs the workload, mends one refused row after the other, and returns
// what was wrong.
func (w workload) deliver(t *testing.T) (faults []string) {
	t.Helper()
	c := &cluster{batch: w.batch, fence: w.fence, kind: w.kind, bad: map[string]bool{}, heavy: map[string]bool{}}
	var rows []string
	total := 0
	for _, n := range w.sizes {
		total += n
	}
	for n := range total {
		for _, topic := range topics[:w.fan] {
			rows = append(rows, fmt.Sprintf("e%d/%s:k%d", n, topic, n%3))
		}
	}
	rules, err := router.New("order -> kafka:" + strings.Join(topics[:w.fan], ", kafka:"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range w.bad {
		c.bad[fmt.Sprintf("e%d", n)] = true
	}
	for _, n := range w.heavy {
		c.heavy[fmt.Sprintf("e%d", n)] = true
	}
	synctest.Test(t, func(t *testing.T) {
		ready := make(chan struct{})
		r := start(t, func(cfg *Config) {
			cfg.Limits.Records, cfg.HoldRetry, cfg.BackoffMax, cfg.Log = w.limit, time.Second, time.Second, slog.New(slog.DiscardHandler)
			cfg.Router = rules
			cfg.OpenSinks = func(results sink.Results) (map[string]sink.Sink, error) {
				<-ready
				return c.open(results)
			}
		})
		c.p = r.p
		close(ready)
		go w.feed(t, r)
		fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
		for _, n := range w.bad {
			settle(20 * time.Second)
			st := r.p.Status()
			if st.State != StateHalted || st.Halted == nil || st.Halted.EventID != fmt.Sprintf("e%d", n) || st.Halted.Route != "order" {
				fault("state %s (%s) at %+v, want halted at e%d", st.State, st.Reason, st.Halted, n)
			}
			if !c.has(rows[:n*w.fan]) {
				fault("not all before e%d are stored", n)
			}
			if flush := r.server.lastStatus().Flush; flush >= w.at(n) {
				fault("%v is confirmed, e%d stands at %v", flush, n, w.at(n))
			}
			c.mend(fmt.Sprintf("e%d", n))
		}
		settle(20 * time.Second)
		if st := r.p.Status(); st.State != StateStreaming || !st.Ready {
			fault("state %s (%s) in the end", st.State, st.Reason)
		}
		if flush := r.server.lastStatus().Flush; flush != endOf(w.at(total-1)) {
			fault("%v is confirmed in the end", flush)
		}
		if !c.has(rows) {
			fault("not all are stored in the end")
		}
		r.end()
	})
	c.check(rows)
	return append(faults, c.faults...)
}

// Whatever is refused together with whatever: each row that is bad by itself
// halts in its place, all before it is delivered, and once it is mended all.
func TestRefusedBatches(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := workload{
			sizes: rapid.SliceOfN(rapid.IntRange(1, 40), 1, 4).Draw(rt, "sizes"),
			fan:   rapid.IntRange(1, len(topics)).Draw(rt, "fan"),
			fence: rapid.Bool().Draw(rt, "fence"),
			batch: rapid.IntRange(1, 12).Draw(rt, "batch"),
			limit: rapid.Int64Range(2, 60).Draw(rt, "limit"),
			kind:  rapid.SampledFrom([]sink.Kind{sink.Poison, sink.Fatal}).Draw(rt, "kind"),
		}
		total := 0
		for _, n := range w.sizes {
			total += n
		}
		w.bad = rapid.SliceOfNDistinct(rapid.IntRange(0, total-1), 0, 4, rapid.ID[int]).Draw(rt, "bad")
		slices.Sort(w.bad)
		w.heavy = rapid.SliceOfDistinct(rapid.IntRange(0, total-1), rapid.ID[int]).Draw(rt, "heavy")
		if faults := w.deliver(t); len(faults) > 0 {
			rt.Errorf("%+v: %q", w, faults)
		}
	})
}
