package kafkatest

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

const (
	startLimit = 2 * time.Minute // for a start whose context has no earlier end
	killLimit  = 30 * time.Second
)

// options are what Options change.
type options struct {
	settings map[string]string
	flags    []string
}

// Option changes a broker before its first start.
type Option func(*options)

// Setting sets one line of server.properties, above this package's own.
func Setting(name, value string) Option {
	return func(o *options) { o.settings[name] = value }
}

// Broker is an Apache Kafka that this process started: broker and controller
// in one. All methods may be called from any goroutine.
type Broker struct {
	kit      *kit
	opts     options
	home     string
	held     *testserver.FileLock
	ports    map[Listener]int // the same over restarts
	tokenKey *rsa.PrivateKey
	client   *kgo.Client

	mu   sync.Mutex          // guards proc
	proc *testserver.Process // nil while the broker is down
}

// Start makes a broker and starts it; it accepts clients when Start returns.
// The first use on a machine also downloads 43 MB. ctx bounds the start only;
// the caller ends the broker by Close.
func Start(ctx context.Context, opts ...Option) (*Broker, error) {
	k, err := findKit(ctx)
	if err != nil {
		return nil, err
	}
	o := options{settings: map[string]string{}}
	for _, opt := range opts {
		opt(&o)
	}
	return k.start(ctx, o)
}

func (k *kit) start(ctx context.Context, opts options) (b *Broker, err error) {
	b = &Broker{kit: k, opts: opts}
	if b.home, b.held, err = testserver.MakeHome(ctx, k.cache, ""); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
			b = nil
		}
	}()
	if err := os.CopyFS(b.file("data"), os.DirFS(k.template)); err != nil {
		return nil, fmt.Errorf("copy the formatted log folder: %w", err)
	}
	if err := errors.Join(b.writeCertificates(), b.writeKeys(), b.writeFiles(map[string][]byte{"log4j2.properties": logSettings})); err != nil {
		return nil, err
	}
	if err := b.firstLaunch(ctx); err != nil {
		return nil, err
	}
	b.client, err = kgo.NewClient(kgo.SeedBrokers(b.Addr(Plaintext)))
	return b, err
}

// Addr returns the address of a listener; it stays the same over restarts.
func (b *Broker) Addr(l Listener) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(b.ports[l]))
}

// Admin returns a client of the superuser, which the broker's Close closes.
func (b *Broker) Admin() *kadm.Client { return kadm.NewClient(b.client) }

// PID returns the process id, or 0 while the broker is down.
func (b *Broker) PID() int {
	if proc := b.running(); proc != nil {
		return proc.PID
	}
	return 0
}

// LogText returns the broker's log since the first start: warnings, errors and
// what its authorizer denied.
func (b *Broker) LogText() string {
	text, err := os.ReadFile(b.logPath())
	if err != nil {
		return "no log: " + err.Error()
	}
	return string(text)
}

func (b *Broker) logPath() string         { return b.file("kafka.log") }
func (b *Broker) file(name string) string { return filepath.Join(b.home, name) }

// running returns the live process, or nil.
func (b *Broker) running() *testserver.Process {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.proc != nil && b.proc.Ended() {
		b.proc = nil
	}
	return b.proc
}

// Close kills the broker and removes its data. It may be called twice.
func (b *Broker) Close() error {
	if b.client != nil {
		b.client.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	err := errors.Join(b.Kill(ctx), os.RemoveAll(b.home))
	// The second Close finds the lock file closed already.
	if unlockErr := b.held.Unlock(); unlockErr != nil && !errors.Is(unlockErr, os.ErrClosed) {
		err = errors.Join(err, unlockErr)
	}
	return err
}
