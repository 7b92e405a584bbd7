package pipeline

import (
	"sync/atomic"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

const (
	// arenaSize is the room for rows in a chunk.
	arenaSize = 64 << 10
	// renderRoom is kept free for what routing and formatting add to a row:
	// the position's text and a rendered key.
	renderRoom = 512
	// chunkItems is how many records a chunk holds.
	chunkItems = 128
	// inlineHeaders is how many headers a record has without an allocation:
	// all that the raw format can give.
	inlineHeaders = 12
	// chunkOverhead is what a chunk costs beside its arena, in bytes.
	chunkOverhead = chunkItems * 720
	// pooledChunks is how many free chunks are kept for reuse.
	pooledChunks = 32
)

// item is one record on its way.
type item struct {
	rec   sink.Record
	chunk *chunk
	token offset.Token
	pos   decoder.Position
	id    []byte // of the event
	out   uint16 // of the kind of sink
	route uint16
	hdr   [inlineHeaders]sink.Header
}

// chunk is the memory of some consecutive records: their rows' bytes, copied
// once from the connection's buffer, and the records themselves. It goes back
// when the reader has left it and its last record has its result.
type chunk struct {
	arena []byte
	items []item
	refs  atomic.Int32
	epoch uint64 // of the ledger's Hold
	size  int64  // as held in the ledger
}

// span is a part of a chunk's items that was handed over. The chunk itself
// stays the reader's, which goes on adding to it.
type span []item

// chunkPool keeps free chunks of the ordinary size.
type chunkPool struct{ free chan *chunk }

func newChunkPool() *chunkPool { return &chunkPool{free: make(chan *chunk, pooledChunks)} }

// chunkSize is what a chunk with room for n bytes of rows counts for.
func chunkSize(n int) int64 { return int64(max(n+renderRoom, arenaSize)) + chunkOverhead }

// get returns a chunk with room for n bytes, held by the reader.
func (p *chunkPool) get(n int, epoch uint64) *chunk {
	var c *chunk
	if n+renderRoom <= arenaSize {
		select {
		case c = <-p.free:
		default:
		}
	}
	if c == nil {
		c = &chunk{arena: make([]byte, 0, max(n+renderRoom, arenaSize)), items: make([]item, 0, chunkItems)}
	}
	c.arena, c.items = c.arena[:0], c.items[:0]
	c.epoch, c.size = epoch, chunkSize(n)
	c.refs.Store(1)
	return c
}

// fits tells whether a row of n bytes with the given number of records has room.
func (c *chunk) fits(n, records int) bool {
	return cap(c.arena)-len(c.arena) >= n+renderRoom && cap(c.items)-len(c.items) >= records
}

// next returns a cleared item that the chunk owns.
func (c *chunk) next() *item {
	c.items = c.items[:len(c.items)+1]
	it := &c.items[len(c.items)-1]
	it.rec = sink.Record{Headers: it.hdr[:0], Owner: it}
	it.chunk = c
	c.refs.Add(1)
	return it
}

// release gives back one hold; the last one gives the memory back.
func (c *chunk) release(l *offset.Ledger, p *chunkPool) {
	if c.refs.Add(-1) > 0 {
		return
	}
	l.Release(c.epoch, c.size)
	if cap(c.arena) == arenaSize {
		select {
		case p.free <- c:
		default:
		}
	}
}
