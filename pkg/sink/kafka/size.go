package kafka

import (
	"math/bits"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

const (
	// fallbackMaxMessageBytes is taken where we may not read the topic's
	// max.message.bytes: a little below Kafka's default of 1,048,588, as
	// brokers before 2.x had it.
	fallbackMaxMessageBytes = 1_000_012
	// maxRequestBytes is what a record batch can have of a request of 100
	// MiB (socket.request.max.bytes, and the client's own limit), less the
	// request's other fields with the longest topic and client id.
	maxRequestBytes = 100<<20 - requestOverhead
	// batchOverhead is the fixed part of a record batch of format v2:
	// baseOffset 8, batchLength 4, partitionLeaderEpoch 4, magic 1, crc 4,
	// attributes 2, lastOffsetDelta 4, baseTimestamp 8, maxTimestamp 8,
	// producerId 8, producerEpoch 2, baseSequence 4, record count 4.
	batchOverhead = 61
	// framing is counted by the client as part of a batch: the length
	// prefix in the produce request.
	framing = 4
)

// batchSize is the exact size of a record batch that holds only r, not
// compressed. A broker holds it against max.message.bytes.
//
// It is judged without compression, and alone, so that the answer is the same
// on each run: what a batch compresses to depends on the records that happen to
// share it.
func batchSize(r *sink.Record) int {
	n := 1 + // attributes
		1 + // timestamp delta: the first record's is 0
		1 + // offset delta: 0
		varint(len(r.Key)) + len(r.Key) +
		varint(len(r.Value)) + len(r.Value) +
		varint(len(r.Headers))
	for i := range r.Headers {
		h := &r.Headers[i]
		n += varint(len(h.Name)) + len(h.Name) + varint(len(h.Value)) + len(h.Value)
	}
	return batchOverhead + varint(n) + n
}

// varint is the length of n as a zigzag varint. A null field is written as -1,
// which takes one byte, as 0 does.
func varint(n int) int {
	return (bits.Len64(uint64(n)<<1|1) + 6) / 7 //nolint:gosec // lengths are not negative
}
