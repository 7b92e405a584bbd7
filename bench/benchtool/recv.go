package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// recv reads n rows from the slot and throws them away: what a connector in Go
// cannot cost less than.
func recv(ctx context.Context, args []string, out io.Writer) error {
	w := &watcher{pids: pids{}}
	f := newFlags("recv")
	w.slotFlags.register(f)
	f.Int64Var(&w.n, "n", 0, "rows to read")
	ctx, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	if w.sender, err = dialWalsender(ctx, w.slotFlags); err != nil {
		return err
	}
	defer w.sender.close(ctx)
	w.start = time.Now()
	start := w.atStart()
	conn, err := w.replicate(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Conn().Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Conn().Close() })()
	var first reading
	var rows int64
	err = readInserts(conn, func([]byte) bool {
		rows++
		if rows == 1 {
			first = w.take(ctx, 1)
		}
		return rows < w.n
	})
	if err != nil {
		return fmt.Errorf("after %d of %d rows: %w", rows, w.n, err)
	}
	result := own(start, first, w.take(ctx, rows))
	result.PeakRSS = map[string]int64{"connector": peakRSS(os.Getpid())}
	return emit(out, result)
}
