package main

import (
	"errors"
	"testing"
)

func TestVerdictOfAnError(t *testing.T) {
	line, code := verdict(tally{sent: 3, received: 3}, errors.New("look at the slot:\ngone"))
	if want := "demo: FAILED: sent 3, received 3: look at the slot:; gone"; line != want || code != exitFailed {
		t.Errorf("verdict = %q, %d; want %q, %d", line, code, want, exitFailed)
	}
}

func TestFaultsNamesEverything(t *testing.T) {
	books := tally{sent: 9, lost: 1, misordered: 2, undead: 3, invented: 4, misrouted: 5, changed: 6}
	if got := books.faults(); len(got) != 6 {
		t.Errorf("faults = %q, want six", got)
	}
	if got := (tally{sent: 9, received: 9, duplicates: 5, rolledBack: 2}).faults(); len(got) != 0 {
		t.Errorf("faults = %q, want none", got)
	}
}
