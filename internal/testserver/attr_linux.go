package testserver

import "syscall"

// ChildAttr puts the child into a process group of its own, so that Ctrl-C in
// a terminal ends the test first and the server in order, and has the kernel
// send it the signal atDeath when the thread that started it ends. That is why
// StartProcess keeps that thread.
func ChildAttr(atDeath syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: atDeath}
}
