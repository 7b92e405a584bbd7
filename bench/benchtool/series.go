package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// peerName is what every line of a series begins with.
type peerName struct {
	Peer        string `json:"peer"`
	Label       string `json:"label"` // what was special about the run
	Compression string `json:"compression"`
}

func (p peerName) String() string {
	name := p.Peer
	if p.Label != "" {
		name += " [" + p.Label + "]"
	}
	if p.Compression != "" && p.Compression != "none" {
		name += " " + p.Compression
	}
	return name
}

// The peers without a sink: there is no topic to verify.
const (
	floor   = "floor"
	floorGo = "floor-go"
)

// drainRun is a line of drain.jsonl.
type drainRun struct {
	peerName
	Scenario string   `json:"scenario"`
	N        int64    `json:"n"`
	Drain    drain    `json:"drain"`
	Verify   *verdict `json:"verify"` // nil: no topic was read
}

// valid tells that the run's figures may be quoted.
func (r drainRun) valid() bool { return r.fault() == "" }

// fault says why a run is not valid.
func (r drainRun) fault() string {
	switch {
	case r.Drain.Error != "":
		return r.Drain.Error
	case r.Verify == nil && r.Peer != floor && r.Peer != floorGo:
		return "the topic was not verified"
	case r.Drain.Records == r.N && (r.Verify == nil || r.Verify.exact()):
		return ""
	case r.Verify == nil:
		return fmt.Sprintf("%d of %d rows", r.Drain.Records, r.N)
	}
	return fmt.Sprintf("%d of %d records, %d missing, %d duplicates, %d unknown, %d out of order, %d keys on two partitions",
		r.Drain.Records, r.N, r.Verify.Missing, r.Verify.Duplicates, r.Verify.Unknown, r.Verify.OrderBroken, r.Verify.KeysMoved)
}

// latencyRun is a line of latency.jsonl.
type latencyRun struct {
	peerName
	Rate    int64     `json:"rate"`
	Seconds int64     `json:"seconds"`
	Result  latencies `json:"result"`
}

// restartRun is a line of restart.jsonl: a drain with kills in its middle.
type restartRun struct {
	peerName
	Scenario  string  `json:"scenario"`
	N         int64   `json:"n"`
	KilledAt  string  `json:"killed_at"`     // records on the topic
	Confirmed bool    `json:"confirmed_all"` // the slot is past the last row
	Drain     drain   `json:"drain"`         // after the last kill
	Verify    verdict `json:"verify"`
}

// outageRun is a line of outage.jsonl: a drain with a broker that stood still.
type outageRun struct {
	peerName
	Scenario string  `json:"scenario"`
	N        int64   `json:"n"`
	FrozenAt int64   `json:"frozen_at"` // records on the topic
	Frozen   int64   `json:"frozen_s"`
	Drain    drain   `json:"drain"` // its start is the thaw
	Verify   verdict `json:"verify"`
}

// readSeries reads the lines of a file.
func readSeries[T any](path string) ([]T, error) {
	file, err := os.Open(path) //nolint:gosec // the caller's own file
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var all []T
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(all)+1, err)
		}
		all = append(all, one)
	}
	return all, lines.Err()
}
