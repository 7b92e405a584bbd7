package router

import (
	"unsafe"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// The default bounds of the router's caches, in entries. With types and names
// at their longest both together stay below 4 MiB.
const (
	DefaultRouteCache = 4096
	DefaultNameCache  = 4096
)

// maxCachedType is the longest event type whose rules are remembered: no row
// can fill the cache with long texts.
const maxCachedType = 256

// routeKey is what the fixed part of a decision depends on. A table's pointer
// stands for its name: it can't be re-used for another one while it is a key.
type routeKey struct {
	table     *decoder.Table
	eventType string
}

// lookup views bytes as a string without a copy. The result is for asking a
// cache only: the bytes belong to an arena that is used again, so it must
// never be stored.
func lookup(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // audited: see above.
}

// newLRU is bounded by at least one entry. The simple LRU has no lock: a
// router belongs to one goroutine.
func newLRU[K comparable, V any](size int) *simplelru.LRU[K, V] {
	l, err := simplelru.NewLRU[K, V](max(1, size), nil)
	if err != nil {
		panic("router: " + err.Error()) // only a size below 1 is refused
	}
	return l
}
