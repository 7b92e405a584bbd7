package main

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Shares of the whole length, in percent.
const (
	partCalm  = 35
	partDown  = 5 // between kill -9 and the restart
	partAgain = 25
	partQuiet = 20
	partLast  = 15
)

// acts are what there is to see. They end early, without an error, when playing
// ends; live is the life of connector and consumer.
func (d *demo) acts(playing, live context.Context) error {
	for _, act := range []func(playing, live context.Context) error{d.calmAct, d.killAct, d.quietAct, d.lastAct} {
		if over(playing) {
			break
		}
		if err := act(playing, live); err != nil {
			return err
		}
	}
	return nil
}

func over(ctx context.Context) bool { return ctx.Err() != nil }

func (d *demo) calmAct(playing, _ context.Context) error {
	d.screen.chapter("3. Writers: business rows and events in one transaction")
	d.screen.say("%d writers on the same %d orders: commits, rollbacks, savepoints,", writers, orderCount)
	d.screen.say("statements of %d rows, updates and deletes of outbox rows", bulk)
	d.consumer.show(4)
	return d.writeFor(playing, d.opts.part(partCalm))
}

func (d *demo) lastAct(playing, _ context.Context) error {
	d.screen.chapter("6. Writers again")
	d.consumer.show(1)
	return d.writeFor(playing, d.opts.part(partLast))
}

func (d *demo) writeFor(playing context.Context, length time.Duration) error {
	ctx, cancel := context.WithTimeout(playing, length)
	defer cancel()
	return write(ctx, d.writers)
}

// killAct kills the connector while the writers write, and starts it again.
func (d *demo) killAct(playing, live context.Context) error {
	d.screen.chapter("4. kill -9 of the connector; the writers go on")
	ctx, cancel := context.WithCancel(playing)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error { return write(ctx, d.writers) })
	g.Go(func() error {
		defer cancel()
		before := d.checker.tally()
		if err := d.connector.kill(); err != nil {
			return err
		}
		d.screen.say("killed; what is committed now waits in the WAL, the slot keeps it")
		pause(ctx, d.opts.part(partDown))
		began := time.Now()
		// Also when the end is wanted: what was written must arrive.
		if err := d.connector.start(live); err != nil {
			return err
		}
		d.screen.say("started again, streaming after %d ms from the confirmed position on", time.Since(began).Milliseconds())
		d.consumer.show(1)
		pause(ctx, d.opts.part(partAgain))
		d.screen.say("%s duplicates: what was stored but not yet confirmed is sent again,", thousands(d.checker.tally().duplicates-before.duplicates))
		d.screen.say("with the same event-id, bytes, key and position")
		return nil
	})
	return g.Wait()
}

// quietAct writes only to a table that is no outbox, and demands that the slot
// moves all the same.
func (d *demo) quietAct(playing, live context.Context) error {
	d.screen.chapter("5. A quiet outbox: only another table is written to")
	before, err := readSlot(live, d.main)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(playing, d.opts.part(partQuiet))
	defer cancel()
	rows, err := viewer(ctx, d.main)
	if err != nil {
		return err
	}
	if err := waitSlot(live, d.main); err != nil {
		return err
	}
	after, err := readSlot(live, d.main)
	if err != nil {
		return err
	}
	d.screen.say("%s rows in another table, no event; the slot moved on from %s to %s,", thousands(int(rows)), before.confirmed, after.confirmed)
	d.screen.say("so that an idle outbox never makes the primary keep WAL")
	return nil
}

// sumUp shows the totals and ends the connector in order.
func (d *demo) sumUp(ctx context.Context) error {
	d.screen.end()
	d.screen.chapter("7. What came out")
	for _, line := range d.consumer.totals() {
		d.screen.say("%s", line)
	}
	t := d.checker.tally()
	d.screen.say("%s duplicates, all equal to the first delivery", thousands(t.duplicates-t.changed))
	d.screen.say("never delivered: %s events that were rolled back, and", thousands(t.rolledBack-t.undead))
	d.screen.say("%s updates and deletes of outbox rows", thousands(int(d.touched.Load())))
	s, err := readSlot(context.WithoutCancel(ctx), d.main)
	if err != nil {
		return err
	}
	d.screen.say("the slot is at %s, %s behind", s.confirmed, size(s.behind))
	began := time.Now()
	if err := d.connector.stop(); err != nil {
		return err
	}
	d.screen.say("SIGTERM: the connector flushed, confirmed and ended with 0 in %d ms", time.Since(began).Milliseconds())
	return nil
}

// worthShowing shortens check's list to its warnings and its last line.
func worthShowing(said string) string {
	var kept []string
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "warn") || i == len(lines)-1 {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
