package pgrepl

import (
	"syscall"
	"time"
)

// pause waits for a very short time. The runtime's timers can't do that: an
// idle process waits for them in epoll, whose unit is the millisecond.
func pause(d time.Duration) {
	ts := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&ts, nil)
}
