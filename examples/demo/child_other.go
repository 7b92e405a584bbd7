//go:build !linux

package main

import "syscall"

// childAttr keeps Ctrl-C from the child, which is ended in order.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
