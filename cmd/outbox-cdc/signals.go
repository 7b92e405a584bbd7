package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that ends with the first SIGINT or SIGTERM, for
// an orderly stop. The second ends the process at once, as if nobody had asked
// for signals, however soon it comes: signal.NotifyContext would swallow it
// until its stop has been called. release gives the signals back.
func untilSignal(parent context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(parent)
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM)
	released := make(chan struct{})
	go func() {
		for _, act := range []func(os.Signal){func(os.Signal) { cancel() }, die} {
			select {
			case sig := <-caught:
				act(sig)
			case <-released:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		close(released)
		cancel()
	}
}

// die ends the process by the signal. Should it not arrive, the next one does.
func die(sig os.Signal) {
	signal.Reset(sig)
	if number, ok := sig.(syscall.Signal); ok {
		_ = syscall.Kill(os.Getpid(), number)
	}
}
