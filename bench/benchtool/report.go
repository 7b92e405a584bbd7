package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// report prints the series of a folder as Markdown tables: those that are named,
// or all.
func report(ctx context.Context, args []string, out io.Writer) error {
	f := newFlags("report")
	dir := f.String("dir", ".", "folder of the series")
	_, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	sections := []struct {
		name  string
		print func(path string) error
	}{
		{"drain", func(path string) error { return section(out, "Drain", path, drainTable) }},
		{"latency", func(path string) error { return section(out, "Latency", path, latencyTable) }},
		{"restart", func(path string) error { return section(out, "kill -9 in mid-drain", path, restartTable) }},
		{"outage", func(path string) error { return section(out, "Broker frozen in mid-drain", path, outageTable) }},
	}
	for _, s := range sections {
		if f.NArg() == 0 || slices.Contains(f.Args(), s.name) {
			err = errors.Join(err, s.print(filepath.Join(*dir, s.name+".jsonl")))
		}
	}
	return err
}

// section prints one series; nothing where there is none.
func section[T any](out io.Writer, title, path string, table func([]T) [][]string) error {
	runs, err := readSeries[T](path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "### %s\n\n%s\n", title, markdown(table(runs)))
	return err
}

// markdown is a table whose first row is its head.
func markdown(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
	return b.String()
}

// newTable has room for n rows.
func newTable(n int, head ...string) [][]string { return append(make([][]string, 0, 1+n), head) }

// drainTable has a row for each peer and scenario: medians of the valid runs.
func drainTable(runs []drainRun) [][]string {
	type group struct {
		scenario, peer string
		n              int64
	}
	groups := map[group][]drainRun{}
	for _, r := range runs {
		g := group{r.Scenario, r.String(), r.N}
		groups[g] = append(groups[g], r)
	}
	rows := newTable(len(groups),
		"scenario", "rows", "peer", "valid runs", "events/s from first record", "events/s from process start", "start to first ms",
		"connector us/event, streaming", "connector us/event, with start", "walsender us/event", "broker us/event", "connector peak RSS MiB", "topic MB")
	for g, all := range groups {
		valid := slices.DeleteFunc(slices.Clone(all), func(r drainRun) bool { return !r.valid() })
		of := func(decimals int, value func(drainRun) float64) string { return middle(valid, decimals, value) }
		cpu := func(name string) string {
			return of(1, func(r drainRun) float64 { return cost(r.Drain.CPU[name], r.N) })
		}
		rows = append(rows, []string{
			g.scenario, strconv.FormatInt(g.n, 10), g.peer, fmt.Sprintf("%d/%d", len(valid), len(all)),
			of(0, func(r drainRun) float64 { return float64(r.Drain.RateStream) }),
			of(0, func(r drainRun) float64 { return float64(r.Drain.RateStart) }),
			of(0, func(r drainRun) float64 { return float64(r.Drain.StartToFirst) }),
			of(1, func(r drainRun) float64 { return r.Drain.CostStream }),
			of(1, func(r drainRun) float64 { return r.Drain.CostStart }),
			cpu("walsender"), cpu("broker"),
			of(0, func(r drainRun) float64 { return float64(r.Drain.PeakRSS["connector"]) }),
			of(0, topicMB),
		})
	}
	slices.SortFunc(rows[1:], slices.Compare[[]string])
	return rows
}

func topicMB(r drainRun) float64 {
	if r.Verify == nil {
		return 0
	}
	return float64(r.Verify.TopicBytes) / 1e6
}

// middle is "median (min-max)" of what the runs measured; 0 means not measured.
func middle[T any](runs []T, decimals int, value func(T) float64) string {
	var values []float64
	for _, r := range runs {
		if v := value(r); v > 0 {
			values = append(values, v)
		}
	}
	text := func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	switch len(values) {
	case 0:
		return "-"
	case 1:
		return text(values[0])
	}
	return fmt.Sprintf("%s (%s-%s)", text(median(values)), text(slices.Min(values)), text(slices.Max(values)))
}
