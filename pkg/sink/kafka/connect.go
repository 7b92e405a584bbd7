package kafka

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// connectError is why no connection came to be, where we know what it means. It
// hides its cause from errors.As: the client must not take a token endpoint's
// network error for a broker's.
type connectError struct {
	verdict verdict
	text    string
}

func (e *connectError) Error() string { return e.text }

// Temporary tells the client whether to try again by itself.
func (e *connectError) Temporary() bool { return e.verdict.kind == sink.Retriable }

// connectFailed is a connectError in the form in which the client goes on to the
// next broker: one broken certificate of many must not end a lookup.
func connectFailed(what string, v verdict, err error) error {
	return &net.OpError{Op: "tls", Net: what, Err: &connectError{v, err.Error()}}
}

// isGone tells whether the other side, or the way to it, went away.
func isGone(err error) bool {
	var call *os.SyscallError
	return errors.As(err, &call) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// connectVerdict is what a failure to connect or to log in means; ok is false
// where it says nothing.
func connectVerdict(err error) (v verdict, ok bool) {
	var ours *connectError
	var code *kerr.Error
	switch {
	case errors.As(err, &ours):
		return ours.verdict, true
	case isAlert(err):
		return verdict{sink.Config, reasonCertificate, remedyAlert}, true
	case errors.As(err, &code) && verdictOf(code.Code).reason == reasonNotAuthorized:
		return verdictOf(code.Code), true
	}
	return verdict{}, false
}

const (
	// faultTries and faultTime are how often and how long a broker must refuse
	// us, without an exception, before we believe it: one that starts may not
	// know all users yet.
	faultTries = 3
	faultTime  = time.Second
	maxFaults  = 1024
)

// connections sees each attempt of the client to connect. The client retries a
// refused login for ever where records may be on their way; nobody would learn
// why nothing moves.
type connections struct {
	// refused is called when a broker keeps refusing us. It must not block.
	refused func(address string, v verdict, err error)
	// rejected, if set, is called when a login was refused.
	rejected func()

	mu     sync.Mutex // guards faults
	faults map[int32]fault
}

type fault struct {
	since time.Time
	tries int
}

// seeds stand for each other: one of them may be wrong as long as one is right.
const seeds = -1

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (c *connections) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if c.rejected != nil && errors.Is(err, kerr.SaslAuthenticationFailed) {
		c.rejected()
	}
	v, known := connectVerdict(err)
	refusal := err != nil && known && v.kind == sink.Config
	if c.count(max(meta.NodeID, seeds), err == nil, refusal) {
		c.refused(net.JoinHostPort(meta.Host, strconv.Itoa(int(meta.Port))), v, err)
	}
}

// count tells whether a broker has refused us often enough.
func (c *connections) count(node int32, connected, refusal bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if connected {
		delete(c.faults, node)
		delete(c.faults, seeds)
	}
	if !refusal {
		return false
	}
	if c.faults == nil || len(c.faults) >= maxFaults {
		c.faults = make(map[int32]fault)
	}
	f := c.faults[node]
	if f.tries == 0 {
		f.since = time.Now()
	}
	f.tries++
	c.faults[node] = f
	return f.tries >= faultTries && time.Since(f.since) >= faultTime
}
