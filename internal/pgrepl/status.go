package pgrepl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// statusLen is the length of a standby status update:
// 'r', int64 written, int64 flushed, int64 applied, int64 time, byte reply.
const statusLen = 34

// Status is a standby status update. The server moves the slot to Flush and
// trusts it without any check. A Flush of 0 confirms nothing.
type Status struct {
	// Write is the highest WAL end received.
	Write decoder.LSN
	// Flush is the position up to which everything is stored.
	Flush decoder.LSN
	// Reply asks the server for a keepalive at once.
	Reply bool
}

// appendStatus appends the CopyData message that carries st. All three
// positions are explicit: apply is flush, and none stands in for another.
// (Manual: Streaming Replication Protocol, Standby status update.)
func appendStatus(b []byte, st Status, now time.Time) []byte {
	b = append(b, 'd')
	b = binary.BigEndian.AppendUint32(b, 4+statusLen)
	b = append(b, 'r')
	b = binary.BigEndian.AppendUint64(b, uint64(st.Write))
	b = binary.BigEndian.AppendUint64(b, uint64(st.Flush))
	b = binary.BigEndian.AppendUint64(b, uint64(st.Flush))
	b = binary.BigEndian.AppendUint64(b, uint64(now.Sub(pgEpoch).Microseconds())) //nolint:gosec // signed on the wire
	if st.Reply {
		return append(b, 1)
	}
	return append(b, 0)
}

// writeTimeout bounds one status; the walsender reads them even while it waits
// for us to take its data, so a longer wait means that it is gone.
const writeTimeout = 10 * time.Second

// SendStatus writes a status update. An error ends the stream: after a write
// that timed out a TLS connection can't be used any more.
func (s *Stream) SendStatus(st Status) error {
	now := time.Now()
	if err := s.write(appendStatus(s.out[:0], st, now), now.Add(writeTimeout)); err != nil {
		return fmt.Errorf("send a status to the server: %w", err)
	}
	return nil
}

func (s *Stream) write(b []byte, deadline time.Time) error {
	if err := s.conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	_, err := s.conn.Write(b)
	return err
}

// Finish sends the last status, waits until the server has taken it, at most
// until the deadline, and closes the connection. What arrives meanwhile is
// thrown away: it will be sent again.
func (s *Stream) Finish(st Status, deadline time.Time) error {
	defer s.Close()
	now := time.Now()
	last := append(appendStatus(s.out[:0], st, now), 'c', 0, 0, 0, 4) // CopyDone
	if err := s.write(last, earlier(deadline, now.Add(writeTimeout))); err != nil {
		return fmt.Errorf("send the last status to the server: %w", err)
	}
	if err := s.awaitDone(deadline); err != nil {
		return fmt.Errorf("wait for the server to take the last status: %w", err)
	}
	// Without a good-bye (Terminate) the server would log a lost connection;
	// the status is safe either way.
	_ = s.write([]byte{'X', 0, 0, 0, 4}, deadline)
	return nil
}

// finishRead is for how long awaitDone reads before it holds the server up.
const finishRead = 50 * time.Millisecond

// awaitDone reads until the server's CopyDone. The server reads in order, so
// this proves that it has the status before ours. A keepalive proves nothing:
// it may have been on its way before.
//
// A walsender that is never held up while it sends a large transaction looks
// for statuses only after half of wal_sender_timeout. So when data keeps coming
// we stop reading, for longer each time, until the connection is full.
func (s *Stream) awaitDone(deadline time.Time) error {
	for hold := finishRead; ; hold *= 2 {
		began := time.Now()
		// An Interrupt that comes late may cut a read short.
		for until := earlier(deadline, began.Add(finishRead)); time.Now().Before(until); {
			if _, err := s.Next(until); errors.Is(err, ErrServerDone) {
				return nil
			} else if err != nil {
				return err
			}
		}
		left := time.Until(deadline)
		if left <= 0 {
			return ErrSilent
		}
		if s.received.After(began) {
			<-time.After(min(hold, left/2))
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Close drops the connection. The server frees the slot at once.
func (s *Stream) Close() { _ = s.conn.Close() }
