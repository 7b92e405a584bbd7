package main

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	thousand := make([]float64, 1000)
	for i := range thousand {
		thousand[i] = float64(1000 - i)
	}
	if got, want := spreadOf(thousand), (spread{1, 500, 950, 990, 999, 1000}); got != want {
		t.Errorf("spread %+v, want %+v", got, want)
	}
	if got, want := spreadOf([]float64{7}), (spread{7, 7, 7, 7, 7, 7}); got != want {
		t.Errorf("spread of one %+v", got)
	}
	if got := spreadOf(nil); got != (spread{}) {
		t.Errorf("spread of none %+v", got)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		samples []float64
		want    float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 9, 2}, 3}} {
		before := slices.Clone(test.samples)
		if got := median(test.samples); got != test.want || !slices.Equal(before, test.samples) {
			t.Errorf("median of %v is %v, want %v", before, got, test.want)
		}
	}
}

func TestDrainCountsFromStartAndFromFirstRecord(t *testing.T) {
	begin := time.Unix(1000, 0)
	d := newDrain(
		reading{begin, 0, map[string]int64{"broker": 500}},
		reading{begin.Add(time.Second), 100, map[string]int64{"broker": 510, "connector": 40}},
		reading{begin.Add(3 * time.Second), 1100, map[string]int64{"broker": 530, "connector": 95}},
	)
	if d.StartToFirst != 1000 || d.FirstToDone != 2000 || d.StartToDone != 3000 || d.RateStream != 500 || d.RateStart != 366 {
		t.Errorf("times and rates %+v", d)
	}
	if d.CPU["broker"] != 30 || d.CPUStream["broker"] != 20 || d.CPU["connector"] != 95 || d.CostStream != 55 || int(d.CostStart) != 86 {
		t.Errorf("costs %+v", d)
	}
	if empty := newDrain(reading{at: begin}, reading{at: begin}, reading{at: begin}); empty.RateStart != 0 || empty.CostStart != 0 {
		t.Errorf("nothing happened: %+v", empty)
	}
}

func TestTimeline(t *testing.T) {
	begin := time.Unix(1000, 0)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	l := newTimeline(10, 3)
	for _, id := range []int64{11, 12, 13} {
		l.insert(id, at(int(id-11)*100), at(int(id-11)*100+2))
	}
	l.insert(14, at(0), at(0))
	l.arrive(10, at(0)) // somebody else's rows
	l.arrive(14, at(0))
	l.arrive(11, at(5))
	l.arrive(13, at(206))
	l.arrive(13, at(999)) // a replay
	select {
	case <-l.complete:
		t.Fatal("complete with a row missing")
	default:
	}
	// The first row is warm-up, the second does not come.
	if got := l.sum(at(50)); got.Events != 1 || got.Missing != 1 || got.Commit.P50 != 4 || got.Schedule.P50 != 6 || got.Insert.P50 != 2 {
		t.Errorf("%+v", got)
	}
	l.arrive(12, at(300))
	<-l.complete
	first := errors.New("first")
	l.fail(first)
	l.fail(errors.New("second"))
	<-l.failed
	if !errors.Is(l.failure, first) {
		t.Errorf("failure %v", l.failure)
	}
}

func TestFirstColumn(t *testing.T) {
	insert := append([]byte("I\x00\x00\x00\x01N\x00\x02t\x00\x00\x00\x03"), "123t"...)
	if id, err := firstColumn(insert); id != 123 || err != nil {
		t.Errorf("%d, %v", id, err)
	}
	insert[8] = 'n'
	for _, bad := range [][]byte{insert, []byte("I"), []byte("I\x00\x00\x00\x01N\x00\x02t\x00\x00\x00\x04123")} {
		if id, err := firstColumn(bad); err == nil {
			t.Errorf("%q is %d", bad, id)
		}
	}
}
