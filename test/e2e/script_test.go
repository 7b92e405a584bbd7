package e2e

import (
	"encoding/binary"
	"net/url"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl/pgfake"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// wire builds pgoutput messages. (Manual: Logical Replication Message Formats.)
type wire []byte

func (w wire) u8(v byte) wire         { return append(w, v) }
func (w wire) u16(v uint16) wire      { return binary.BigEndian.AppendUint16(w, v) }
func (w wire) u32(v uint32) wire      { return binary.BigEndian.AppendUint32(w, v) }
func (w wire) lsn(v decoder.LSN) wire { return binary.BigEndian.AppendUint64(w, uint64(v)) }
func (w wire) str(s string) wire      { return append(append(w, s...), 0) }
func (w wire) text(s string) wire     { return append(w.u8('t').u32(uint32(len(s))), s...) }
func begin(at decoder.LSN) wire       { return wire{'B'}.lsn(at).lsn(0).u32(700) }
func commit(at, end decoder.LSN) wire { return wire{'C'}.u8(0).lsn(at).lsn(end).lsn(0) }
func insertMsg(id string) wire {
	return wire{'I'}.u32(1).u8('N').u16(4).text(id).text("E").text("a").text("{}")
}

// outboxRelation describes app.outbox.
func outboxRelation() wire {
	w := wire{'R'}.u32(1).str("app").str("outbox").u8('d').u16(4)
	for _, column := range []string{"id", "event_type", "partition_key", "payload"} {
		w = w.u8(0).str(column).u32(25).u32(0xffffffff)
	}
	return w
}

// commitLen is how long the commit records of scripts are.
const commitLen = 8

// transaction sends one row, committed at the position.
func transaction(c *pgfake.Conn, at decoder.LSN, id string) {
	for _, msg := range []wire{begin(at), outboxRelation(), insertMsg(id), commit(at, at+commitLen)} {
		c.Data(at, msg)
	}
}

// scripted is a connector whose ordinary connections reach a real server, and
// whose walsender plays a script.
type scripted struct {
	*rig
	c    *connector
	fake *pgfake.Server
	base decoder.LSN // where the slot stands
}

// newScripted starts one. The script gets the slot's position, the number of
// the session, from 0, and what it plays on.
func newScripted(t *testing.T, play func(c *pgfake.Conn, base decoder.LSN, n int)) *scripted {
	t.Helper()
	s := &scripted{rig: newRig(t, nil, 1)}
	p := s.newProxy(t)
	s.base = s.slotNow().confirmed
	s.fake = pgfake.Start(t, pgfake.Options{Database: s.db.Name, Slot: s.base, Play: func(c *pgfake.Conn, n int) { play(c, s.base, n) }})
	u, err := url.Parse(s.fake.URL())
	if err != nil {
		t.Fatal(err)
	}
	p.set(u.Host, nil)
	// The checkpoint's database is not the one of the script.
	s.c = start(t, s.settings.with(settings{
		"OFFSET_STORE": "slot", "DATABASE_URL": s.settings["DATABASE_URL"] + "&target_session_attrs=any",
	}))
	return s
}

// confirmed is the highest position that the walsender was told.
func (s *scripted) confirmed() (flush decoder.LSN) {
	for _, st := range s.fake.Statuses() {
		flush = max(flush, st.Flush)
	}
	return flush
}
