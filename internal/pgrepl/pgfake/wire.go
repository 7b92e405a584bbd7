package pgfake

import (
	"encoding/binary"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// AppendCopyData appends a CopyData message with the body.
func AppendCopyData(b, body []byte) []byte {
	b = append(b, 'd')
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(body))) //nolint:gosec // tests stay below 4 GiB
	return append(b, body...)
}

// AppendData appends a pgoutput message as the server sends it; the start
// equals the end, as in logical replication.
func AppendData(b []byte, walEnd decoder.LSN, msg []byte) []byte {
	b = append(b, 'd')
	b = binary.BigEndian.AppendUint32(b, uint32(4+25+len(msg))) //nolint:gosec // as above
	b = append(b, 'w')
	b = binary.BigEndian.AppendUint64(b, uint64(walEnd))
	b = binary.BigEndian.AppendUint64(b, uint64(walEnd))
	b = binary.BigEndian.AppendUint64(b, 0)
	return append(b, msg...)
}

// AppendKeepalive appends a primary keepalive message.
func AppendKeepalive(b []byte, walEnd decoder.LSN, reply bool) []byte {
	body := binary.BigEndian.AppendUint64([]byte{'k'}, uint64(walEnd))
	body = binary.BigEndian.AppendUint64(body, 0)
	if reply {
		return AppendCopyData(b, append(body, 1))
	}
	return AppendCopyData(b, append(body, 0))
}
