// Package offset keeps the one value that must never be wrong: the LSN up to
// which everything has been stored by its destination.
//
// The Ledger is pure: no I/O, no clock, no goroutine. It is meant to be usable
// by any program that reads a logical slot.
package offset
