package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

const benchTopic = "bench.order"

// memorySource is a stream whose bytes are made beforehand: rows of the outbox
// in transactions of a given size. It costs next to nothing.
type memorySource struct {
	total, perTx int
	rows         [][]byte
	relation     []byte
	begin        []byte
	commit       []byte

	sent, inTx int
	lsn        uint64
	next       byte // the kind of the next message
	wake       chan struct{}
	flushed    chan decoder.LSN // every position that was reported
}

func newMemorySource(total, perTx int) *memorySource {
	s := &memorySource{
		total: total, perTx: perTx, lsn: 1 << 20, next: 'R', wake: make(chan struct{}, 1),
		begin: make([]byte, 21), commit: make([]byte, 26), flushed: make(chan decoder.LSN, 1),
		relation: relationMessage(),
	}
	s.begin[0], s.commit[0] = 'B', 'C'
	for i := range 1000 {
		s.rows = append(s.rows, rowMessage(i))
	}
	return s
}

var columns = []string{"id", "event_id", "aggregate_type", "aggregate_id", "event_type", "partition_key", "payload", "created_at", "publish_status"}

func relationMessage() []byte {
	b := binary.BigEndian.AppendUint32([]byte{'R'}, 16400)
	b = append(b, "public\x00outbox\x00d"...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(columns)))
	for _, c := range columns {
		b = append(append(append(b, 0), c...), 0)
		b = binary.BigEndian.AppendUint32(b, 25)
		b = binary.BigEndian.AppendUint32(b, 0xFFFFFFFF)
	}
	return b
}

// rowMessage is like a row of the drains in the benchmark kit: 465 bytes of
// jsonb text.
func rowMessage(i int) []byte {
	b := append(binary.BigEndian.AppendUint32([]byte{'I'}, 16400), 'N')
	b = binary.BigEndian.AppendUint16(b, uint16(len(columns)))
	payload := fmt.Sprintf(`{"orderId": "ord-%d", "note": "%s"}`, i, strings.Repeat("x", 430))
	for _, v := range []string{
		strconv.Itoa(i), fmt.Sprintf("00000000-0000-4000-8000-%012x", i), "order", fmt.Sprintf("ord-%d", i),
		"OrderPlaced", fmt.Sprintf("k%d", i*7919%10000), payload, "2026-01-01 12:00:00.123456+00", "PENDING",
	} {
		b = append(binary.BigEndian.AppendUint32(append(b, 't'), uint32(len(v))), v...)
	}
	return b
}

// Next implements pipeline.Source.
func (s *memorySource) Next(deadline time.Time) (pgrepl.Frame, error) {
	if s.sent == s.total && s.inTx == 0 && s.next == 'B' {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		select {
		case <-s.wake:
		case <-timer.C:
		}
		return pgrepl.Frame{Kind: pgrepl.FrameNone}, nil
	}
	return pgrepl.Frame{Kind: pgrepl.FrameData, Data: s.message()}, nil
}

func (s *memorySource) message() []byte {
	switch s.next {
	case 'B':
		s.next, s.inTx = 'I', 0
		s.lsn += 16
		binary.BigEndian.PutUint64(s.begin[1:], s.lsn)
		return s.begin
	case 'R':
		// The relation comes inside the first transaction on a real server;
		// the decoder takes it anywhere.
		s.next = 'B'
		return s.relation
	case 'C':
		s.next, s.inTx = 'B', 0
		binary.BigEndian.PutUint64(s.commit[2:], s.lsn)
		binary.BigEndian.PutUint64(s.commit[10:], s.lsn+8)
		return s.commit
	}
	row := s.rows[s.sent%len(s.rows)]
	s.sent++
	if s.inTx++; s.inTx == s.perTx || s.sent == s.total {
		s.next = 'C'
	}
	return row
}

// Buffered implements pipeline.Source: one read in 100 finds nothing.
func (s *memorySource) Buffered() bool { return s.sent < s.total && s.sent%100 != 0 }

// Received implements pipeline.Source.
func (s *memorySource) Received() time.Time { return time.Now() }

// Interrupt implements pipeline.Source.
func (s *memorySource) Interrupt() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// SendStatus implements pipeline.Source.
func (s *memorySource) SendStatus(st pgrepl.Status) error {
	select {
	case <-s.flushed:
	default:
	}
	s.flushed <- st.Flush
	return nil
}

// Finish implements pipeline.Source.
func (s *memorySource) Finish(st pgrepl.Status, _ time.Time) error { return s.SendStatus(st) }

// Close implements pipeline.Source.
func (s *memorySource) Close() {}

// memorySession hands the source out.
type memorySession struct{ *memorySource }

func (s memorySession) Info() pipeline.SessionInfo {
	return pipeline.SessionInfo{Identity: pgrepl.Identity{SystemID: "1", Timeline: 1}, SlotConfirmed: 1, SenderTimeout: time.Minute}
}

func (s memorySession) Start(context.Context, decoder.LSN) (pipeline.Source, error) {
	return s.memorySource, nil
}

func (s memorySession) Close(context.Context) {}
