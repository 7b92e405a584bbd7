// Package decoder turns pgoutput messages, as PostgreSQL 14 to 18 send them
// at protocol version 1 without streaming, into the INSERTs of outbox tables.
//
// Parse reads one message. A Decoder reads the messages of one replication
// session in their order: it keeps the relations, numbers the rows of each
// transaction and refuses whatever does not fit, since a message that is
// skipped is an event that is lost. Tables says which relations are outbox
// tables and which of their columns mean what.
//
// The package is pure: no I/O, no clock, no logger, no goroutine. Decoding a
// row allocates nothing; its bytes are copied once, into the caller's arena.
// No error text holds a row's data.
package decoder
