// Package monitor looks at the replication slot over an ordinary connection of
// its own. It works while the stream is blocked, and when there is no stream:
// what holds WAL on the primary is seen whatever the reason is.
package monitor
