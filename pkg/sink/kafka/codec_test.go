package kafka

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestCodecs: what is configured is on the wire, and what comes out is what went
// in, with the commit time in milliseconds.
func TestCodecs(t *testing.T) {
	at := time.Date(2024, 2, 29, 23, 59, 59, 123_456_789, time.UTC)
	value := strings.Repeat("the same again; ", 500)
	for id, name := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, kfake.SeedTopics(1, "orders"))
			codec, size := make(chan int, 1), 0
			c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
				batch := req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
				size = len(batch)
				// Behind baseOffset, batchLength, partitionLeaderEpoch, magic and crc.
				codec <- int(binary.BigEndian.Uint16(batch[21:]) & 7)
				return nil, nil, false
			})
			s, got := newSink(t, c, func(cfg *Config) { cfg.Compression = name })
			r := record("orders", "k", value)
			r.Time = at
			if err := s.Send(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if o := got.wait(t, 1)[0]; o.err != nil {
				t.Fatal(o.err)
			}
			if n := <-codec; n != id {
				t.Errorf("codec %d on the wire, want %d", n, id)
			}
			if compressed := size < len(value); compressed != (name != "none") {
				t.Errorf("%d bytes on the wire for %d", size, len(value))
			}
			k := consume(t, c, "orders", 1)[0]
			if string(k.Value) != value || !k.Timestamp.Equal(at.Truncate(time.Millisecond)) {
				t.Errorf("%d bytes of %v arrived, want %d of %v", len(k.Value), k.Timestamp, len(value), at)
			}
		})
	}
}
