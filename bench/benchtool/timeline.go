package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// timeline keeps the moments of each row, whose ids are base+1 to base+n. Safe
// for concurrent use, as long as a row is inserted once.
type timeline struct {
	base      int64
	scheduled []int64 // nanoseconds since 1970
	committed []int64
	arrived   []atomic.Int64

	left     atomic.Int64
	complete chan struct{} // closed when all arrived
	once     sync.Once
	failure  error         // why it can't go on; read it after failed
	failed   chan struct{} // closed at the first failure
}

func newTimeline(base, n int64) *timeline {
	t := &timeline{
		base: base, scheduled: make([]int64, n), committed: make([]int64, n), arrived: make([]atomic.Int64, n),
		complete: make(chan struct{}), failed: make(chan struct{}),
	}
	t.left.Store(n)
	return t
}

// insert notes that a row's COMMIT has returned.
func (t *timeline) insert(id int64, scheduled, committed time.Time) {
	if i := id - t.base - 1; i >= 0 && i < int64(len(t.scheduled)) {
		t.scheduled[i], t.committed[i] = scheduled.UnixNano(), committed.UnixNano()
	}
}

// arrive notes the first arrival of a row.
func (t *timeline) arrive(id int64, at time.Time) {
	i := id - t.base - 1
	if i < 0 || i >= int64(len(t.arrived)) || !t.arrived[i].CompareAndSwap(0, at.UnixNano()) {
		return
	}
	if t.left.Add(-1) == 0 {
		close(t.complete)
	}
}

// fail ends the run; the first error counts.
func (t *timeline) fail(err error) {
	t.once.Do(func() {
		t.failure = err
		close(t.failed)
	})
}

// latencies is the result of an open-loop run; the warm-up does not count.
type latencies struct {
	Events  int   `json:"events"`
	Missing int64 `json:"missing"`
	// Late are inserts that began 50 ms or more after their time: the machine
	// could not keep the rate.
	Late int64 `json:"late_inserts"`

	Commit   spread `json:"commit_to_consumer_ms"`
	Schedule spread `json:"scheduled_to_consumer_ms"`
	Insert   spread `json:"insert_ms"`

	Cost    float64 `json:"connector_us_per_event,omitempty"` // warm-up included
	PeakRSS int64   `json:"connector_peak_rss_mb,omitempty"`
}

// sum looks at the rows that were scheduled at or after cut. Call it after all
// inserts have returned.
func (t *timeline) sum(cut time.Time) latencies {
	var result latencies
	var commit, schedule, insert []float64
	ms := func(from, to int64) float64 { return float64((to-from)/1000) / 1000 }
	for i := range t.scheduled {
		if t.scheduled[i] < cut.UnixNano() {
			continue
		}
		arrived := t.arrived[i].Load()
		if arrived == 0 {
			result.Missing++
			continue
		}
		commit = append(commit, ms(t.committed[i], arrived))
		schedule = append(schedule, ms(t.scheduled[i], arrived))
		insert = append(insert, ms(t.scheduled[i], t.committed[i]))
	}
	result.Events = len(commit)
	result.Commit, result.Schedule, result.Insert = spreadOf(commit), spreadOf(schedule), spreadOf(insert)
	return result
}
