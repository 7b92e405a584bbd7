package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// connectBeat is how long one attempt to connect may take.
const connectBeat = time.Minute

// Pipeline delivers one slot. Run it once.
type Pipeline struct {
	cfg    Config
	ledger *offset.Ledger
	pool   *chunkPool
	routes map[*router.Rule]uint16
	format []Formatter // by route
	// formats are those in use, each once.
	formats []Formatter
	kinds   []string          // of sinks, sorted
	outs    map[string]uint16 // a kind's place among them
	fanOut  int

	skips    skips
	counters counters
	beat     beat
	cond     conditions

	fence  *fence
	keeper *keeper // nil: the slot alone keeps the position

	// What follows belongs to the reader of the running generation.
	history *SessionInfo
	decoder *decoder.Decoder
	// newest is the system and the highest timeline that were seen; it
	// outlives histories.
	newest pgrepl.Identity
	// past is the end of the last history that a failover has ended.
	past past
	// silences counts sessions that ended by silence, without progress.
	silences int
	// faults counts how often the server failed at faultAt.
	faults  int
	faultAt decoder.LSN
	// unknowns counts how often a sink failed at unknownAt without a reason
	// that we know.
	unknowns  int
	unknownAt decoder.LSN
	// suspects are sent by themselves; refused are those of the last generation.
	suspects suspects
	refused  []decoder.Position
	// missing is a hold over a gap, which only an operator ends.
	missing     error
	gapAccepted bool
	last        atomic.Pointer[SessionInfo]
}

// New makes a pipeline. Nothing runs yet.
func New(cfg Config) (*Pipeline, error) {
	p := &Pipeline{cfg: cfg, ledger: offset.NewLedger(cfg.Limits), pool: newChunkPool(), fence: newFence(), routes: map[*router.Rule]uint16{}, outs: map[string]uint16{}, skips: newSkips(cfg.Skip)}
	rules := cfg.Router.Rules()
	p.kinds = cfg.Router.Sinks()
	p.counters.init(cfg.Tables.Names(), len(rules), len(p.kinds))
	for i, kind := range p.kinds {
		p.outs[kind] = uint16(i)
	}
	for i, r := range rules {
		p.routes[r] = uint16(i)
		p.format = append(p.format, cfg.Formats[r.Format])
		if p.format[i] == nil {
			return nil, fmt.Errorf("%w: %q", errNoFormat, r.Format)
		}
		if !slices.Contains(p.formats, p.format[i]) {
			p.formats = append(p.formats, p.format[i])
		}
		p.fanOut = max(p.fanOut, r.FanOut())
	}
	if p.fanOut > chunkItems || len(rules) > 1<<16 {
		return nil, fmt.Errorf("rules: at most %d rules with %d destinations each", 1<<16, chunkItems)
	}
	if cfg.Checkpoint != nil {
		p.keeper = newKeeper(p, cfg.Checkpoint)
	}
	p.cond.reader = Condition{State: StateStarting, Since: time.Now()}
	p.beat.expect(time.Now())
	return p, nil
}

// Run streams until ctx ends; then it stops taking rows, waits for what is in
// flight within the grace period, sends the last status and returns nil. It
// returns an error only for a *HoldError with ExitOnHold and for a broken
// invariant.
func (p *Pipeline) Run(ctx context.Context) error {
	if p.keeper == nil {
		return p.run(ctx)
	}
	// The last checkpoint is written after the last generation has ended.
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	kept := make(chan struct{})
	go func() { defer close(kept); p.keeper.run(keeping, p.cfg.OffsetInterval) }()
	defer func() { stop(); <-kept }()
	return p.run(ctx)
}

func (p *Pipeline) run(ctx context.Context) error {
	retry := backoff{limit: p.cfg.BackoffMax}
	for ctx.Err() == nil {
		before := p.ledger.Confirmed()
		err := p.generation(ctx)
		if ctx.Err() != nil {
			return p.stopped(err)
		}
		if p.ledger.Confirmed() > before {
			retry.reset()
		}
		c, wait := p.judge(err, &retry)
		if p.cfg.ExitOnHold && c.State != StateConnecting {
			return asHold(err)
		}
		p.rewind(ctx, err, c, wait)
	}
	return nil
}

// stopped reports a stop that left something undelivered.
func (p *Pipeline) stopped(err error) error {
	if n, _ := p.ledger.InFlight(); n > 0 {
		p.cfg.Log.Warn("stopped before everything in flight was stored; it is not confirmed and will be sent again", "records", n, "error", err)
	}
	return nil
}

// generation opens the sinks and runs with them until one fails.
func (p *Pipeline) generation(ctx context.Context) error {
	p.refused = nil
	p.suspects.begin(p.ledger.Confirmed())
	g := &generation{
		p: p, queue: make(chan span, queueSpans), failed: make(chan struct{}),
		careful: !p.suspects.empty(), flight: newFlight(),
	}
	if err := g.openSinks(); err != nil {
		return err
	}
	if err := p.check(ctx, g); err != nil {
		return errors.Join(err, g.close(ctx))
	}
	p.block(nil)
	p.cond.beCareful(g.careful)
	err := g.run(ctx)
	p.cond.beCareful(false)
	p.refused = g.refused
	if ctx.Err() == nil {
		p.cfg.Log.Warn("delivery will start again at the confirmed position", "lsn", p.ledger.Confirmed(), "error", err)
	}
	return err
}

// check asks the sinks about every destination that is known beforehand.
func (p *Pipeline) check(ctx context.Context, g *generation) error {
	names := map[string][]string{}
	for _, t := range p.cfg.Router.Literals() {
		names[t.Sink] = append(names[t.Sink], t.Destination)
	}
	var all []error
	for kind, list := range names {
		if c, ok := g.sinks[p.outs[kind]].(sink.Checker); ok {
			p.beat.expect(time.Now().Add(connectBeat))
			all = append(all, c.Check(ctx, list)...)
		}
	}
	return errors.Join(all...)
}

// rewind goes back to the confirmed position after a failed generation, and
// waits as the failure demands. Acks from before are void from here on.
func (p *Pipeline) rewind(ctx context.Context, err error, c Condition, wait time.Duration) {
	at := p.ledger.Confirmed()
	if errors.Is(err, errNewHistory) {
		// Positions of the old history mean nothing in the new one: the
		// slot knows where to go on.
		at, p.history, p.decoder, p.missing = 0, nil, nil, nil
		p.suspects.reset()
	}
	p.ledger.Reset(at)
	p.condition(c)
	if c.State != StateConnecting {
		p.block(&c)
	}
	p.wait(ctx, wait)
}

// formatRoom is what the formats in use usually add to a row of n bytes.
func (p *Pipeline) formatRoom(n int) (room int) {
	for _, f := range p.formats {
		room = max(room, f.Room(n))
	}
	return room
}

func (p *Pipeline) routeIndex(r *router.Rule) uint16 { return p.routes[r] }

// nextDecoder is the decoder of a new session in the same history.
func (p *Pipeline) nextDecoder(info SessionInfo) *decoder.Decoder {
	if p.decoder == nil {
		p.decoder = decoder.New(p.cfg.Tables)
	} else {
		p.decoder = p.decoder.NextSession()
	}
	p.decoder.Know(info.Tables, info.Insert)
	return p.decoder
}
