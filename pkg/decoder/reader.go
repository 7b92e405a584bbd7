package decoder

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var (
	errShort    = errors.New("the message ends early")
	errTrailing = errors.New("bytes are left over after the message")
)

// reader takes big-endian fields from a message. Its first error sticks: the
// rest is then as good as read, so that later fields are zero and callers ask
// once, at the end.
type reader struct {
	msg []byte
	off int
	err error
	// errOff is where the field that failed begins.
	errOff int
}

// fail keeps the first error, with the offset of the field it is about.
func (r *reader) fail(at int, err error) {
	if r.err == nil {
		r.err, r.errOff = err, at
	}
	r.off = len(r.msg)
}

func (r *reader) uint8() byte {
	if r.off >= len(r.msg) {
		r.fail(r.off, errShort)
		return 0
	}
	v := r.msg[r.off]
	r.off++
	return v
}

func (r *reader) uint16() uint16 {
	if len(r.msg)-r.off < 2 {
		r.fail(r.off, errShort)
		return 0
	}
	v := binary.BigEndian.Uint16(r.msg[r.off:])
	r.off += 2
	return v
}

func (r *reader) uint32() uint32 {
	if len(r.msg)-r.off < 4 {
		r.fail(r.off, errShort)
		return 0
	}
	v := binary.BigEndian.Uint32(r.msg[r.off:])
	r.off += 4
	return v
}

func (r *reader) uint64() uint64 {
	if len(r.msg)-r.off < 8 {
		r.fail(r.off, errShort)
		return 0
	}
	v := binary.BigEndian.Uint64(r.msg[r.off:])
	r.off += 8
	return v
}

func (r *reader) lsn() LSN { return LSN(r.uint64()) }

// cstring reads up to a zero byte. The result lies in the message.
func (r *reader) cstring() []byte {
	n := bytes.IndexByte(r.msg[r.off:], 0)
	if n < 0 {
		r.fail(r.off, errShort)
		return nil
	}
	v := r.msg[r.off : r.off+n]
	r.off += n + 1
	return v
}

// value reads an int32 length and as many bytes; a negative length is one that
// no message has room for. The result lies in the message and is empty, not
// nil, for length zero.
func (r *reader) value() []byte {
	at := r.off
	n := r.uint32()
	if int64(n) > int64(len(r.msg)-r.off) {
		r.fail(at, errShort)
		return nil
	}
	v := r.msg[r.off : r.off+int(n)]
	r.off += int(n)
	return v
}

// count checks a number of elements from the wire against the bytes that are
// left, each element having at least size of them. So no allocation is larger
// than the message that asks for it.
func (r *reader) count(n uint32, size int) int {
	if r.err != nil || int64(n)*int64(size) > int64(len(r.msg)-r.off) {
		r.fail(r.off, errShort)
		return 0
	}
	return int(n)
}

// finish returns the first error; a message that was not read to its end is one.
func (r *reader) finish() error {
	if r.err == nil && r.off != len(r.msg) {
		r.fail(r.off, errTrailing)
	}
	return r.err
}
