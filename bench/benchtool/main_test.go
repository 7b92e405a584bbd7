package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pool.Main(m)) }

func TestRunExitCodes(t *testing.T) {
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"", 2, "usage: benchtool wait|topic|"},
		{"nothing", 2, "usage"},
		{"ratio -h", 2, "flag: help requested"},
		{"ratio -file missing.jsonl", 1, "missing.jsonl"},
		{"watch -pid connector=x", 1, "is not NAME=PID"},
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(test.args), &out, &errs); code != test.code || !strings.Contains(errs.String(), test.says) {
			t.Errorf("%q: exit %d, %q; want %d, %q", test.args, code, errs.String(), test.code, test.says)
		}
	}
}

// The figures of a process are right for the one that we know best.
func TestProcessReadsItself(t *testing.T) {
	pid := os.Getpid()
	for ownMS() < 50 { // burns CPU until there is something to read
	}
	ms, running := cpuMS(pid)
	if own := ownMS(); !running || ms < 10 || ms > own+msPerTick {
		t.Errorf("CPU %d ms, running %v; getrusage says %d", ms, running, own)
	}
	if rss := peakRSS(pid); rss < 2 || rss > 4096 {
		t.Errorf("peak RSS %d MiB", rss)
	}
	if !gone(1<<22 + 1) { // above the largest pid_max
		t.Error("a process that never was is not gone")
	}
}

func TestParseStat(t *testing.T) {
	const rest = " 1 1 1 0 -1 4194560 5 0 0 0 12 30 0 0 20 0 1 0"
	for _, test := range []struct {
		stat   string
		ms     int64
		zombie bool
		fails  bool
	}{
		{"7 (cat) S" + rest, 420, false, false},
		{"7 (a) b) 1 2 (c) R" + rest, 420, false, false},
		{"7 (cat) Z" + rest, 420, true, false},
		{"7 (cat) S 1 1", 0, false, true},
	} {
		ms, zombie, err := parseStat(test.stat)
		if (err != nil) != test.fails || ms != test.ms || zombie != test.zombie {
			t.Errorf("%q: %d ms, zombie %v, %v", test.stat, ms, zombie, err)
		}
	}
}
