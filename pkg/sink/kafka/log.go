package kafka

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// clientLog passes the client's warnings on, each message once a minute: it
// repeats them with every try, and tries for ever.
type clientLog struct {
	logger *slog.Logger

	mu   sync.Mutex // guards said
	said map[string]time.Time
}

const (
	logEvery       = time.Minute
	maxLogMessages = 64
)

func newClientLog(logger *slog.Logger) *clientLog {
	return &clientLog{logger: logger, said: make(map[string]time.Time)}
}

// Level implements kgo.Logger.
func (l *clientLog) Level() kgo.LogLevel { return kgo.LogLevelWarn }

// Log implements kgo.Logger. The client's messages are fixed texts; what
// varies, and never is a record, comes in keyvals.
func (l *clientLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	if level == kgo.LogLevelNone || level > kgo.LogLevelWarn || !l.due(msg) {
		return
	}
	to := slog.LevelWarn
	if level == kgo.LogLevelError {
		to = slog.LevelError
	}
	l.logger.Log(context.Background(), to, "kafka client: "+msg, keyvals...) //nolint:sloglint // the client's own text and fields
}

// warn logs a message of ours under the same rule.
func (l *clientLog) warn(msg string, keyvals ...any) {
	if l.due(msg) {
		l.logger.Warn(msg, keyvals...) //nolint:sloglint // passed through
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
