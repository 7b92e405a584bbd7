package offset

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// model is the ledger as one would explain it: every transaction is kept for
// ever, and everything is counted anew from the list.
type model struct {
	limits    Limits
	txs       []*modelTx
	confirmed decoder.LSN
	bytes     int64
}

type modelTx struct {
	end          decoder.LSN
	added, acked int64
	sealed, out  bool
}

func (m *model) open() bool {
	return len(m.txs) > 0 && !m.txs[len(m.txs)-1].sealed
}

// settle moves the confirmed position over every transaction that is whole and
// has no unfinished one before it.
func (m *model) settle() {
	for _, t := range m.txs {
		if !t.sealed || t.acked < t.added {
			return
		}
		t.out = true
		m.confirmed = max(m.confirmed, t.end)
	}
}

func (m *model) inFlight() int64 {
	n, head := int64(0), true
	for _, t := range m.txs {
		if t.out {
			continue
		}
		n += t.added
		if head {
			n -= t.acked
		}
		head = false
	}
	return n
}

// handle is one record that was handed out.
type handle struct {
	token Token
	tx    *modelTx
	stale bool // from before a reset
}

// machine drives ledger and model side by side.
type machine struct {
	ledger *Ledger
	model  *model
	out    []*handle
	holds  []hold
	lsn    decoder.LSN
}

type hold struct {
	epoch uint64
	n     int64
	stale bool
}

func (m *machine) advance(t *rapid.T) decoder.LSN {
	m.lsn += decoder.LSN(rapid.IntRange(1, 1000).Draw(t, "lsn step"))
	return m.lsn
}

func (m *machine) Open(t *rapid.T) {
	if got, want := m.ledger.Open(), !m.model.open(); got != want {
		t.Fatalf("Open = %v, want %v", got, want)
	}
	if !m.model.open() {
		m.model.txs = append(m.model.txs, &modelTx{})
	}
}

func (m *machine) Add(t *rapid.T) {
	n := rapid.IntRange(1, 4).Draw(t, "records")
	inFlight := m.model.inFlight()
	want := m.model.open() && (inFlight == 0 || inFlight+int64(n) <= m.model.limits.Records)
	token, ok := m.ledger.TryAdd(n)
	if ok != want {
		t.Fatalf("TryAdd(%d) = %v with %d in flight, want %v", n, ok, inFlight, want)
	}
	if !ok {
		return
	}
	tx := m.model.txs[len(m.model.txs)-1]
	tx.added += int64(n)
	for range n {
		m.out = append(m.out, &handle{token: token, tx: tx})
	}
}

func (m *machine) Seal(t *rapid.T) {
	end := m.advance(t)
	if got, want := m.ledger.Seal(end), m.model.open(); got != want {
		t.Fatalf("Seal = %v, want %v", got, want)
	}
	if m.model.open() {
		tx := m.model.txs[len(m.model.txs)-1]
		tx.sealed, tx.end = true, end
		m.model.settle()
	}
}

func (m *machine) Keepalive(t *rapid.T) {
	// Also one that lags behind, as during a catch-up.
	end := decoder.LSN(rapid.Uint64Range(0, uint64(m.lsn)+500).Draw(t, "wal end"))
	m.ledger.Keepalive(end)
	if m.model.open() {
		return
	}
	m.lsn = max(m.lsn, end)
	m.model.txs = append(m.model.txs, &modelTx{sealed: true, end: end})
	m.model.settle()
}

func (m *machine) Ack(t *rapid.T) {
	if len(m.out) == 0 {
		return
	}
	h := m.out[rapid.IntRange(0, len(m.out)-1).Draw(t, "record")]
	got := m.ledger.Ack(h.token)
	if h.stale {
		if got {
			t.Fatal("an ack from before a reset had an effect")
		}
		return
	}
	want := h.tx.acked < h.tx.added
	if got != want {
		t.Fatalf("Ack = %v, want %v", got, want)
	}
	if want {
		h.tx.acked++
		m.model.settle()
	}
}

func (m *machine) Hold(t *rapid.T) {
	n := rapid.Int64Range(1, 60).Draw(t, "bytes")
	want := m.model.bytes == 0 || m.model.bytes+n <= m.model.limits.Bytes
	epoch, ok := m.ledger.Hold(n)
	if ok != want {
		t.Fatalf("Hold(%d) = %v with %d held, want %v", n, ok, m.model.bytes, want)
	}
	if ok {
		m.model.bytes += n
		m.holds = append(m.holds, hold{epoch: epoch, n: n})
	}
}

func (m *machine) Release(t *rapid.T) {
	if len(m.holds) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.holds)-1).Draw(t, "hold")
	h := m.holds[i]
	m.holds = append(m.holds[:i], m.holds[i+1:]...)
	m.ledger.Release(h.epoch, h.n)
	if !h.stale {
		m.model.bytes -= h.n
	}
}

func (m *machine) Raise(t *rapid.T) {
	if len(m.out) > 0 {
		return // only before anything was handed out in a session's history
	}
	floor := decoder.LSN(rapid.Uint64Range(0, uint64(m.lsn)).Draw(t, "floor"))
	m.ledger.Raise(floor)
	m.model.confirmed = max(m.model.confirmed, floor)
}

func (m *machine) Reset(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "reset one time in ten") != 0 {
		return
	}
	at := decoder.LSN(rapid.Uint64Range(0, uint64(m.lsn)).Draw(t, "position"))
	m.ledger.Reset(at)
	m.model.txs, m.model.bytes, m.model.confirmed = nil, 0, at
	for _, h := range m.out {
		h.stale = true
	}
	for i := range m.holds {
		m.holds[i].stale = true
	}
}

// Check compares what can be seen from outside.
func (m *machine) Check(t *rapid.T) {
	if got := m.ledger.Confirmed(); got != m.model.confirmed {
		t.Fatalf("confirmed %v, want %v", got, m.model.confirmed)
	}
	records, bytes := m.ledger.InFlight()
	if records != m.model.inFlight() || bytes != m.model.bytes {
		t.Fatalf("in flight %d records, %d bytes, want %d, %d", records, bytes, m.model.inFlight(), m.model.bytes)
	}
	idle := true
	for _, tx := range m.model.txs {
		idle = idle && tx.out
	}
	if m.ledger.Idle() != idle {
		t.Fatalf("Idle = %v, want %v", m.ledger.Idle(), idle)
	}
	if n := m.ledger.next - m.ledger.head; int64(n) > m.model.limits.Records+2 {
		t.Fatalf("%d entries for a window of %d records", n, m.model.limits.Records)
	}
}

// TestLedgerIsTheModel is the ledger's proof: for every interleaving of
// transactions, acks, keepalives and rewinds it confirms what the model does.
func TestLedgerIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{
			Records: rapid.Int64Range(1, 40).Draw(t, "record limit"),
			Bytes:   rapid.Int64Range(1, 100).Draw(t, "byte limit"),
		}
		m := &machine{ledger: NewLedger(limits), model: &model{limits: limits}}
		t.Repeat(map[string]func(*rapid.T){
			"open": m.Open, "add": m.Add, "seal": m.Seal, "keepalive": m.Keepalive, "ack": m.Ack,
			"hold": m.Hold, "release": m.Release, "raise": m.Raise, "reset": m.Reset, "": m.Check,
		})
	})
}
