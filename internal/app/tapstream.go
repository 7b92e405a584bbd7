package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/stdout"
)

const (
	// tapGoodbye bounds the last exchange with the server.
	tapGoodbye = 2 * time.Second
	// tapReplyPace is the shortest time between two answers: a server that
	// shuts down asks again after each.
	tapReplyPace = 100 * time.Millisecond
	// tapRoom is what routing and formatting add to a row, as a rule.
	tapRoom = 512
)

// tap reads one stream and shows it. It belongs to one goroutine, which also
// writes: while the terminal blocks nothing is read, the server ends the
// session after its timeout, and the slot goes with it.
type tap struct {
	opts    TapOptions
	rules   *router.Router
	formats map[string]pipeline.Formatter
	dec     *decoder.Decoder
	out     *bufio.Writer
	notes   io.Writer

	src  pipeline.Source
	due  time.Time // of the next status
	sent time.Time // when the last one went out
	end  decoder.LSN
	done decoder.LSN // what the tap's own slot may let go

	event    decoder.Event
	decision router.Decision
	arena    []byte
	line     []byte

	events, records, dropped, refused int
}

func newTap(formats map[string]pipeline.Formatter, rules *router.Router, dec *decoder.Decoder, opts TapOptions, out, notes io.Writer) *tap {
	return &tap{
		opts: opts, rules: rules, formats: formats, dec: dec,
		out: bufio.NewWriter(out), notes: notes,
	}
}

// run shows the stream until ctx ends or the limit is reached, and closes it.
func (t *tap) run(ctx context.Context, src pipeline.Source, timeout time.Duration) error {
	t.src = src
	stop := context.AfterFunc(ctx, src.Interrupt)
	defer stop()
	for ctx.Err() == nil && !t.full() {
		if err := t.step(timeout); err != nil {
			src.Close()
			return err
		}
	}
	if err := t.out.Flush(); err != nil {
		src.Close()
		return fmt.Errorf("write records: %w", err)
	}
	// The good-bye only spares the server's log a line: the slot goes either way.
	_ = src.Finish(pgrepl.Status{Write: t.end, Flush: t.done}, time.Now().Add(tapGoodbye))
	return nil
}

func (t *tap) full() bool { return t.opts.Limit > 0 && t.records >= t.opts.Limit }

// step takes one frame, and sends the status that is due.
func (t *tap) step(timeout time.Duration) error {
	if !t.src.Buffered() {
		if err := t.out.Flush(); err != nil {
			return fmt.Errorf("write records: %w", err)
		}
	}
	if now := time.Now(); !now.Before(t.due) {
		if err := t.src.SendStatus(pgrepl.Status{Write: max(t.end, t.done), Flush: t.done, Reply: true}); err != nil {
			return err
		}
		t.sent, t.due = now, now.Add(timeout/3)
	}
	f, err := t.src.Next(t.due)
	if err != nil {
		return err
	}
	if f.Kind == pgrepl.FrameNone && time.Since(t.src.Received()) > timeout {
		return fmt.Errorf("%w of %v", pgrepl.ErrSilent, timeout)
	}
	return t.frame(&f)
}

func (t *tap) frame(f *pgrepl.Frame) error {
	switch f.Kind {
	case pgrepl.FrameData:
		return t.data(f.Data)
	case pgrepl.FrameTooLarge:
		return t.oversized(f)
	case pgrepl.FrameKeepalive:
		t.end = max(t.end, f.WALEnd)
		if !t.dec.InTx() {
			t.done = max(t.done, f.WALEnd)
		}
		if answer := t.sent.Add(tapReplyPace); f.ReplyRequested && answer.Before(t.due) {
			t.due = answer
		}
	case pgrepl.FrameNotice:
		// All that PostgreSQL 18 says about a missing publication.
		if n := f.Notice; n.SeverityUnlocalized == "WARNING" && n.Code == "55000" {
			return fmt.Errorf("the server can't load the publication: %s; run outbox-cdc check", n.Message)
		}
		return t.note("the server says: %.128q (SQLSTATE %s)", f.Notice.Message, f.Notice.Code)
	case pgrepl.FrameNone:
	}
	return nil
}

func (t *tap) data(msg []byte) error {
	if cap(t.arena) < len(msg)+tapRoom {
		t.arena = make([]byte, 0, 2*len(msg)+tapRoom)
	}
	arena, out, err := t.dec.Decode(msg, t.arena[:0], &t.event)
	if err != nil {
		return err
	}
	switch out {
	case decoder.OutcomeEvent:
		return t.show(arena)
	case decoder.OutcomeCommit:
		_, end, _ := t.dec.LastCommit()
		t.end, t.done = max(t.end, end), max(t.done, end)
	case decoder.OutcomeBegin, decoder.OutcomeOtherTable, decoder.OutcomeIgnoredOp, decoder.OutcomeRelation, decoder.OutcomeIgnored:
	}
	return nil
}

// show writes the event's records. One that a stream would halt at is told, and
// passed over.
func (t *tap) show(arena []byte) error {
	t.events++
	ev, d := &t.event, &t.decision
	arena, err := t.rules.Route(ev, d, arena)
	if err != nil {
		return t.refuse(err)
	}
	if len(d.Targets) == 0 {
		t.dropped++
		return nil
	}
	var rec sink.Record
	if _, err = t.formats[t.decision.Rule.Format].Append(&rec, ev, arena); err != nil {
		return t.refuse(err)
	}
	rec.Key = d.Key
	for _, to := range d.Targets {
		if t.full() {
			return nil
		}
		rec.Destination = to.Sink
		if to.Destination != "" {
			rec.Destination += ":" + to.Destination
		}
		t.line = stdout.AppendLine(t.line[:0], d.Rule.Name, &rec)
		if _, err := t.out.Write(t.line); err != nil {
			return fmt.Errorf("write records: %w", err)
		}
		t.records++
	}
	return nil
}

// refuse tells of an event that can't be delivered.
func (t *tap) refuse(err error) error {
	ev := &t.event
	if _, ok := errors.AsType[*sink.Error](err); !ok {
		return fmt.Errorf("route the event at %v: %w", ev.Position, err)
	}
	t.refused++
	return t.note("event %.128q at %v can't be delivered, the stream would halt: %v", ev.Field(decoder.RoleID), ev.Position, err)
}

// oversized tells of a row that was too large to read.
func (t *tap) oversized(f *pgrepl.Frame) error {
	ev, err := t.dec.Oversized(f.Data)
	if err != nil || ev == nil {
		return err
	}
	t.events++
	t.refused++
	return t.note("a row of table %v at %v is %d bytes long, above OUTBOX_CDC_MAX_EVENT_BYTES: the stream would halt", ev.Table.Name, ev.Position, f.Size)
}

// note writes a line that is no record, after those that came before it.
func (t *tap) note(text string, args ...any) error {
	if err := t.out.Flush(); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	_, err := fmt.Fprintf(t.notes, "tap: "+text+"\n", args...)
	return err
}

func (t *tap) summary() error {
	return t.note("%d records of %d events; %d events dropped by a rule, %d that can't be delivered",
		t.records, t.events, t.dropped, t.refused)
}
