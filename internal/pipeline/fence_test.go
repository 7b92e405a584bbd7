package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// frozen makes the next wait of the stream last this long, whatever its
// deadline: the process was stopped meanwhile.
func (f *fakeSource) frozen(d time.Duration) { f.frames <- d }

func TestPausedProcessAsksWhoHasTheSlot(t *testing.T) {
	for name, ours := range map[string]bool{"still ours": true, "another's": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int64
				r := start(t, func(c *Config) {
					c.OwnsSlot = func(_ context.Context, pid uint32) (bool, error) {
						if pid == 7 {
							asked.Add(1)
						}
						return ours, nil
					}
				})
				out := <-r.sinks
				src := r.session()
				src.transaction(1000, row(1))
				settle(0)
				src.frozen(10 * time.Second)
				src.transaction(2000, row(2))
				settle(11 * time.Second)
				if asked.Load() == 0 {
					t.Error("nobody asked who has the slot")
				}
				if ours {
					wantIDs(t, out, "e1", "e2")
				} else {
					wantIDs(t, out, "e1")
					<-r.sinks // a fresh generation: what was read is another's
				}
				r.end()
			})
		})
	}
}

func TestNobodyAsksWithoutAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		r := start(t, func(c *Config) {
			c.OwnsSlot = func(context.Context, uint32) (bool, error) {
				asked.Add(1)
				return true, nil
			}
		})
		r.session()
		settle(time.Hour)
		if n := asked.Load(); n != 0 {
			t.Errorf("asked %d times in an idle hour", n)
		}
		r.end()
	})
}

// A reader that can't read hears nothing; it asks before the sender may go on.
func TestBlockedReaderAsksWhoHasTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost atomic.Bool
		r := start(t, func(c *Config) {
			c.Limits.Records = 1
			c.OwnsSlot = func(context.Context, uint32) (bool, error) { return !lost.Load(), nil }
		})
		out := <-r.sinks
		out.set(func(s *fakeSink) { s.hold = true })
		src := r.session()
		src.transaction(1000, row(1), row(2), row(3))
		settle(time.Hour)
		if n := len(r.server.started); n != 1 {
			t.Fatalf("%d sessions", n)
		}
		lost.Store(true)
		settle(10 * time.Second)
		out.ackAll()
		fresh := <-r.sinks
		settle(time.Second)
		wantIDs(t, out, "e1")
		wantIDs(t, fresh)
		r.end()
	})
}

// While there is no session nothing is sent: another instance may have it.
func TestNothingIsSentWithoutASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFence()
		passed := make(chan bool, 1)
		pass := func(ctx context.Context, stop chan struct{}) { passed <- f.pass(ctx, stop) }
		go pass(t.Context(), nil)
		settle(time.Hour)
		if len(passed) != 0 {
			t.Fatal("passed without a session")
		}
		f.open(15 * time.Second)
		if !<-passed {
			t.Error("a session lets pass")
		}
		settle(7 * time.Second)
		if !f.pass(t.Context(), nil) {
			t.Error("a fresh session lets pass")
		}
		f.shut()
		ctx, cancel := context.WithCancel(t.Context())
		go pass(ctx, nil)
		settle(0)
		cancel()
		if <-passed {
			t.Error("passed after the end")
		}
		stop := make(chan struct{})
		go pass(t.Context(), stop)
		settle(0)
		close(stop)
		if <-passed {
			t.Error("passed after the stop")
		}
	})
}
