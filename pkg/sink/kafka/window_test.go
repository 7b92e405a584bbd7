package kafka

import (
	"context"
	"errors"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func testWindow(records, bytes int) *window {
	return newWindow(records, bytes, func() *message { return new(message) })
}

// TestWindowAgainstModel: a window takes what fits, and only that, and hands
// out no message twice.
func TestWindowAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		maxRecords := rapid.IntRange(1, 8).Draw(rt, "records")
		maxBytes := rapid.IntRange(1, 100).Draw(rt, "bytes")
		w := testWindow(maxRecords, maxBytes)
		type entry struct {
			m    *message
			size int
		}
		var in []entry
		sum := 0
		full, cancel := context.WithCancel(context.Background())
		cancel() // a wait ends at once
		rt.Repeat(map[string]func(*rapid.T){
			"enter": func(rt *rapid.T) {
				size := rapid.IntRange(0, 150).Draw(rt, "size")
				fits := len(in) == 0 || len(in) < maxRecords && sum+size <= maxBytes
				m, err := w.enter(full, nil, size)
				if (err == nil) != fits {
					rt.Fatalf("enter(%d) with %d records, %d bytes in: %v, want room: %t", size, len(in), sum, err, fits)
				}
				if err != nil {
					return
				}
				for _, e := range in {
					if e.m == m {
						rt.Fatal("a message in use was handed out")
					}
				}
				in, sum = append(in, entry{m, size}), sum+size
			},
			"leave": func(rt *rapid.T) {
				if len(in) == 0 {
					return
				}
				i := rapid.IntRange(0, len(in)-1).Draw(rt, "which")
				w.leave(in[i].m, in[i].size)
				sum -= in[i].size
				in = append(in[:i], in[i+1:]...)
			},
			"": func(rt *rapid.T) {
				if w.inFlight() != len(in) || w.bytes != sum {
					rt.Fatalf("window says %d records, %d bytes; want %d, %d", w.inFlight(), w.bytes, len(in), sum)
				}
				select {
				case <-w.empty():
					if len(in) > 0 {
						rt.Fatal("empty with records in flight")
					}
				default:
					if len(in) == 0 {
						rt.Fatal("not empty with nothing in flight")
					}
				}
			},
		})
	})
}

// TestWindowWakes: a narrow window under many leavers loses no wake-up.
func TestWindowWakes(t *testing.T) {
	const n = 20_000
	w := testWindow(3, 1000)
	leave := make(chan *message, n)
	var leavers sync.WaitGroup
	for range 4 {
		leavers.Go(func() {
			for m := range leave {
				w.leave(m, 10)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for i := range n {
		m, err := w.enter(ctx, nil, 10)
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		leave <- m
	}
	close(leave)
	leavers.Wait()
	<-w.empty()
}

func TestWindowWaitEnds(t *testing.T) {
	w := testWindow(1, 1)
	if _, err := w.enter(t.Context(), nil, 1); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := w.enter(ctx, nil, 1); !errors.Is(err, cause) {
		t.Errorf("an ended context gave %v", err)
	}
	down := make(chan struct{})
	close(down)
	if m, err := w.enter(t.Context(), down, 1); m != nil || err != nil {
		t.Errorf("a sink that is down gave %v, %v", m, err)
	}
}

// TestWindowLetsGo: messages of a burst are not kept for ever.
func TestWindowLetsGo(t *testing.T) {
	w := testWindow(10*maxFree, 1<<30)
	var in []*message
	for range 5 * maxFree {
		m, err := w.enter(t.Context(), nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, m)
	}
	for _, m := range in {
		w.leave(m, 1)
	}
	if n := len(w.free); n > maxFree {
		t.Errorf("%d messages kept, at most %d", n, maxFree)
	}
}
