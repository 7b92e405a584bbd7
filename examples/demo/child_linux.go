package main

import "syscall"

// childAttr keeps Ctrl-C from the child, which is ended in order, and has the
// kernel kill it when the thread that started it ends.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
