package testserver

import (
	"os/exec"
	"runtime"
)

// Process is a started child and the news of its end.
type Process struct {
	PID  int
	Done chan struct{} // closed when the child has ended; only StartProcess may close it
}

// StartProcess starts cmd from a thread that lives as long as the child: the
// kernel ties the parent-death signal to the thread, and the Go runtime ends
// idle threads of locked goroutines.
func StartProcess(cmd *exec.Cmd) (*Process, error) {
	p := &Process{Done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.PID = cmd.Process.Pid
		started <- nil
		_ = cmd.Wait() // how it ended is in its log
		close(p.Done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// Ended says whether the child has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.Done:
		return true
	default:
		return false
	}
}
