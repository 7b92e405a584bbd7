package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// lookEvery is the time between two looks at slot and books.
const lookEvery = 500 * time.Millisecond

// slot is where the server's slot stands.
type slot struct {
	confirmed string
	behind    int64 // bytes of WAL from there to the server's insert position
	active    bool
}

func readSlot(ctx context.Context, conn *pgx.Conn) (slot, error) {
	var s slot
	err := conn.QueryRow(ctx, lookAtSlot, slotName).Scan(&s.confirmed, &s.behind, &s.active)
	if err != nil {
		return s, fmt.Errorf("look at the slot: %w", err)
	}
	return s, nil
}

// monitor shows slot and totals until ctx ends, and notices a connector that
// has ended by itself.
type monitor struct {
	conn      *pgx.Conn
	checker   *checker
	connector *connector
	screen    *screen
}

func (m *monitor) run(ctx context.Context) error {
	began := time.Now()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := m.connector.fault(); err != nil {
			return err
		}
		s, err := readSlot(ctx, m.conn)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		m.screen.progress(progress(time.Since(began), s, m.checker.tally()))
	}
}

func progress(since time.Duration, s slot, t tally) string {
	state := "streaming"
	if !s.active {
		state = "connector down"
	}
	return fmt.Sprintf("%3d s  sent %s  received %s  dup %s  slot %s, %s behind, %s",
		int(since.Seconds()), thousands(t.sent), thousands(t.received), thousands(t.duplicates),
		s.confirmed, size(s.behind), state)
}

// viewer writes to a table that is no outbox until ctx ends.
func viewer(ctx context.Context, conn *pgx.Conn) (rows int64, err error) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return rows, nil
		case <-tick.C:
		}
		done, err := conn.Exec(context.WithoutCancel(ctx), viewPages)
		if err != nil {
			return rows, fmt.Errorf("write page views: %w", err)
		}
		rows += done.RowsAffected()
	}
}

var errSlotStuck = errors.New("the slot did not move past what another table wrote")

// waitSlot waits until the slot is past everything that is written now.
func waitSlot(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleLimit, errSlotStuck)
	defer cancel()
	var end string
	if err := conn.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn()::text").Scan(&end); err != nil {
		return fmt.Errorf("ask for the end of the WAL: %w", err)
	}
	return poll(ctx, "the slot", func() (yes bool, err error) {
		err = conn.QueryRow(ctx, slotPassed, slotName, end).Scan(&yes)
		return yes, err
	})
}
