// Package pgrepl owns the replication connection: it starts a logical
// replication session, reads its frames from a socket of its own, and writes
// every standby status update.
//
// Session set-up goes through pgconn and pglogrepl; once the server streams,
// the socket is taken over and read directly, because the hot path must
// neither allocate nor copy a message.
package pgrepl
