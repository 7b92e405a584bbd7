package kafka

import "sync"

// topics is what we know of the topics used so far. It is bounded by maxTopics
// together with the client's own memory of them.
type topics struct {
	mu     sync.Mutex // guards byName
	byName map[string]*topic
}

func newTopics() *topics { return &topics{byName: make(map[string]*topic)} }

func (c *topics) get(name string) *topic {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name]
}

// put replaces what was known of a topic.
func (c *topics) put(t *topic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.byName[t.name]
	if old == nil && len(c.byName) >= maxTopics {
		c.forget()
	}
	c.byName[t.name] = t
	if old != nil {
		old.stale.Store(true)
	}
}

// drop forgets a topic that turned out to be unusable.
func (c *topics) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byName[name]; old != nil {
		old.stale.Store(true)
		delete(c.byName, name)
	}
}

// forget is called with mu held. What is in use is asked for again.
func (c *topics) forget() {
	for _, t := range c.byName {
		t.stale.Store(true)
	}
	clear(c.byName)
}
