package pgrepl

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// FrameKind says what Next returned.
type FrameKind uint8

const (
	// FrameNone is sent by nobody: the deadline passed, or Interrupt was called;
	// there may be part of a message.
	FrameNone FrameKind = iota + 1
	// FrameData is one pgoutput message.
	FrameData
	// FrameKeepalive is a primary keepalive message.
	FrameKeepalive
	// FrameTooLarge is a pgoutput message above the limit; Data is its beginning.
	FrameTooLarge
	// FrameNotice is a warning or the like from the server.
	FrameNotice
)

// Frame is one thing that the server sent. Its bytes are valid until the next
// call of Next.
type Frame struct {
	Kind FrameKind
	// Data is the pgoutput message.
	Data []byte
	// WALEnd is the end of WAL that the message names. In a FrameData it is
	// the change's own LSN or 0 and says nothing about progress.
	WALEnd decoder.LSN
	// ReplyRequested: the server wants a status at once (FrameKeepalive).
	ReplyRequested bool
	// Size is the whole message's length (FrameTooLarge).
	Size int
	// Notice is set in a FrameNotice.
	Notice *pgconn.Notice
}

// Lengths of the parts of the wire format, in bytes.
// (Manual: Message Formats; Streaming Replication Protocol.)
const (
	msgHeader    = 5  // type byte, int32 length that counts itself
	xlogHeader   = 25 // 'w', int64 start, int64 end, int64 send time
	keepaliveLen = 18 // 'k', int64 end, int64 send time, byte reply requested
	// headKept is how much of a message above the limit is kept.
	headKept = 64 << 10
	// controlMax bounds every message that is not CopyData.
	controlMax = 1 << 20
	// copyDataMax bounds CopyData: the server builds it in one allocation,
	// which is below 1 GiB. (PostgreSQL's MaxAllocSize.)
	copyDataMax = 1<<30 - 1

	typeParameterStatus = 'S'
)

// pgEpoch is the zero of the protocol's timestamps.
var pgEpoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// parseCopyData reads the body of one CopyData message.
func parseCopyData(body []byte) (Frame, error) {
	if len(body) == 0 {
		return Frame{}, &ProtocolError{'d', "empty CopyData"}
	}
	switch body[0] {
	case 'w':
		if len(body) <= xlogHeader {
			return Frame{}, &ProtocolError{'w', fmt.Sprintf("%d bytes are too short", len(body))}
		}
		return Frame{Kind: FrameData, Data: body[xlogHeader:], WALEnd: decoder.LSN(binary.BigEndian.Uint64(body[9:]))}, nil
	case 'k':
		if len(body) != keepaliveLen {
			return Frame{}, &ProtocolError{'k', fmt.Sprintf("%d bytes instead of %d", len(body), keepaliveLen)}
		}
		return Frame{Kind: FrameKeepalive, WALEnd: decoder.LSN(binary.BigEndian.Uint64(body[1:])), ReplyRequested: body[17] != 0}, nil
	}
	return Frame{}, &ProtocolError{body[0], "unknown kind of CopyData"}
}

// parseControl reads a message other than CopyData. ok is false for one that
// means nothing here.
func parseControl(typ byte, body []byte) (f Frame, ok bool, err error) {
	switch typ {
	case 'E':
		var e pgproto3.ErrorResponse
		if err := e.Decode(body); err != nil {
			return Frame{}, false, &ProtocolError{typ, "malformed ErrorResponse"}
		}
		return Frame{}, false, pgconn.ErrorResponseToPgError(&e)
	case 'N':
		var n pgproto3.NoticeResponse
		if err := n.Decode(body); err != nil {
			return Frame{}, false, &ProtocolError{typ, "malformed NoticeResponse"}
		}
		e := pgproto3.ErrorResponse(n)
		return Frame{Kind: FrameNotice, Notice: (*pgconn.Notice)(pgconn.ErrorResponseToPgError(&e))}, true, nil
	case typeParameterStatus: // a reload changed a reported setting
		return Frame{}, false, nil
	case 'c', 'C', 'Z': // CopyDone, CommandComplete, ReadyForQuery
		return Frame{}, false, ErrServerDone
	}
	return Frame{}, false, &ProtocolError{typ, "not expected while streaming"}
}
