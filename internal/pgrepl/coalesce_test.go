package pgrepl

import (
	"testing"
	"time"
)

func TestCoalescer(t *testing.T) {
	var c coalescer
	for i := range busyReads {
		if c.busy() {
			t.Fatalf("busy after %d quick reads", i)
		}
		c.read(10 * time.Microsecond)
	}
	c.read(quickWait)
	if !c.busy() {
		t.Error("not busy after many quick reads")
	}
	c.read(quickWait + 1)
	if c.busy() {
		t.Error("busy after a read that had to wait")
	}
	for range 10 { // transactions of one row, a millisecond apart
		for range 3 {
			c.read(20 * time.Microsecond)
		}
		c.read(time.Millisecond)
		if c.busy() {
			t.Error("single transactions are no load")
		}
	}
}
