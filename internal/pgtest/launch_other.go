//go:build !linux

package pgtest

import "syscall"

// childAttr puts the child into a process group of its own. There is no signal
// at the death of the parent here: a killed test leaves its server running.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
