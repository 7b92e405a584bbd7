package e2e

import (
	"context"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// freezer holds back the answers of a cluster: while it is frozen, no record is
// stored and no request to store one is answered.
type freezer struct {
	mu   sync.Mutex
	thaw chan struct{} // nil while it is not frozen
	held int
}

// newFreezer takes hold of the cluster's Produce requests.
func (r *rig) newFreezer() *freezer {
	f := &freezer{}
	r.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		r.cluster.KeepControl()
		if thaw := f.hold(); thaw != nil {
			r.cluster.SleepControl(func() { <-thaw })
		}
		return nil, nil, false
	})
	r.tb.Cleanup(f.release)
	return f
}

func (f *freezer) hold() chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.thaw != nil {
		f.held++
	}
	return f.thaw
}

func (f *freezer) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thaw = make(chan struct{})
}

func (f *freezer) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.thaw != nil {
		close(f.thaw)
		f.thaw = nil
	}
}

// holding is the number of requests that were held back.
func (f *freezer) holding() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held
}

// eventuallyHolding waits until a request is held back.
func eventuallyHolding(tb testing.TB, f *freezer) {
	tb.Helper()
	eventually(tb, patience, "a request is held back", func(context.Context) (bool, any) {
		return f.holding() > 0, f.holding()
	})
}
