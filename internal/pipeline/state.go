package pipeline

import (
	"sync"
	"time"
)

// State is what the connector is doing, in one word.
type State string

// The states of a running connector.
const (
	StateStarting   State = "starting"
	StateConnecting State = "connecting"
	StateStandby    State = "standby"
	StateStreaming  State = "streaming"
	// StateCareful is streaming while records that were refused together are
	// sent in ever smaller groups.
	StateCareful  State = "careful"
	StateHalted   State = "halted"
	StateHeld     State = "held"
	StateDraining State = "draining"
)

// States lists all states.
func States() []State {
	return []State{StateStarting, StateConnecting, StateStandby, StateStreaming, StateCareful, StateHalted, StateHeld, StateDraining}
}

// Condition is a state with its reason.
type Condition struct {
	State  State
	Since  time.Time
	Reason string
	Remedy string
	// Halted is the event that stopped the stream, in StateHalted.
	Halted *HaltedEvent
}

// HaltedEvent is an event that can't be delivered. It holds no payload.
type HaltedEvent struct {
	Position string
	EventID  string
	Route    string
	Reason   string
	Error    string
	Since    time.Time
}

// conditions combines what the reader and the sender say: a sender that holds
// at a record outranks a stream that is healthy.
type conditions struct {
	mu       sync.Mutex
	reader   Condition
	sender   *Condition
	draining *Condition
	careful  bool
	streamed bool      // ever streamed
	lost     time.Time // when the stream was lost; zero while there is one
}

func (c *conditions) current() Condition {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.draining != nil:
		return *c.draining
	case c.sender != nil:
		return *c.sender
	}
	now := c.reader
	if c.careful && now.State == StateStreaming {
		now.State = StateCareful
	}
	return now
}

// halted lists the events that stop delivery.
func (c *conditions) halted() (all []HaltedEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sender != nil && c.sender.Halted != nil {
		all = append(all, *c.sender.Halted)
	}
	if c.reader.Halted != nil {
		all = append(all, *c.reader.Halted)
	}
	return all
}

// beCareful tells that suspects are sent by themselves, or no longer.
func (c *conditions) beCareful(careful bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.careful = careful
}

// set stores the reader's condition and tells whether it is a new one.
func (c *conditions) set(n Condition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reader.State == n.State && c.reader.Reason == n.Reason && c.reader.Remedy == n.Remedy {
		return false
	}
	n.Since = time.Now()
	switch n.State {
	case StateStreaming, StateCareful, StateStandby:
		c.streamed, c.lost = true, time.Time{}
	case StateStarting, StateConnecting, StateHalted, StateHeld, StateDraining:
		if c.lost.IsZero() {
			c.lost = n.Since
		}
	}
	c.reader = n
	return true
}

// block stores the sender's condition; nil lifts it.
func (c *conditions) block(n *Condition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n != nil {
		n.Since = time.Now()
		if c.sender != nil && c.sender.State == n.State {
			n.Since = c.sender.Since
			if was := c.sender.Halted; was != nil && n.Halted != nil && was.Position == n.Halted.Position {
				n.Halted.Since = was.Since
			}
		}
	}
	c.sender = n
}

func (c *conditions) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = &Condition{State: StateDraining, Since: time.Now()}
}

// reconnectGrace is how long a lost stream does not make the connector unready.
const reconnectGrace = 60 * time.Second

// ready is the answer of /readyz.
func (c *conditions) ready(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draining != nil || c.sender != nil {
		return false
	}
	switch c.reader.State {
	case StateStreaming, StateCareful, StateStandby:
		return true
	case StateConnecting:
		return c.streamed && now.Sub(c.lost) < reconnectGrace
	case StateStarting, StateHalted, StateHeld, StateDraining:
	}
	return false
}
