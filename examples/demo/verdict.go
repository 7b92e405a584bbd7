package main

import (
	"fmt"
	"strings"
)

// faults says what is wrong with the books, one thing an entry.
func (t tally) faults() []string {
	var all []string
	add := func(n int, text string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(t.lost, "lost")
	add(t.misordered, "out of order")
	add(t.undead, "rolled back but delivered")
	add(t.invented, "delivered but never written")
	add(t.misrouted, "with a wrong topic, key or number")
	add(t.changed, "duplicates that differ from the first delivery")
	return all
}

// verdict is the last line and the exit code.
func verdict(t tally, err error) (line string, code int) {
	faults := t.faults()
	switch {
	case err != nil:
		faults = append(faults, strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	case t.sent == 0:
		faults = append(faults, "nothing was written")
	}
	if len(faults) > 0 {
		return fmt.Sprintf("demo: FAILED: sent %d, received %d: %s", t.sent, t.received, strings.Join(faults, "; ")), exitFailed
	}
	return fmt.Sprintf("demo: sent %d, received %d, lost %d, out of order %d, rolled back and absent %d",
		t.sent, t.received, t.lost, t.misordered, t.rolledBack-t.undead), exitOK
}
