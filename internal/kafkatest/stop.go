package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// Stop shuts the broker down in order, as an operator does, and waits for its
// end. A broker that is down stays so; one that is frozen does not stop.
func (b *Broker) Stop(ctx context.Context) error { return b.end(ctx, syscall.SIGTERM) }

// Kill is kill -9: what the broker has answered for is in the page cache.
func (b *Broker) Kill(ctx context.Context) error { return b.end(ctx, syscall.SIGKILL) }

// Freeze has the process stand still: its connections stay, and nothing is
// answered until Thaw.
func (b *Broker) Freeze() error { return b.signal(syscall.SIGSTOP) }

// Thaw has a frozen process go on.
func (b *Broker) Thaw() error { return b.signal(syscall.SIGCONT) }

// Start starts a broker again that was stopped or killed, with the same data
// and ports. A broker that is up is left alone.
func (b *Broker) Start(ctx context.Context) error {
	if b.running() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return testserver.Poll(ctx, func() (bool, error) {
		err := b.launch(ctx)
		if errors.Is(err, errPortTaken) {
			return false, nil // whoever took it may give it back
		}
		return err == nil, err
	})
}

func (b *Broker) signal(sig syscall.Signal) error {
	proc := b.running()
	if proc == nil {
		return errors.New("the broker is down")
	}
	if err := syscall.Kill(proc.PID, sig); err != nil {
		return fmt.Errorf("send %v to Kafka: %w", sig, err)
	}
	return nil
}

// end sends a signal and waits until the process has ended.
func (b *Broker) end(ctx context.Context, sig syscall.Signal) error {
	proc := b.running()
	if proc == nil {
		return nil
	}
	if err := syscall.Kill(proc.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %v to Kafka: %w", sig, err)
	}
	select {
	case <-proc.Done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("kafka %s has not stopped: %w", version, context.Cause(ctx))
	}
}
