package kafka

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// murmur2 is Kafka's Utils.murmur2, transcribed from the Java client, with its
// signed arithmetic. The golden hashes are those of Kafka's own UtilsTest.
func murmur2(data []byte) int32 {
	const m, r = int32(0x5bd1e995), 24
	shift := func(x int32, n uint) int32 { return int32(uint32(x) >> n) }
	length := int32(len(data))
	h := int32(-1756908916) ^ length // seed 0x9747b28c
	for i := 0; i+4 <= len(data); i += 4 {
		k := int32(data[i]) | int32(data[i+1])<<8 | int32(data[i+2])<<16 | int32(data[i+3])<<24
		k *= m
		k ^= shift(k, r)
		k *= m
		h *= m
		h ^= k
	}
	tail := data[len(data)&^3:]
	switch len(tail) {
	case 3:
		h ^= int32(tail[2]) << 16
		fallthrough
	case 2:
		h ^= int32(tail[1]) << 8
		fallthrough
	case 1:
		h ^= int32(tail[0])
		h *= m
	}
	h ^= shift(h, 13)
	h *= m
	h ^= shift(h, 15)
	return h
}

func TestMurmur2Goldens(t *testing.T) {
	for key, want := range map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		if got := murmur2([]byte(key)); got != want {
			t.Errorf("murmur2(%q) = %d, Kafka's is %d", key, got, want)
		}
	}
}

// TestPartitionsOfJava: each key goes where the Java client puts it.
func TestPartitionsOfJava(t *testing.T) {
	const partitions = 7
	c := newCluster(t, kfake.SeedTopics(partitions, "orders"))
	s, _ := newSink(t, c, nil)
	keys := []string{"", "a", "ключ", "鍵", "🔑", "Zürich", "\x00", "\xff\xfe", "order 1", "{\"k\": 1}"}
	for i := range 1000 {
		keys = append(keys, fmt.Sprintf("order-%d", i+1))
	}
	for _, key := range keys {
		if err := s.Send(t.Context(), record("orders", key, "v")); err != nil {
			t.Fatal(err)
		}
	}
	closeNow(t, s)
	for _, r := range consume(t, c, "orders", len(keys)) {
		if want := (murmur2(r.Key) & 0x7fffffff) % partitions; r.Partition != want {
			t.Errorf("key %q is in partition %d, Java's is %d", r.Key, r.Partition, want)
		}
		if r.Key == nil {
			t.Error("an empty key became null")
		}
	}
}

// TestNullKeysSpread: records without a key use all partitions, and stay
// without a key.
func TestNullKeysSpread(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(4, "orders"))
	s, got := newSink(t, c, nil)
	const n = 300
	for i := range n {
		if err := s.Send(t.Context(), &sink.Record{Destination: "orders", Value: []byte("v"), Time: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 { // end the batch: the partitioner moves on with each
			got.wait(t, i+1)
		}
	}
	closeNow(t, s)
	used := make(map[int32]int)
	for _, r := range consume(t, c, "orders", n) {
		if r.Key != nil {
			t.Fatalf("a null key became %q", r.Key)
		}
		used[r.Partition]++
	}
	if len(used) != 4 {
		t.Errorf("partitions used: %v, want all 4", used)
	}
}
