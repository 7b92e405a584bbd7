package pipeline

import (
	"errors"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// counters are written by the reader and the results, and read by anyone.
type counters struct {
	ignoredOps   atomic.Int64
	otherTable   atomic.Int64
	transactions atomic.Int64
	skipped      atomic.Int64                        // events without a route
	delivered    atomic.Int64                        // records, over all routes
	blocked      atomic.Int64                        // nanoseconds that the reader waited for room
	sessions     [len(outcomes)]atomic.Int64         // by outcome
	tables       map[decoder.TableName]*atomic.Int64 // rows on configured tables
	routes       []routeCounters
}

type routeCounters struct {
	delivered []atomic.Int64 // by kind of sink
	dropped   atomic.Int64
	skipped   atomic.Int64
	bytes     atomic.Int64
}

// Outcomes of a session.
const (
	outcomeStopped = iota
	outcomeLost
	outcomeTimeout
	outcomeShutdown
	outcomeError
)

var outcomes = [...]string{
	outcomeStopped: "stopped", outcomeLost: "lost", outcomeTimeout: "timeout",
	outcomeShutdown: "server_shutdown", outcomeError: "error",
}

// outcomeOf sorts the end of a session.
func outcomeOf(err error) int {
	var server *pgconn.PgError
	var hold *HoldError
	var protocol *pgrepl.ProtocolError
	switch {
	case errors.Is(err, errStopping), errors.Is(err, errSinkFailed):
		return outcomeStopped
	case errors.Is(err, pgrepl.ErrSilent):
		return outcomeTimeout
	case errors.As(err, &server) && strings.HasPrefix(server.Code, "57P"), errors.Is(err, pgrepl.ErrServerDone):
		return outcomeShutdown
	case errors.As(err, &server), errors.As(err, &hold), errors.As(err, &protocol), errors.Is(err, errResume), errors.Is(err, errLedger):
		return outcomeError
	}
	return outcomeLost
}

// Totals are counts since the process started.
type Totals struct {
	IgnoredOps, OtherTable, Transactions int64
	Skipped                              int64   // events without a route; see RouteTotals
	Tables                               []Count // rows on configured tables
	Sessions                             []Count // ended sessions by outcome
	Routes                               []RouteTotals
}

// Count is a number with its label.
type Count struct {
	Name string
	N    int64
}

// RouteTotals are the counts of one rule.
type RouteTotals struct {
	Name           string
	Delivered      []Count // records by kind of sink
	Dropped, Bytes int64
	Skipped        int64 // events that the operator gave up
}

// Totals reads the counters. They are not of one moment.
func (p *Pipeline) Totals() Totals {
	c := &p.counters
	t := Totals{IgnoredOps: c.ignoredOps.Load(), OtherTable: c.otherTable.Load(), Transactions: c.transactions.Load(), Skipped: c.skipped.Load()}
	for _, name := range p.cfg.Tables.Names() {
		t.Tables = append(t.Tables, Count{name.String(), c.tables[name].Load()})
	}
	for i, name := range outcomes {
		t.Sessions = append(t.Sessions, Count{name, c.sessions[i].Load()})
	}
	for i, r := range p.cfg.Router.Rules() {
		rc := &c.routes[i]
		rt := RouteTotals{Name: r.Name, Dropped: rc.dropped.Load(), Bytes: rc.bytes.Load(), Skipped: rc.skipped.Load()}
		for j, kind := range p.kinds {
			if n := rc.delivered[j].Load(); n > 0 || r.Uses(kind) {
				rt.Delivered = append(rt.Delivered, Count{kind, n})
			}
		}
		t.Routes = append(t.Routes, rt)
	}
	return t
}

// init makes the counters for tables, rules and kinds of sinks.
func (c *counters) init(tables []decoder.TableName, rules, kinds int) {
	c.tables, c.routes = map[decoder.TableName]*atomic.Int64{}, make([]routeCounters, rules)
	for _, t := range tables {
		c.tables[t] = new(atomic.Int64)
	}
	for i := range c.routes {
		c.routes[i].delivered = make([]atomic.Int64, kinds)
	}
}
