// Package router decides where an outbox event goes: it reads the rules of
// docs/routing.md, compiles them, and for each event gives the partition key
// and the destinations.
//
// It is pure: no I/O, clock, logger or goroutine, and it knows no sink's
// client. Parsing reports every fault of the rules at once, each with line,
// column and what to write instead.
package router
