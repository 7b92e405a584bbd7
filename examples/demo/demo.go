package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// settleLimit bounds the wait for what is on its way.
const settleLimit = 30 * time.Second

// demo is one run.
type demo struct {
	opts    options
	screen  *screen
	checker *checker

	servers   servers
	connector *connector
	consumer  *consumer
	writers   []*writer
	main      *pgx.Conn // our own session
	touched   atomic.Int64
	// performing says that the writers have begun.
	performing bool
}

// run does everything and puts everything away. When ctx ends while the writers
// write, they stop, and what they wrote is accounted for all the same.
func (d *demo) run(ctx context.Context) (err error) {
	d.screen.line(fmt.Sprintf("outbox-cdc demo: writes for %v, then puts everything away. Ctrl-C ends it early.", d.opts.length))
	dir, err := os.MkdirTemp("", "outbox-cdc-demo-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.startServers(ctx, dir); err != nil {
		return err
	}
	if err := d.startConnector(ctx); err != nil {
		d.complain(ctx)
		return err
	}
	if err := d.prepareWriters(ctx); err != nil {
		return err
	}
	d.performing = true
	if err := d.perform(ctx); err != nil {
		d.complain(ctx)
		return err
	}
	return d.sumUp(ctx)
}

// close ends all processes; it works at any stage.
func (d *demo) close() error {
	d.screen.end()
	var errs []error
	if d.connector != nil {
		errs = append(errs, d.connector.stop())
	}
	if d.consumer != nil {
		d.consumer.client.Close()
	}
	for _, closer := range slices.Backward(d.servers.close) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// complain shows what the connector said last, unless the user wanted the end.
func (d *demo) complain(ctx context.Context) {
	if ctx.Err() != nil && !d.performing {
		return
	}
	d.screen.end()
	d.screen.say("the connector's last lines:")
	d.screen.quote(d.connector.logTail(15))
}

func (d *demo) startServers(ctx context.Context, dir string) error {
	d.screen.chapter("1. Throw-away servers")
	if err := fetchPostgres(ctx, d.screen); err != nil {
		return err
	}
	if err := d.servers.startPostgres(ctx); err != nil {
		return err
	}
	d.screen.end()
	d.screen.say("PostgreSQL %d on port %d: database %s, business tables and orders.outbox", d.servers.postgres.Major(), d.servers.postgres.Port(), database)
	conn, err := d.servers.connect(ctx)
	if err != nil {
		return err
	}
	d.main = conn
	if _, err := conn.Exec(ctx, schema); err != nil {
		return fmt.Errorf("make the schema: %w", err)
	}
	if _, err := conn.Exec(ctx, "CREATE ROLE "+role+" LOGIN REPLICATION"); err != nil {
		return fmt.Errorf("make the connector's role: %w", err)
	}
	if _, err := conn.Exec(ctx, seed, orderCount); err != nil {
		return fmt.Errorf("make the orders: %w", err)
	}
	if err := d.servers.startKafka(); err != nil {
		return err
	}
	broker := d.servers.kafka.ListenAddrs()[0]
	d.screen.say("Kafka (inside this process) on %s: topics %s and %s, %d partitions each", broker, ordersTopic, paymentsTopic, partitions)
	listen, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	binary := d.opts.binary
	if binary == "" {
		d.screen.progress("building the connector ...")
		if binary, err = build(ctx, dir); err != nil {
			return err
		}
		d.screen.end()
	}
	all := settings(d.servers.postgres.URL(database, role), broker, listen)
	d.connector = &connector{
		binary: binary, env: environ(all), logFile: filepath.Join(dir, "connector.log"), ready: "http://" + listen + "/readyz",
	}
	d.screen.chapter("2. The connector: its whole configuration (paste it elsewhere while this runs)")
	for _, s := range all {
		d.screen.say("export %s", s.assign())
	}
	return nil
}

// startConnector sets up as the tables' owner, checks, and runs as a role that
// may do nothing but read the slot.
func (d *demo) startConnector(ctx context.Context) error {
	c := d.connector
	owner := setting{"OUTBOX_CDC_DATABASE_URL", d.servers.postgres.URL(database, "")}
	d.screen.say("")
	d.screen.say("%s \\", owner.assign())
	d.screen.say("  %s setup --role %s", c.binary, role)
	said, err := c.command(ctx, append(c.env, owner.name+"="+owner.value), "setup", "--role", role)
	if err != nil {
		return err
	}
	d.screen.quote(said)
	d.screen.say("%s check", c.binary)
	if said, err = c.command(ctx, c.env, "check"); err != nil {
		return err
	}
	d.screen.quote(worthShowing(said))
	began := time.Now()
	d.screen.say("%s run", c.binary)
	if err := d.connector.start(ctx); err != nil {
		return err
	}
	d.screen.quote(fmt.Sprintf("streaming after %d ms", time.Since(began).Milliseconds()))
	consumer, err := newConsumer(d.servers.kafka.ListenAddrs()[0], d.checker, d.screen)
	d.consumer = consumer
	return err
}

func (d *demo) prepareWriters(ctx context.Context) error {
	for i := range writers {
		conn, err := d.servers.connect(ctx)
		if err != nil {
			return err
		}
		d.writers = append(d.writers, &writer{number: i + 1, conn: conn, checker: d.checker, touched: &d.touched})
	}
	return nil
}

// perform plays all acts with consumer and monitor beside them, and waits until
// everything has arrived.
func (d *demo) perform(ctx context.Context) error {
	looks, err := d.servers.connect(ctx)
	if err != nil {
		return err
	}
	// The audience stays to the end, also when ctx ends.
	all, live := errgroup.WithContext(context.WithoutCancel(ctx))
	live, leave := context.WithCancel(live)
	defer leave()
	m := &monitor{conn: looks, checker: d.checker, connector: d.connector, screen: d.screen}
	all.Go(func() error { return d.consumer.run(live) })
	all.Go(func() error { return m.run(live) })
	all.Go(func() error {
		defer leave()
		playing, stop := context.WithCancel(live)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		if err := d.acts(playing, live); err != nil {
			return err
		}
		return d.settle(live)
	})
	return all.Wait()
}

// settle waits until everything that was committed has arrived.
func (d *demo) settle(live context.Context) error {
	limit, cancel := context.WithTimeout(live, settleLimit)
	defer cancel()
	err := poll(limit, "the rest", func() (bool, error) { return d.checker.tally().lost == 0, nil })
	if err != nil && live.Err() == nil {
		return nil // the books tell what is missing
	}
	if err != nil {
		return err
	}
	// A moment more, for what must not come.
	pause(limit, lookEvery)
	return waitSlot(limit, d.main)
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	address := l.Addr().String()
	return address, l.Close()
}
