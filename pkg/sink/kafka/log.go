package kafka

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// clientLog passes the client's warnings on, each message once a minute: it
// repeats them with every try, and tries for ever. And it takes from the
// client's messages that a batch has failed, earlier than any promise.
type clientLog struct {
	logger *slog.Logger
	// failed is called for a failed batch, with the client's locks held: it
	// must neither block nor call the client.
	failed func(topic string, err error)

	mu   sync.Mutex // guards said
	said map[string]time.Time
}

const (
	logEvery       = time.Minute
	maxLogMessages = 64
)

// failureSignals are the client's words for "I am about to drop what is
// buffered". They are not part of its interface: the conformance suite fails
// when an upgrade changes them. See fence.go.
var failureSignals = [...]string{
	"batch in a produce request failed",
	"batch errored, failing the producer ID",
	"fatal InitProducerID error, failing all buffered records",
	"broker cannot handle any produce request we can issue, failing records",
	"new topic metadata wait failed, done retrying, failing all records",
	loadErrorSignal,
}

// loadErrorSignal counts only with "will_fail".
const loadErrorSignal = "produce partition load error, bumping error count on first stored batch"

func newClientLog(logger *slog.Logger, failed func(topic string, err error)) *clientLog {
	return &clientLog{logger: logger, failed: failed, said: make(map[string]time.Time)}
}

// Level implements kgo.Logger. The signals are of level info; the client logs
// nothing at that level for a batch that goes well.
func (l *clientLog) Level() kgo.LogLevel { return kgo.LogLevelInfo }

// Log implements kgo.Logger. The client's messages are fixed texts; what
// varies, and never is a record, comes in keyvals.
func (l *clientLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	for _, signal := range failureSignals {
		if msg == signal {
			l.signal(msg, keyvals)
		}
	}
	if level == kgo.LogLevelNone || level > kgo.LogLevelWarn || !l.due(msg) {
		return
	}
	to := slog.LevelWarn
	if level == kgo.LogLevelError {
		to = slog.LevelError
	}
	l.logger.Log(context.Background(), to, "kafka client: "+msg, keyvals...)
}

func (l *clientLog) signal(msg string, keyvals []any) {
	var (
		topic string
		err   error
		will  bool
	)
	for i := 0; i+1 < len(keyvals); i += 2 {
		switch keyvals[i] {
		case "topic":
			topic, _ = keyvals[i+1].(string)
		case "err":
			err, _ = keyvals[i+1].(error)
		case "will_fail":
			will, _ = keyvals[i+1].(bool)
		}
	}
	if err != nil && (msg != loadErrorSignal || will) {
		l.failed(topic, err)
	}
}

// warn logs a message of ours under the same rule.
func (l *clientLog) warn(msg string, keyvals ...any) {
	if l.due(msg) {
		l.logger.Warn(msg, keyvals...)
	}
}

func (l *clientLog) due(msg string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if last, ok := l.said[msg]; ok && now.Sub(last) < logEvery {
		return false
	}
	if len(l.said) >= maxLogMessages {
		clear(l.said)
	}
	l.said[msg] = now
	return true
}
