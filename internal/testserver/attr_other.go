//go:build !linux

package testserver

import "syscall"

// ChildAttr puts the child into a process group of its own. There is no signal
// at the death of the parent here: a killed test leaves its server running.
func ChildAttr(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
