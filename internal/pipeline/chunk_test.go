package pipeline

import (
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
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
