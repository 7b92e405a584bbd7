package offset

// Hold counts n bytes as held, if the window has room; an empty window has
// room for any n, so that one event larger than the window passes alone.
// The epoch goes to Release.
func (l *Ledger) Hold(n int64) (epoch uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes > 0 && l.bytes+n > l.limits.Bytes {
		return 0, false
	}
	l.bytes += n
	return l.epoch, true
}

// Grow counts n bytes more as held, whether or not there is room: they exist
// already. Release gives them back.
func (l *Ledger) Grow(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += n
}

// Release gives back what Hold counted. One from before a Reset has no effect.
func (l *Ledger) Release(epoch uint64, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch != l.epoch {
		return
	}
	l.bytes -= n
	l.signal()
}

// Freed receives a value after room may have appeared. It has one receiver,
// which must try again after each value and may find no room yet.
func (l *Ledger) Freed() <-chan struct{} { return l.freed }

// InFlight is the number of records and bytes that count against the limits.
func (l *Ledger) InFlight() (records, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight(), l.bytes
}

// Idle tells that everything received is confirmed and no transaction is open.
func (l *Ledger) Idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next == l.head
}
