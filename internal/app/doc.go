// Package app wires the parts of each command together. It is the only place
// that knows every sink.
package app
