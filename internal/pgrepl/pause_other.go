//go:build !linux

package pgrepl

import "time"

// pause waits for a very short time.
func pause(d time.Duration) { <-time.After(d) }
