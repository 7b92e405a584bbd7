// Package statusview is the other side of /status: it asks a running connector,
// shows the answer to a person, and waits until everything is delivered.
package statusview
