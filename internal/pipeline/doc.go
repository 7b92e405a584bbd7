// Package pipeline moves rows from the replication stream to the sinks, and one
// LSN back.
//
// Two goroutines do the work. The reader owns the replication connection: it
// reads, decodes, routes and formats, opens and seals the ledger's entries, and
// writes every status update. The sender hands records to the sinks. Between
// them lies a channel of spans; when it is full, or the window of the ledger
// is, the reader waits for room or for the next status to be due, whichever is
// first, so that a blocked sink never costs the session.
//
// The package knows no sink by name.
package pipeline
