package monitor

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// lookTimeout bounds one look, with the connect that it may need.
const lookTimeout = 20 * time.Second

// Config is what a monitor needs.
type Config struct {
	// Dial makes an ordinary connection.
	Dial func(ctx context.Context) (*pgx.Conn, error)
	// Slot is the slot's name.
	Slot string
	// Interval is the time between two looks.
	Interval time.Duration
	// Limit is how much retained WAL the disk can bear, in bytes; 0 takes the
	// server's max_slot_wal_keep_size.
	Limit int64
	Log   *slog.Logger
}

// Monitor looks at the slot again and again.
type Monitor struct {
	cfg    Config
	last   atomic.Pointer[View]
	conn   *pgx.Conn // Run's goroutine only, as what follows
	growth growth
	failed bool
}

// View is the last reading, with what was learnt over time. It does not change.
type View struct {
	*Reading
	// WALLimit is how much retained WAL can be borne, in bytes; 0 where
	// nobody has said.
	WALLimit int64
	// Growth is how quickly retained WAL grows, in bytes a second, over ten
	// minutes; GrowthKnown tells that ten minutes are covered.
	Growth      float64
	GrowthKnown bool
}

// TimeLeft is when the limit will be reached at this rate; ok is false when it
// will not, or nobody knows.
func (v *View) TimeLeft() (left time.Duration, ok bool) {
	if v.WALLimit == 0 || !v.GrowthKnown || v.Growth < 1 {
		return 0, false
	}
	room := max(v.WALLimit-v.Retained(), 0)
	const century = 100 * 365 * 24 * time.Hour
	seconds := float64(room) / v.Growth
	if seconds > century.Seconds() {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// New makes a monitor. Nothing runs yet.
func New(cfg Config) *Monitor { return &Monitor{cfg: cfg} }

// Last is the last view; nil before the first look has succeeded. Any goroutine
// may ask. It grows old while the server can't be reached: see Reading.At.
func (m *Monitor) Last() *View { return m.last.Load() }

// Run looks until ctx ends. It never fails: what it can't see it says once, and
// looks again.
func (m *Monitor) Run(ctx context.Context) {
	defer m.disconnect(ctx)
	tick := time.NewTicker(m.cfg.Interval)
	defer tick.Stop()
	for {
		m.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look reads once.
func (m *Monitor) look(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	r, err := m.read(limited)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		m.disconnect(ctx)
		if !m.failed {
			m.cfg.Log.Warn("the slot can't be looked at; trying on", "slot", m.cfg.Slot, "error", err)
		}
		m.failed = true
	default:
		if m.failed {
			m.cfg.Log.Info("the slot can be looked at again", "slot", m.cfg.Slot)
		}
		m.failed = false
		m.growth.add(r.At, r.Retained())
		v := &View{Reading: r, WALLimit: m.cfg.Limit}
		if v.WALLimit == 0 {
			v.WALLimit = max(r.Limit, 0)
		}
		v.Growth, v.GrowthKnown = m.growth.rate()
		m.last.Store(v)
	}
}

func (m *Monitor) read(ctx context.Context) (*Reading, error) {
	if m.conn == nil {
		conn, err := m.cfg.Dial(ctx)
		if err != nil {
			return nil, err
		}
		m.conn = conn
	}
	return Read(ctx, m.conn, m.cfg.Slot)
}

// disconnect gives the connection up; the next look makes another one.
func (m *Monitor) disconnect(ctx context.Context) {
	if m.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = m.conn.Close(ctx)
	m.conn = nil
}
