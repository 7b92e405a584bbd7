package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	writers = 4
	// pace is the time between two transactions of a writer.
	pace = 20 * time.Millisecond
	// bulk is the number of events in one statement.
	bulk = 50
	// remembered bounds the ids of own events that a writer marks as sent.
	remembered = 20
)

// writer is one session of the application.
type writer struct {
	number  int
	conn    *pgx.Conn
	checker *checker
	touched *atomic.Int64 // updates and deletes of outbox rows

	step   int
	recent []string // ids of own events that are still "NEW"
}

// write lets all writers work until ctx ends. Transactions are finished, not
// broken off.
func write(ctx context.Context, all []*writer) error {
	var g errgroup.Group
	for _, w := range all {
		g.Go(func() error { return w.run(ctx) })
	}
	return g.Wait()
}

func (w *writer) run(ctx context.Context) error {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := w.transact(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("writer %d: %w", w.number, err)
		}
		w.step++
	}
}

// transact is the next of a fixed round of transactions.
func (w *writer) transact(ctx context.Context) error {
	order := int64((w.step*5+w.number*7)%orderCount + 1)
	switch w.step % 8 {
	case 2:
		return w.abandoned(ctx, order)
	case 3:
		return w.secondThoughts(ctx, order)
	case 5:
		return w.polled(ctx)
	case 7:
		if w.step%32 == 7 {
			return w.commit(ctx, func(t *transaction) error { return t.order(ctx, order, "split", bulk) })
		}
	}
	return w.commit(ctx, func(t *transaction) error {
		return errors.Join(t.order(ctx, order, "paid", 1), t.payment(ctx, order, "captured"))
	})
}

// commit writes the events and the business rows together.
func (w *writer) commit(ctx context.Context, body func(*transaction) error) error {
	t := &transaction{}
	err := pgx.BeginFunc(ctx, w.conn, func(tx pgx.Tx) error {
		t.tx = tx
		return body(t)
	})
	if err != nil {
		return err
	}
	w.checker.commit(t.written)
	w.checker.rollBack(t.undone)
	for _, e := range t.written[:min(len(t.written), remembered)] {
		w.recent = append(w.recent, e.id)
	}
	return nil
}

var errChangedMind = errors.New("changed my mind")

// abandoned writes events and rolls everything back.
func (w *writer) abandoned(ctx context.Context, order int64) error {
	t := &transaction{}
	err := pgx.BeginFunc(ctx, w.conn, func(tx pgx.Tx) error {
		t.tx = tx
		return errors.Join(t.order(ctx, order, "cancelled", 1), t.payment(ctx, order, "refunded"), errChangedMind)
	})
	// Joined errors hide nothing: a lone errChangedMind has no other beside it.
	if len(t.written) != 2 {
		return err
	}
	w.checker.rollBack(t.written)
	return nil
}

// secondThoughts keeps the events before and after a savepoint, and rolls back
// those behind it.
func (w *writer) secondThoughts(ctx context.Context, order int64) error {
	return w.commit(ctx, func(t *transaction) error {
		if err := t.order(ctx, order, "packed", 1); err != nil {
			return err
		}
		inner, err := t.tx.Begin(ctx) // SAVEPOINT
		if err != nil {
			return err
		}
		behind := &transaction{tx: inner}
		if err := errors.Join(behind.order(ctx, order, "returned", 1), behind.payment(ctx, order, "refunded")); err != nil {
			return err
		}
		if err := inner.Rollback(ctx); err != nil {
			return err
		}
		t.undone = behind.written
		return t.order(ctx, order, "shipped", 1)
	})
}

// polled does to own rows what a polling relay does: marks them, and removes
// half of them.
func (w *writer) polled(ctx context.Context) error {
	marked, err := w.conn.Exec(ctx, markSent, w.recent)
	if err != nil {
		return err
	}
	removed, err := w.conn.Exec(ctx, cleanUp, w.recent[:len(w.recent)/2])
	if err != nil {
		return err
	}
	w.touched.Add(marked.RowsAffected() + removed.RowsAffected())
	w.recent = w.recent[:0]
	return nil
}

// transaction collects the events that are written in it.
type transaction struct {
	tx      pgx.Tx
	written []event
	undone  []event // rolled back to a savepoint
}

func (t *transaction) order(ctx context.Context, id int64, status string, n int) error {
	return t.emit(ctx, ordersTopic, emitOrders, id, status, n)
}

func (t *transaction) payment(ctx context.Context, id int64, status string) error {
	return t.emit(ctx, paymentsTopic, emitPayments, id, status, 1)
}

func (t *transaction) emit(ctx context.Context, topic, statement string, id int64, status string, n int) error {
	ids := make([][16]byte, n)
	for i := range ids {
		_, _ = rand.Read(ids[i][:]) // never fails
	}
	rows, err := t.tx.Query(ctx, statement, id, status, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e := event{topic: topic}
		if err := rows.Scan(&e.id, &e.key, &e.seq); err != nil {
			return err
		}
		t.written = append(t.written, e)
	}
	return rows.Err()
}
