package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ratio compares a peer with pg_recvlogical in one series. It fails when a run
// is not valid or the ratio is below the least one.
func ratio(ctx context.Context, args []string, out io.Writer) error {
	f := newFlags("ratio")
	file := f.String("file", "drain.jsonl", "the series")
	peer := f.String("peer", "outbox-cdc", "who is compared")
	least := f.Float64("min", 0, "fail below this")
	_, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	runs, err := readSeries[drainRun](*file)
	if err != nil {
		return err
	}
	c, err := compare(runs, *peer)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, c); err != nil {
		return err
	}
	if c.ratio < *least {
		return fmt.Errorf("the ratio is below %.2f", *least)
	}
	return nil
}

// comparison is a peer against pg_recvlogical: medians.
type comparison struct {
	peer             string
	runs             int
	rate, limit      float64 // events a second from the start of the process, both
	stream           float64 // from the first record on
	cost, rss        float64
	ratio            float64
	slowest, fastest float64 // the extreme runs against the limit
}

func (c comparison) String() string {
	return fmt.Sprintf("%s: %.0f events/s from process start, %.2f (%.2f-%.2f) of pg_recvlogical's %.0f/s; %.0f/s (%.2f) from the first record; %.1f us/event; peak RSS %.0f MiB; %d valid runs",
		c.peer, c.rate, c.ratio, c.slowest, c.fastest, c.limit, c.stream, c.stream/c.limit, c.cost, c.rss, c.runs)
}

func compare(runs []drainRun, peer string) (comparison, error) {
	var limits, rates, streams, costs, peaks []float64
	for _, r := range runs {
		if r.Peer != peer && r.Peer != floor {
			continue
		}
		if !r.valid() {
			return comparison{}, fmt.Errorf("a run of %s is not valid: %s", r.Peer, r.fault())
		}
		if r.Peer == floor {
			limits = append(limits, float64(r.Drain.RateStart))
			continue
		}
		rates = append(rates, float64(r.Drain.RateStart))
		streams = append(streams, float64(r.Drain.RateStream))
		costs = append(costs, r.Drain.CostStart)
		peaks = append(peaks, float64(r.Drain.PeakRSS["connector"]))
	}
	if len(limits) == 0 || len(rates) == 0 {
		return comparison{}, errors.New("the series needs runs of both")
	}
	c := comparison{
		peer: peer, runs: len(rates), rate: median(rates), limit: median(limits), stream: median(streams),
		cost: median(costs), rss: slices.Max(peaks),
	}
	c.ratio, c.slowest, c.fastest = c.rate/c.limit, slices.Min(rates)/c.limit, slices.Max(rates)/c.limit
	return c, nil
}
