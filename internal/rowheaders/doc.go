// Package rowheaders reads the headers column of an outbox row: a JSON object
// whose members become message headers.
//
// Members come out in the server's order and duplicate names are kept, neither
// of which a map can do. The package is pure and keeps no state between rows.
package rowheaders
