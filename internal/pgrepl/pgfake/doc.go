// Package pgfake is a scripted walsender for tests: a server that speaks just
// enough of the replication protocol for a client to start streaming, and then
// sends what the test wants, also what no real server would.
package pgfake
