package offset

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

func wide() *Ledger { return NewLedger(Limits{Records: 1 << 20, Bytes: 1 << 30}) }

// transaction opens, adds n records and seals.
func transaction(tb testing.TB, l *Ledger, n int, end decoder.LSN) Token {
	tb.Helper()
	var tok Token
	if !l.Open() {
		tb.Fatal("a transaction is open already")
	}
	if n > 0 {
		var ok bool
		if tok, ok = l.TryAdd(n); !ok {
			tb.Fatal("no room")
		}
	}
	if !l.Seal(end) {
		tb.Fatal("no transaction is open")
	}
	return tok
}

func wantConfirmed(tb testing.TB, l *Ledger, want decoder.LSN) {
	tb.Helper()
	if got := l.Confirmed(); got != want {
		tb.Fatalf("confirmed %v, want %v", got, want)
	}
}

func TestOnlyTheFrontierIsConfirmed(t *testing.T) {
	l := wide()
	a := transaction(t, l, 2, 100)
	b := transaction(t, l, 1, 200)
	wantConfirmed(t, l, 0)
	l.Ack(b)
	wantConfirmed(t, l, 0) // not the maximum of what was acked
	l.Ack(a)
	wantConfirmed(t, l, 0)
	l.Ack(a)
	wantConfirmed(t, l, 200)
}

func TestAnOpenTransactionIsNeverConfirmed(t *testing.T) {
	l := wide()
	l.Open()
	tok, _ := l.TryAdd(1)
	l.Ack(tok)
	l.Keepalive(500)
	wantConfirmed(t, l, 0)
	l.Seal(100)
	wantConfirmed(t, l, 100)
}

func TestKeepaliveQueuesBehindWhatIsInFlight(t *testing.T) {
	l := wide()
	tok := transaction(t, l, 1, 100)
	l.Keepalive(500)
	wantConfirmed(t, l, 0)
	l.Ack(tok)
	wantConfirmed(t, l, 500)
	l.Keepalive(400) // one that lags
	wantConfirmed(t, l, 500)
	l.Keepalive(600)
	wantConfirmed(t, l, 600)
}

func TestEmptyTransactionsTakeNoRoom(t *testing.T) {
	l := NewLedger(Limits{Records: 1, Bytes: 1})
	tok := transaction(t, l, 1, 100)
	for end := decoder.LSN(101); end < 10_000; end++ {
		transaction(t, l, 0, end)
	}
	if n := l.next - l.head; n != 1 {
		t.Fatalf("%d entries, want 1", n)
	}
	wantConfirmed(t, l, 0)
	l.Ack(tok)
	wantConfirmed(t, l, 9_999)
}

// A transaction larger than the window streams through, because stored records
// of the oldest transaction do not count.
func TestALargeTransactionStreamsThrough(t *testing.T) {
	l := NewLedger(Limits{Records: 10, Bytes: 1})
	l.Open()
	var flying []Token
	for range 1000 {
		for {
			if tok, ok := l.TryAdd(1); ok {
				flying = append(flying, tok)
				break
			}
			if len(flying) != 10 {
				t.Fatalf("blocked with %d in flight", len(flying))
			}
			l.Ack(flying[0])
			flying = flying[1:]
		}
	}
	l.Seal(7)
	for _, tok := range flying {
		wantConfirmed(t, l, 0)
		l.Ack(tok)
	}
	wantConfirmed(t, l, 7)
}

func TestALateAckPopsNothing(t *testing.T) {
	l := wide()
	old := transaction(t, l, 1, 100)
	epoch, _ := l.Hold(10)
	l.Reset(50)
	now := transaction(t, l, 1, 100)
	if l.Ack(old) {
		t.Error("an ack of the old history was taken")
	}
	l.Release(epoch, 10)
	if _, bytes := l.InFlight(); bytes != 0 {
		t.Errorf("%d bytes held, want 0", bytes)
	}
	wantConfirmed(t, l, 50)
	if !l.Ack(now) || l.Ack(now) {
		t.Error("the first ack must count and the second must not")
	}
	wantConfirmed(t, l, 100)
	if l.Ack(Token{}) {
		t.Error("the zero token was taken")
	}
}

func TestGrowCountsBeyondTheLimit(t *testing.T) {
	l := NewLedger(Limits{Records: 1, Bytes: 10})
	epoch, _ := l.Hold(5)
	l.Grow(100)
	if _, ok := l.Hold(1); ok {
		t.Error("there should be no room")
	}
	l.Release(epoch, 105)
	if _, ok := l.Hold(10); !ok {
		t.Error("there should be room")
	}
}

func TestRaiseOnlyRaises(t *testing.T) {
	l := wide()
	l.Raise(100)
	l.Raise(50)
	wantConfirmed(t, l, 100)
}

func TestFreedWakesAWaiter(t *testing.T) {
	l := NewLedger(Limits{Records: 1, Bytes: 1})
	tok := transaction(t, l, 1, 1)
	l.Open()
	if _, ok := l.TryAdd(1); ok {
		t.Fatal("there should be no room")
	}
	l.Ack(tok)
	<-l.Freed()
	if _, ok := l.TryAdd(1); !ok {
		t.Fatal("there should be room")
	}
}

// TestConcurrentAcks runs the way the connector does: one goroutine opens and
// seals, others ack in any order, and somebody looks.
func TestConcurrentAcks(t *testing.T) {
	const txs, perTx, workers = 500, 7, 4
	l := wide()
	tokens := make(chan Token, txs*perTx)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			var some []Token
			for tok := range tokens {
				some = append(some, tok)
				if len(some) > r.IntN(20) {
					i := r.IntN(len(some))
					if !l.Ack(some[i]) {
						t.Error("an ack was refused")
					}
					some = append(some[:i], some[i+1:]...)
				}
			}
			for _, tok := range some {
				l.Ack(tok)
			}
		})
	}
	last := decoder.LSN(0)
	for i := range txs {
		tok := transaction(t, l, perTx, decoder.LSN(i+1))
		for range perTx {
			tokens <- tok
		}
		c := l.Confirmed()
		if c < last {
			t.Fatalf("confirmed went back from %v to %v", last, c)
		}
		last = c
	}
	close(tokens)
	wg.Wait()
	wantConfirmed(t, l, txs)
	if !l.Idle() {
		t.Error("not idle after the last ack")
	}
}

func BenchmarkOneRowTransactions(b *testing.B) {
	l := wide()
	b.ReportAllocs()
	for i := range b.N {
		l.Open()
		tok, _ := l.TryAdd(1)
		l.Seal(decoder.LSN(i + 1))
		l.Ack(tok)
	}
}
