// Package format turns an event into what a sink sends: value and headers.
//
// It is pure: no I/O, clock, logger or goroutine, and it knows no sink's
// client. The bytes of every format are described in docs/formats.md. Where a
// record goes and with which key is the router's matter, not a format's.
package format
