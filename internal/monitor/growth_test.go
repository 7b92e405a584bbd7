package monitor

import (
	"testing"
	"time"
)

func TestGrowth(t *testing.T) {
	var g growth
	at := time.Unix(1000, 0)
	add := func(d time.Duration, perSecond int64) {
		for end := at.Add(d); at.Before(end); at = at.Add(5 * time.Second) {
			n := int64(0)
			if len(g.samples) > 0 {
				last := g.samples[len(g.samples)-1]
				n = last.retained + perSecond*int64(at.Sub(last.at).Seconds())
			}
			g.add(at, n)
		}
	}
	add(9*time.Minute, 1000)
	if rate, known := g.rate(); known {
		t.Errorf("after nine minutes the rate is %v", rate)
	}
	add(5*time.Minute, 1000)
	if rate, known := g.rate(); !known || rate != 1000 {
		t.Errorf("rate %v, %t, want 1000", rate, known)
	}
	add(20*time.Minute, -500)
	if rate, known := g.rate(); !known || rate != -500 {
		t.Errorf("rate %v, %t, want -500", rate, known)
	}
	// A gap, as while the server is away: the old samples go as soon as two
	// new ones are there.
	at = at.Add(time.Hour)
	add(30*time.Minute, 200)
	if rate, known := g.rate(); !known || rate != 200 {
		t.Errorf("rate %v, %t, want 200", rate, known)
	}
	if n := len(g.samples); n > 70 {
		t.Errorf("%d samples are kept", n)
	}
}

func TestTimeLeft(t *testing.T) {
	slot := func(retained int64) *Reading { return reading(0, 0, retained) }
	for _, tc := range []struct {
		title string
		v     View
		want  time.Duration // 0: not known
	}{
		{"grows", View{Reading: slot(400), WALLimit: 1000, Growth: 10, GrowthKnown: true}, time.Minute},
		{"is there", View{Reading: slot(1200), WALLimit: 1000, Growth: 10, GrowthKnown: true}, 0},
		{"no limit", View{Reading: slot(400), Growth: 10, GrowthKnown: true}, 0},
		{"not long enough", View{Reading: slot(400), WALLimit: 1000, Growth: 10}, 0},
		{"shrinks", View{Reading: slot(400), WALLimit: 1000, Growth: -10, GrowthKnown: true}, 0},
		{"hardly grows", View{Reading: slot(400), WALLimit: 1 << 50, Growth: 1, GrowthKnown: true}, 0},
	} {
		left, ok := tc.v.TimeLeft()
		if left != tc.want || ok != (tc.want > 0 || tc.title == "is there") {
			t.Errorf("%s: %v, %t", tc.title, left, ok)
		}
	}
}
