package pipeline

import "sync/atomic"

// counters are written by the reader and the results, and read by anyone.
type counters struct {
	events       atomic.Int64 // rows on configured tables
	ignoredOps   atomic.Int64
	otherTable   atomic.Int64
	transactions atomic.Int64
	sessions     atomic.Int64
	routes       []routeCounters
}

type routeCounters struct {
	delivered atomic.Int64
	dropped   atomic.Int64
	bytes     atomic.Int64
}

// Totals are counts since the process started.
type Totals struct {
	Events, IgnoredOps, OtherTable, Transactions, Sessions int64
	Routes                                                 []RouteTotals
}

// RouteTotals are the counts of one rule.
type RouteTotals struct {
	Name                      string
	Delivered, Dropped, Bytes int64
}

// Totals reads the counters. They are not of one moment.
func (p *Pipeline) Totals() Totals {
	c := &p.counters
	t := Totals{
		Events: c.events.Load(), IgnoredOps: c.ignoredOps.Load(), OtherTable: c.otherTable.Load(),
		Transactions: c.transactions.Load(), Sessions: c.sessions.Load(),
	}
	for i, r := range p.cfg.Router.Rules() {
		rc := &c.routes[i]
		t.Routes = append(t.Routes, RouteTotals{r.Name, rc.delivered.Load(), rc.dropped.Load(), rc.bytes.Load()})
	}
	return t
}
