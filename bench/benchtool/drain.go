package main

import (
	"maps"
	"time"
)

// drain is the result of one run that reads a loaded slot to its end. Rates are
// events a second, times milliseconds, memory MiB; what a peer cannot tell is 0.
type drain struct {
	Error   string `json:"error,omitempty"`
	Records int64  `json:"records"`

	StartToFirst int64 `json:"start_to_first_ms"` // from the start of the process
	FirstToDone  int64 `json:"first_to_done_ms"`
	StartToDone  int64 `json:"start_to_done_ms"`
	RateStream   int64 `json:"events_per_s_stream"` // from the first record on
	RateStart    int64 `json:"events_per_s_from_start"`

	// CPU is user and system time by process; CPUStream without what was spent
	// before the first record.
	CPU       map[string]int64 `json:"cpu_ms"`
	CPUStream map[string]int64 `json:"cpu_stream_ms,omitempty"`
	// Microseconds of the connector's CPU an event.
	CostStream float64 `json:"connector_us_per_event_stream"`
	CostStart  float64 `json:"connector_us_per_event_total"`

	PeakRSS map[string]int64 `json:"peak_rss_mb,omitempty"`
}

// reading is the state of a drain at one moment.
type reading struct {
	at      time.Time
	records int64
	cpu     map[string]int64
}

// newDrain makes the result of three readings: at the start of the process,
// at the first record, at the end.
func newDrain(start, first, done reading) drain {
	d := drain{
		Records:      done.records,
		StartToFirst: first.at.Sub(start.at).Milliseconds(),
		FirstToDone:  done.at.Sub(first.at).Milliseconds(),
		StartToDone:  done.at.Sub(start.at).Milliseconds(),
		RateStream:   rate(done.records-first.records, done.at.Sub(first.at)),
		RateStart:    rate(done.records, done.at.Sub(start.at)),
		CPU:          minus(done.cpu, start.cpu),
		CPUStream:    minus(done.cpu, first.cpu),
	}
	d.CostStart = cost(d.CPU["connector"], done.records)
	d.CostStream = cost(d.CPUStream["connector"], done.records-first.records)
	return d
}

func rate(events int64, d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64(float64(events) / d.Seconds())
}

// cost is microseconds an event.
func cost(ms, events int64) float64 {
	if events <= 0 {
		return 0
	}
	return float64(ms) * 1000 / float64(events)
}

func minus(a, b map[string]int64) map[string]int64 {
	difference := maps.Clone(a)
	for name := range difference {
		difference[name] -= b[name]
	}
	return difference
}
