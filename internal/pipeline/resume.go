package pipeline

import "github.com/outbox-cdc/outbox-cdc/pkg/decoder"

// resume is how far the reader came in this history, so that after a reconnect
// nothing is handed out twice.
type resume struct {
	// end is the position below which every transaction was received whole.
	end decoder.LSN
	// floor is where this generation began.
	floor decoder.LSN
	// cut is the transaction that was open when the stream was lost, and
	// handed how many of its events had been handed out.
	cut     decoder.LSN
	handed  uint64
	pending bool // cut's Begin is still to come again
	// events is the position up to which events were handed out.
	events decoder.LSN
}

// lost notes the loss of the stream.
func (r *resume) lost() { r.pending = r.cut != 0 }

// begin takes a transaction's Begin. again: it is the one that was cut off, and
// its ledger entry is still open. ok is false when the server went on with
// another one, which it never does within one history.
func (r *resume) begin(final decoder.LSN) (again, ok bool) {
	if r.pending {
		r.pending = false
		return true, final == r.cut
	}
	r.cut, r.handed = final, 0
	return false, true
}

// skip tells whether the event was handed out before.
func (r *resume) skip(p decoder.Position) bool { return p.Ordinal <= r.handed }

// took notes that the event was handed out.
func (r *resume) took(p decoder.Position) { r.handed, r.events = p.Ordinal, p.Commit+1 }

// commit notes that everything below end was received.
func (r *resume) commit(end decoder.LSN) {
	r.end, r.cut, r.handed = max(r.end, end), 0, 0
}
