package kafka

import (
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// The two header types differ in nothing but a field's name. These fail to
// compile when their sizes part; a test compares the fields.
const (
	_ = unsafe.Sizeof(sink.Header{}) - unsafe.Sizeof(kgo.RecordHeader{})
	_ = unsafe.Sizeof(kgo.RecordHeader{}) - unsafe.Sizeof(sink.Header{})
)

// sharedHeaders is the same headers to the client's eyes. Copying them into
// headers of the client's type was a third of a record's CPU time: forty bytes
// a header into memory that has left the cache since its last use. The client
// only reads them, until the promise.
func sharedHeaders(h []sink.Header) []kgo.RecordHeader {
	first := (*kgo.RecordHeader)(unsafe.Pointer(unsafe.SliceData(h))) //nolint:gosec // same layout, see above
	return unsafe.Slice(first, len(h))                                //nolint:gosec // the length of h itself
}
