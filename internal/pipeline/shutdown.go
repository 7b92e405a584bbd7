package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

const (
	// shutdownAsks and shutdownAfter tell a server that shuts down from one
	// that asks: it asks again after every answer, and gets two a second.
	shutdownAsks  = 8
	shutdownAfter = 5 * time.Second
	// shutdownGap is the longest time between two such questions. A server
	// that only wants to know whether we live asks every few seconds.
	shutdownGap = 2 * replyPace
	// shutdownPause is the shortest time before the next connect: the server
	// must be able to get down, and a new walsender would hold it again.
	shutdownPause = 10 * time.Second
)

// errServerShutdown ends a session so that the server can.
var errServerShutdown = errors.New("the server is shutting down and waits for us; the destination has not stored everything")

// shutdownWatch notices that the server waits for a confirmation that we can't
// give. A fast shutdown of PostgreSQL ends only when every walsender's standby
// has everything, and our sink may be stuck for hours.
type shutdownWatch struct {
	end, confirmed decoder.LSN
	since, last    time.Time
	asks           int
}

// asked takes a keepalive that asks for a reply.
func (w *shutdownWatch) asked(now time.Time, end, confirmed decoder.LSN) {
	if w.asks == 0 || end != w.end || confirmed != w.confirmed || now.Sub(w.last) > shutdownGap {
		*w = shutdownWatch{end: end, confirmed: confirmed, since: now}
	}
	w.asks++
	w.last = now
}

// certain tells that the server does nothing but wait for us.
func (w *shutdownWatch) certain(now time.Time, confirmed decoder.LSN) bool {
	return w.asks >= shutdownAsks && confirmed == w.confirmed && now.Sub(w.since) >= shutdownAfter
}

// letGo tells the server that all is written and nothing is confirmed: enough
// for it to stop, and the slot stays where it is.
func (r *reader) letGo() error {
	// The session ends here whether or not the status arrives.
	_ = r.src.SendStatus(pgrepl.Status{Write: r.cad.write})
	return errServerShutdown
}

// serverStopping looks, while the reader can't read because the window is full,
// whether the server is shutting down: what it would say about that lies behind
// data that nobody takes.
func (r *reader) serverStopping(ctx context.Context) bool {
	if r.p.cfg.ServerStopping == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, min(verifyTimeout, r.cad.period))
	defer cancel()
	return r.p.cfg.ServerStopping(ctx)
}
