package main

import (
	"fmt"
	"strconv"
)

func latencyTable(runs []latencyRun) [][]string {
	rows := newTable(len(runs), "peer", "rate/s", "events", "missing", "late inserts", "p50 ms", "p95", "p99", "p99.9", "max", "connector us/event", "peak RSS MiB")
	for _, r := range runs {
		ms := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
		c := r.Result.Commit
		cost, rss := "-", "-"
		if r.Result.Cost > 0 {
			cost, rss = strconv.FormatFloat(r.Result.Cost, 'f', 0, 64), whole(r.Result.PeakRSS)
		}
		rows = append(rows, []string{
			r.String(), whole(r.Rate), strconv.Itoa(r.Result.Events), whole(r.Result.Missing), whole(r.Result.Late),
			ms(c.P50), ms(c.P95), ms(c.P99), ms(c.P999), ms(c.Max), cost, rss,
		})
	}
	return rows
}

func restartTable(runs []restartRun) [][]string {
	rows := newTable(len(runs), "peer", "scenario", "rows", "killed at", "duplicates", "missing", "out of order", "slot confirmed to the end")
	for _, r := range runs {
		rows = append(rows, []string{
			r.String(), r.Scenario, whole(r.N), r.KilledAt, whole(r.Verify.Duplicates), whole(r.Verify.Missing),
			whole(r.Verify.OrderBroken), yesNo(r.Confirmed),
		})
	}
	return rows
}

func outageTable(runs []outageRun) [][]string {
	rows := newTable(len(runs),
		"peer", "scenario", "rows", "frozen at", "frozen s", "thaw to the end ms",
		"connector peak RSS MiB", "duplicates", "missing", "out of order")
	for _, r := range runs {
		end, rss := whole(r.Drain.StartToDone), whole(r.Drain.PeakRSS["connector"])
		if r.Drain.Error != "" {
			end, rss = fmt.Sprintf("never (%s)", r.Drain.Error), "-"
		}
		rows = append(rows, []string{
			r.String(), r.Scenario, whole(r.N), whole(r.FrozenAt), whole(r.Frozen), end, rss,
			whole(r.Verify.Duplicates), whole(r.Verify.Missing), whole(r.Verify.OrderBroken),
		})
	}
	return rows
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
