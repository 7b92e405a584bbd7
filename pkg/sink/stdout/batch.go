package stdout

import "github.com/outbox-cdc/outbox-cdc/pkg/sink"

// batch is lines for one write, and their records.
type batch struct {
	lines   []byte
	records []*sink.Record
	ends    []int // where each record's line ends in lines
}

func (b *batch) add(r *sink.Record) {
	b.lines = AppendLine(b.lines, "", r)
	b.records = append(b.records, r)
	b.ends = append(b.ends, len(b.lines))
}

// answer gives each record its result: nil to those whose line is whole within
// the first written bytes, failure to the rest.
func (b *batch) answer(results sink.Results, written int, failure error) {
	for i, r := range b.records {
		if b.ends[i] <= written {
			results(r, nil)
		} else {
			results(r, failure)
		}
	}
}

// reset empties the batch for the next use.
func (b *batch) reset() {
	clear(b.records)
	b.lines, b.records, b.ends = b.lines[:0], b.records[:0], b.ends[:0]
	if cap(b.lines) > 2*maxBuffered { // one huge line is not held for ever
		b.lines = nil
	}
}
