package pgtest

import (
	"os/exec"
	"runtime"
)

// process is a started child and the news of its end.
type process struct {
	pid  int
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has ended; then err may be read
	err  error
}

// startProcess starts cmd from a thread that lives as long as the child: the
// kernel ties the parent-death signal to the thread, and the Go runtime ends
// idle threads of locked goroutines.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// ended says whether the child has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
