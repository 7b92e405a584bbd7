package pipeline

import (
	"encoding/binary"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// The messages of a server, as far as these tests need them.

type lsn = decoder.LSN

const (
	outboxOID = 16400
	otherOID  = 16500
)

func u64(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }
func u32(b []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(b, v) }
func u16(b []byte, v int) []byte    { return binary.BigEndian.AppendUint16(b, uint16(v)) }
func cstr(b []byte, s string) []byte {
	return append(append(b, s...), 0)
}

func begin(commit decoder.LSN) []byte {
	return u32(u64(u64([]byte{'B'}, uint64(commit)), 0), 77)
}

func commit(at decoder.LSN) []byte {
	return u64(u64(u64([]byte{'C', 0}, uint64(at)), uint64(endOf(at))), 0)
}

// endOf is the end LSN of the transaction that commits at the LSN.
func endOf(commit decoder.LSN) decoder.LSN { return commit + 8 }

func relation(oid uint32, table string) []byte {
	b := cstr(cstr(u32([]byte{'R'}, oid), "public"), table)
	b = append(b, 'd')
	columns := []string{"id", "type", "partition_key", "payload"}
	b = u16(b, len(columns))
	for _, c := range columns {
		b = u32(u32(cstr(append(b, 0), c), 25), 0xFFFFFFFF)
	}
	return b
}

// insert is a row whose payload repeats its id.
func insert(oid uint32, id, typ, key string) []byte {
	b := u16(append(u32([]byte{'I'}, oid), 'N'), 4)
	for _, v := range []string{id, typ, key, "payload of " + id} {
		b = append(u32(append(b, 't'), uint32(len(v))), v...)
	}
	return b
}

// row is a row of the outbox of the type that the rules know.
func row(n int) []byte {
	return insert(outboxOID, fmt.Sprintf("e%d", n), "order", fmt.Sprintf("k%d", n%3))
}
