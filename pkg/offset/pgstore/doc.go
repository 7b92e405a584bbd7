// Package pgstore keeps checkpoints in a table of the database whose slot they
// are about, so that they follow it to a standby that is promoted.
//
// The table is no queue and no lock: one row a slot, written every few seconds
// by a stream that may have lost its place meanwhile. So each write carries the
// conditions under which it is right, and is dropped, not failed, where they do
// not hold: on another system, on another timeline than the stream's, on a
// standby.
package pgstore
