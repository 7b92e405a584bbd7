package pipeline

import (
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// A row's own headers live outside of the chunk; they count, and come back with
// it.
func TestHeadersOfARowCount(t *testing.T) {
	p := &Pipeline{ledger: offset.NewLedger(offset.Limits{Records: 10, Bytes: 1 << 20}), pool: newChunkPool()}
	r := &reader{p: p}
	epoch, _ := p.ledger.Hold(chunkSize(100))
	r.chunk = p.pool.get(100, epoch)
	it := r.chunk.next()
	it.rec.Headers = make([]sink.Header, inlineHeaders)
	r.countHeaders(it)
	if _, bytes := p.ledger.InFlight(); bytes != chunkSize(100) {
		t.Errorf("%d bytes held with inline headers", bytes)
	}
	it.rec.Headers = make([]sink.Header, 1000)
	r.countHeaders(it)
	if _, bytes := p.ledger.InFlight(); bytes < chunkSize(100)+1000*40 {
		t.Errorf("%d bytes held with 1000 headers", bytes)
	}
	it.chunk.release(p.ledger, p.pool)
	r.leaveChunk()
	if _, bytes := p.ledger.InFlight(); bytes != 0 {
		t.Errorf("%d bytes held in the end", bytes)
	}
	if again := p.pool.get(100, epoch); again.size != chunkSize(100) {
		t.Errorf("a chunk that is used again counts for %d", again.size)
	}
}

// grower is a format that needs more than the usual room.
type grower struct{ Formatter }

func (grower) Append(rec *sink.Record, _ *decoder.Event, buf []byte) ([]byte, error) {
	buf = append(buf, make([]byte, 1<<20)...)
	rec.Value = buf[len(buf)-1<<20:]
	return buf, nil
}

// TestFormatsGrowthCounts: what a format needs beyond the chunk is held in the
// window until the record has its result, and such a chunk is not kept.
func TestFormatsGrowthCounts(t *testing.T) {
	p := &Pipeline{ledger: offset.NewLedger(offset.Limits{Records: 10, Bytes: 4 << 20}), pool: newChunkPool(), format: []Formatter{grower{}}}
	r := &reader{p: p, gen: &generation{p: p}}
	epoch, _ := p.ledger.Hold(chunkSize(100))
	r.chunk = p.pool.get(100, epoch)
	r.decision.Targets = []router.Target{{Sink: "s", Destination: "d"}}
	if err := r.records(&r.event, 0); err != nil {
		t.Fatal(err)
	}
	if _, bytes := p.ledger.InFlight(); bytes < chunkSize(100)+1<<20 {
		t.Errorf("%d bytes held", bytes)
	}
	r.chunk.items[0].chunk.release(p.ledger, p.pool)
	r.leaveChunk()
	if _, bytes := p.ledger.InFlight(); bytes != 0 || len(p.pool.free) != 0 {
		t.Errorf("%d bytes held in the end, %d chunks kept", bytes, len(p.pool.free))
	}
}

func TestChunkIsReusedOnlyAfterItsLastRecord(t *testing.T) {
	l, pool := offset.NewLedger(offset.Limits{Records: 10, Bytes: 1 << 20}), newChunkPool()
	epoch, _ := l.Hold(chunkSize(0))
	c := pool.get(0, epoch)
	first, second := c.next(), c.next()
	c.release(l, pool) // the reader leaves
	first.chunk.release(l, pool)
	if len(pool.free) != 0 {
		t.Fatal("reused with a record in flight")
	}
	second.chunk.release(l, pool)
	if len(pool.free) != 1 {
		t.Fatal("not given back")
	}
	if big := pool.get(arenaSize, epoch); cap(big.arena) < arenaSize+renderRoom || len(pool.free) != 1 {
		t.Error("a large row needs a chunk of its own")
	}
}
