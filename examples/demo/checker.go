package main

import (
	"crypto/sha256"
	"sync"
)

// event is a row of the outbox as its writer knows it.
type event struct {
	id, topic, key string
	// seq counts the events of a key from 1 in commit order: the row that it
	// is kept in stays locked until the transaction ends.
	seq int
}

// arrival is a record as the consumer got it.
type arrival struct {
	event
	position string
	value    []byte
}

// route is where order is promised.
type route struct{ topic, key string }

// first is what is kept of an event's first arrival.
type first struct {
	event
	position string
	digest   [sha256.Size]byte
}

// checker keeps the books: what was committed, what was rolled back, and what
// arrived. All methods may be called from any goroutine.
type checker struct {
	mu         sync.Mutex // guards all below
	committed  map[string]event
	rolledBack map[string]bool
	arrived    map[string]first
	highest    map[route]int // seq of the latest first arrival
	duplicates int
	misordered int
	changed    int
}

func newChecker() *checker {
	return &checker{
		committed: map[string]event{}, rolledBack: map[string]bool{},
		arrived: map[string]first{}, highest: map[route]int{},
	}
}

// commit notes events that must arrive. They may have arrived before: the
// connector is often faster than the writer's next line.
func (c *checker) commit(events []event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		c.committed[e.id] = e
	}
}

// rollBack notes events that must never arrive.
func (c *checker) rollBack(events []event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		c.rolledBack[e.id] = true
	}
}

// receive notes a record and says whether it is the event's first.
func (c *checker) receive(a arrival) bool {
	digest := sha256.Sum256(a.value)
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, seen := c.arrived[a.id]; seen {
		c.duplicates++
		if before.event != a.event || before.position != a.position || before.digest != digest {
			c.changed++
		}
		return false
	}
	c.arrived[a.id] = first{a.event, a.position, digest}
	r := route{a.topic, a.key}
	if a.seq <= c.highest[r] {
		c.misordered++
	} else {
		c.highest[r] = a.seq
	}
	return true
}

// tally is the state of the books.
type tally struct {
	sent       int // committed
	received   int // of those, different ones
	duplicates int // arrivals of what had arrived before
	lost       int // committed, not arrived: "on their way" until the end
	misordered int // first arrivals behind a later one of their key
	misrouted  int // wrong topic, key or number
	changed    int // duplicates that differ from the first arrival
	invented   int // arrived, but never written
	rolledBack int // written, then rolled back
	undead     int // of those, arrived
}

func (c *checker) tally() tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := tally{
		sent: len(c.committed), rolledBack: len(c.rolledBack),
		duplicates: c.duplicates, misordered: c.misordered, changed: c.changed,
	}
	for id, want := range c.committed {
		got, ok := c.arrived[id]
		switch {
		case !ok:
			t.lost++
			continue
		case got.event != want:
			t.misrouted++
		}
		t.received++
	}
	for id := range c.arrived {
		if _, ok := c.committed[id]; ok {
			continue
		}
		if c.rolledBack[id] {
			t.undead++
		} else {
			t.invented++
		}
	}
	return t
}
