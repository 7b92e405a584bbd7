package pgtest

import "syscall"

// childAttr puts the child into a process group of its own, so that Ctrl-C in
// a terminal ends the test first and the server in order, and has the kernel
// send SIGQUIT (for PostgreSQL: an immediate shutdown) when the thread that
// started it ends. That is why process.go keeps that thread.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}
