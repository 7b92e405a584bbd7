package offset

import (
	"sync"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Ledger holds the transactions between the confirmed position and the end of
// what was received, in commit order, and yields the highest LSN below which
// every record is stored.
//
// A transaction is opened at its Begin, counts its records as they are handed
// out, and is sealed with the commit's end LSN. Acks come in any order and
// from any goroutine. The first transaction leaves when it is sealed and fully
// acked; only then its end LSN is confirmed. A row's own LSN, the commit LSN
// and "the highest that was acked" are never confirmed: the first is neither
// unique nor monotonic, the second makes the server send the transaction
// again, the third loses what is below.
//
// One goroutine opens, adds and seals; every method may be called concurrently
// with the others.
type Ledger struct {
	limits Limits
	freed  chan struct{}

	mu        sync.Mutex
	epoch     uint64
	ring      []entry // entry of sequence s is ring[s % len(ring)]
	head      uint64  // sequence of the oldest entry
	next      uint64  // sequence that the next entry will get
	confirmed decoder.LSN
	done      int64 // records that are confirmed, over all histories
	records   int64 // added to the entries in the ring
	bytes     int64
}

// Limits bound what may be in flight.
type Limits struct {
	// Records is how many records may be between the confirmed position and
	// the end of what was handed out. Stored records of the oldest
	// transaction do not count, so that one of any size streams through.
	Records int64
	// Bytes is how many bytes may be held.
	Bytes int64
}

// entry is one transaction.
type entry struct {
	end    decoder.LSN // valid when sealed
	added  int64
	acked  int64
	sealed bool
}

func (e *entry) done() bool { return e.sealed && e.acked == e.added }

// Token says which transaction of which history a record belongs to.
// The zero Token belongs to none.
type Token struct{ epoch, seq uint64 }

// NewLedger returns an empty ledger that has confirmed nothing.
func NewLedger(l Limits) *Ledger {
	return &Ledger{limits: l, freed: make(chan struct{}, 1), epoch: 1, ring: make([]entry, 64), head: 1, next: 1}
}

// Reset forgets every transaction and starts again at the given position: at a
// rewind, or in a new history. Acks and releases from before have no effect
// from now on. It is the one way for the confirmed position to go back.
func (l *Ledger) Reset(at decoder.LSN) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch++
	l.head, l.next = 1, 1
	l.records, l.bytes = 0, 0
	l.confirmed = at
	l.signal()
}

// Raise lifts the confirmed position to one that the server has on record for
// the slot. A lower one changes nothing.
func (l *Ledger) Raise(floor decoder.LSN) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.confirmed = max(l.confirmed, floor)
}

// Open begins a transaction. The one before must be sealed; Open tells whether
// it was, and does nothing if not.
func (l *Ledger) Open() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isOpen() {
		return false
	}
	if l.next-l.head == uint64(len(l.ring)) {
		l.grow()
	}
	*l.at(l.next) = entry{}
	l.next++
	return true
}

// TryAdd counts n records of the open transaction as handed out, if the window
// has room; a window with nothing in flight has room for any n. It must be
// called before the records are handed out, since an ack may come at once.
func (l *Ledger) TryAdd(n int) (Token, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isOpen() {
		return Token{}, false
	}
	if open := l.inFlight(); open > 0 && open+int64(n) > l.limits.Records {
		return Token{}, false
	}
	l.at(l.next - 1).added += int64(n)
	l.records += int64(n)
	return Token{epoch: l.epoch, seq: l.next - 1}, true
}

// Seal ends the open transaction with its commit's end LSN. It tells whether
// one was open.
func (l *Ledger) Seal(end decoder.LSN) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isOpen() {
		return false
	}
	e := l.at(l.next - 1)
	e.sealed, e.end = true, end
	if e.added == 0 && l.next-l.head > 1 {
		// Nothing of it is in flight: its end belongs to the one before,
		// so that empty transactions take no room.
		l.next--
		prev := l.at(l.next - 1)
		prev.end = max(prev.end, end)
	}
	l.pop()
	return true
}

// Keepalive takes the server's WAL end. With nothing in flight it is the
// confirmed position; else it raises the end of the last sealed transaction.
// While a transaction is open it is dropped: it lies at or below that one's
// commit, and says nothing new.
func (l *Ledger) Keepalive(walEnd decoder.LSN) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.isOpen():
	case l.next == l.head:
		l.confirmed = max(l.confirmed, walEnd)
	default:
		e := l.at(l.next - 1)
		e.end = max(e.end, walEnd)
	}
}

// Ack tells that one record of the token's transaction is stored. It is false,
// and changes nothing, for a token from before a Reset and for one ack too many.
func (l *Ledger) Ack(t Token) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.epoch != l.epoch || t.seq < l.head || t.seq >= l.next {
		return false
	}
	e := l.at(t.seq)
	if e.acked >= e.added {
		return false
	}
	e.acked++
	if t.seq == l.head {
		l.pop()
		l.signal()
	}
	return true
}

// Confirmed is the position to report as flushed. It only grows between Resets.
func (l *Ledger) Confirmed() decoder.LSN {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.confirmed
}

// Progress is the confirmed position, and how many records were confirmed with
// it. The number counts over Resets, and never goes back.
func (l *Ledger) Progress() (confirmed decoder.LSN, records int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.confirmed, l.done
}

// pop removes what is done from the front.
func (l *Ledger) pop() {
	for l.head < l.next {
		e := l.at(l.head)
		if !e.done() {
			return
		}
		l.confirmed = max(l.confirmed, e.end)
		l.records -= e.added
		l.done += e.added
		l.head++
	}
}

func (l *Ledger) at(seq uint64) *entry { return &l.ring[seq%uint64(len(l.ring))] }

func (l *Ledger) isOpen() bool { return l.next > l.head && !l.at(l.next-1).sealed }

// inFlight counts the records from the confirmed position on, less the stored
// ones of the oldest transaction.
func (l *Ledger) inFlight() int64 {
	if l.next == l.head {
		return 0
	}
	return l.records - l.at(l.head).acked
}

// grow doubles the ring. Its size is bounded by the window: every entry but the
// last has at least one record that counts.
func (l *Ledger) grow() {
	ring := make([]entry, 2*len(l.ring))
	for s := l.head; s < l.next; s++ {
		ring[s%uint64(len(ring))] = *l.at(s)
	}
	l.ring = ring
}

// signal wakes whoever waits for room, without ever blocking.
func (l *Ledger) signal() {
	select {
	case l.freed <- struct{}{}:
	default:
	}
}
