package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// watcher follows one drain from outside.
type watcher struct {
	kafkaFlags
	slotFlags
	pids pids

	n      int64
	start  time.Time
	poll   time.Duration
	settle time.Duration

	sender *walsender
}

// watch follows a connector until the topic holds n records, or a program
// without a sink until it ends, and tells what that took.
func watch(ctx context.Context, args []string, out io.Writer) error {
	w := &watcher{pids: pids{}}
	f := newFlags("watch")
	w.kafkaFlags.register(f)
	w.slotFlags.register(f)
	w.pids.register(f)
	f.Int64Var(&w.n, "n", 0, "records to wait for")
	f.DurationVar(&w.poll, "poll", 20*time.Millisecond, "time between two looks")
	f.DurationVar(&w.settle, "settle", 0, "afterwards, wait until the topic stood still for this long")
	start := f.Int64("t0", 0, "when the connector was started, in nanoseconds since 1970; now if 0")
	untilExit := f.Bool("until-exit", false, "wait for the process named connector to end, not for records")
	ctx, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	w.start = time.Now()
	if *start != 0 {
		w.start = time.Unix(0, *start)
	}
	if w.sender, err = dialWalsender(ctx, w.slotFlags); err != nil {
		return err
	}
	defer w.sender.close(ctx)
	if *untilExit {
		return w.exit(ctx, out)
	}
	client, admin, err := w.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	return w.topicFull(ctx, admin, out)
}

// take reads the CPU time of everything.
func (w *watcher) take(ctx context.Context, records int64) reading {
	cpu := map[string]int64{"walsender": w.sender.ms(ctx, true), "watcher": ownMS()}
	for name, pid := range w.pids {
		cpu[name], _ = cpuMS(pid)
	}
	return reading{at: time.Now(), records: records, cpu: cpu}
}

// atStart is the reading that CPU is counted from. The broker and the watcher
// ran before; the connector and its walsender did not.
func (w *watcher) atStart() reading {
	r := reading{at: w.start, cpu: map[string]int64{"watcher": ownMS()}}
	if pid, ok := w.pids["broker"]; ok {
		r.cpu["broker"], _ = cpuMS(pid)
	}
	return r
}

func (w *watcher) topicFull(ctx context.Context, admin *kadm.Client, out io.Writer) error {
	start := w.atStart()
	var first, done reading
	var last int64
	moved := time.Now()
	for {
		records, err := w.records(ctx, admin)
		if err != nil {
			return err
		}
		if records != last {
			last, moved = records, time.Now()
		}
		if records > 0 && first.records == 0 {
			first = w.take(ctx, records)
		}
		if records >= w.n && done.records == 0 {
			done = w.take(ctx, records)
		}
		if done.records > 0 && time.Since(moved) >= w.settle {
			break
		}
		if pid, ok := w.pids["connector"]; ok && gone(pid) {
			return fmt.Errorf("the connector ended at %d of %d records", records, w.n)
		}
		if pause(ctx, w.poll) != nil {
			return fmt.Errorf("time is up at %d of %d records", records, w.n)
		}
	}
	// What came after the n-th record is a replay; the drain ends with it.
	if last > done.records {
		done = w.take(ctx, last)
		done.at = moved
	}
	result := newDrain(start, first, done)
	result.PeakRSS = map[string]int64{}
	for name, pid := range w.pids {
		result.PeakRSS[name] = peakRSS(pid)
	}
	return emit(out, result)
}

// exit follows a program that reads the slot to its end and stops. /proc forgets
// a process with its end, so its last readings count: they miss a few
// milliseconds.
func (w *watcher) exit(ctx context.Context, out io.Writer) error {
	const look = 5 * time.Millisecond
	start := w.atStart()
	last := reading{cpu: map[string]int64{}}
	peaks := map[string]int64{}
	for {
		for name, pid := range w.pids {
			if ms, running := cpuMS(pid); running {
				last.cpu[name] = ms
				peaks[name] = max(peaks[name], peakRSS(pid))
			}
		}
		last.cpu["walsender"] = w.sender.ms(ctx, false)
		if gone(w.pids["connector"]) {
			break
		}
		if pause(ctx, look) != nil {
			return fmt.Errorf("the program did not end in time: %w", ctx.Err())
		}
	}
	last.at, last.records = time.Now(), w.n
	result := newDrain(start, start, last)
	// Nobody saw its first record.
	result.FirstToDone, result.RateStream, result.CostStream, result.CPUStream = 0, 0, 0, nil
	result.PeakRSS = peaks
	return emit(out, result)
}
