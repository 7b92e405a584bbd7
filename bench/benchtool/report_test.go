package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes files and returns where they are.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// line is a run of n = 100 as drain.sh writes it.
func line(peer, rate, verify string) string {
	return `{"peer":"` + peer + `","label":"","compression":"none","scenario":"batch","n":100,"loadavg_before":1.5,"drain":{"records":100,"start_to_first_ms":7,` +
		`"events_per_s_stream":` + rate + `0,"events_per_s_from_start":` + rate + `,"cpu_ms":{"walsender":3},"connector_us_per_event_total":6.25,` +
		`"peak_rss_mb":{"connector":40}},"verify":` + verify + "}\n"
}

const (
	allThere = `{"records":100,"distinct":100,"topic_bytes":5000000}`
	oneLost  = `{"records":100,"distinct":99,"duplicates":1,"missing":1}`
)

func TestReport(t *testing.T) {
	dir := folder(t, map[string]string{
		"drain.jsonl": line("ours", "300", allThere) + line("ours", "100", allThere) + line("ours", "900", allThere) +
			line("ours", "9999", oneLost) + line("floor", "500", "null") +
			`{"peer":"broken","label":"x","compression":"lz4","scenario":"batch","n":100,"drain":{"error":"it ended"},"verify":null}` + "\n",
		"latency.jsonl": `{"peer":"broker","rate":1000,"seconds":9,"result":{"events":9000,"commit_to_consumer_ms":{"p50":0.5,"max":3}}}` + "\n",
		"restart.jsonl": `{"peer":"ours","scenario":"small","n":100,"killed_at":"45 60","confirmed_all":true,"drain":{},"verify":{"duplicates":12}}` + "\n",
		"outage.jsonl":  `{"peer":"ours","scenario":"huge","n":100,"frozen_at":30,"frozen_s":60,"drain":{"start_to_done_ms":1500,"peak_rss_mb":{"connector":51}},"verify":{}}` + "\n",
	})
	var out bytes.Buffer
	if err := report(t.Context(), []string{"-dir", dir}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### Drain\n\n| scenario | rows | peer |",
		"\n| --- | --- |",
		"| batch | 100 | ours | 3/4 | 3000 (1000-9000) | 300 (100-900) | 7 (7-7) | - | 6.2 (6.2-6.2) | 30.0 (30.0-30.0) | - | 40 (40-40) | 5 (5-5) |",
		"| batch | 100 | floor | 1/1 | 5000 | 500 |",
		"| batch | 100 | broken [x] lz4 | 0/1 | - |",
		"| broker | 1000 | 9000 | 0 | 0 | 0.50 | 0.00 | 0.00 | 0.00 | 3.00 | - | - |",
		"| ours | small | 100 | 45 60 | 12 | 0 | 0 | yes |",
		"| ours | huge | 100 | 30 | 60 | 1500 | 51 | 0 | 0 | 0 |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if i, j := strings.Index(out.String(), "| broken"), strings.Index(out.String(), "| ours"); i > j {
		t.Error("the rows are not sorted")
	}
	out.Reset()
	if err := report(t.Context(), []string{"-dir", dir, "outage"}, &out); err != nil || !strings.HasPrefix(out.String(), "### Broker") {
		t.Errorf("only the outage: %v, %s", err, out.String())
	}
}

func TestReportNamesABadLine(t *testing.T) {
	dir := folder(t, map[string]string{"drain.jsonl": line("ours", "1", allThere) + "{\n"})
	err := report(t.Context(), []string{"-dir", dir}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "drain.jsonl, line 2") {
		t.Errorf("error %v", err)
	}
}

func TestRatio(t *testing.T) {
	floors := line("floor", "200", "null") + line("floor", "400", "null")
	for _, test := range []struct {
		name, lines, least, says string
	}{
		{"enough", floors + line("outbox-cdc", "240", allThere), "0.8", ""},
		{"too slow", floors + line("outbox-cdc", "240", allThere), "0.81", "below 0.81"},
		{"lost", floors + line("outbox-cdc", "240", allThere) + line("outbox-cdc", "900", oneLost), "0", "1 missing"},
		{"unverified", floors + line("outbox-cdc", "240", "null"), "0", "not verified"},
		{"nobody to compare", floors + line("debezium", "240", allThere), "0", "needs runs of both"},
	} {
		var out bytes.Buffer
		file := filepath.Join(folder(t, map[string]string{"s": test.lines}), "s")
		err := ratio(t.Context(), []string{"-file", file, "-min", test.least}, &out)
		switch {
		case test.says == "" && (err != nil || !strings.Contains(out.String(), "240 events/s from process start, 0.80 (0.80-0.80) of pg_recvlogical's 300/s")):
			t.Errorf("%s: %v, %q", test.name, err, out.String())
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
			t.Errorf("%s: error %v, want %q", test.name, err, test.says)
		}
	}
}
