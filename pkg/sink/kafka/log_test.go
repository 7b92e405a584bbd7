package kafka

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// lines is a log's output.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestClientLogRepeatsNothing(t *testing.T) {
	var out lines
	l := newClientLog(slog.New(slog.NewTextHandler(&out, nil)), func(string, error) {})
	for range 100 {
		l.Log(kgo.LogLevelWarn, "unable to dial", "addr", "b:9092")
		l.Log(kgo.LogLevelError, "broken", "err", errors.New("x"))
		l.Log(kgo.LogLevelInfo, "chatter")
		l.Log(kgo.LogLevelDebug, "noise")
	}
	got := strings.Split(strings.TrimSpace(out.text()), "\n")
	if len(got) != 2 || !strings.Contains(got[0], "level=WARN") || !strings.Contains(got[0], "unable to dial") || !strings.Contains(got[0], "addr=b:9092") ||
		!strings.Contains(got[1], "level=ERROR") {
		t.Errorf("log:\n%s", out.text())
	}
	for i := range 10 * maxLogMessages {
		l.Log(kgo.LogLevelWarn, fmt.Sprint("message ", i))
	}
	if n := len(l.said); n > maxLogMessages {
		t.Errorf("%d messages remembered, at most %d", n, maxLogMessages)
	}
}

func TestFailureSignals(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		msg     string
		keyvals []any
		topic   string
		failed  bool
	}{
		{"batch in a produce request failed", []any{"broker", "1", "topic", "orders", "partition", 3, "err", broken}, "orders", true},
		{"fatal InitProducerID error, failing all buffered records", []any{"broker", "1", "err", broken}, "", true},
		{loadErrorSignal, []any{"topic", "orders", "err", broken, "will_fail", true}, "orders", true},
		{loadErrorSignal, []any{"topic", "orders", "err", broken, "will_fail", false}, "", false},
		{"metadata update triggered", []any{"topic", "orders", "err", broken}, "", false},
		{"batch in a produce request failed", []any{"topic"}, "", false},
	} {
		topic, failed := "", false
		l := newClientLog(discard(), func(name string, err error) { topic, failed = name, errors.Is(err, broken) })
		l.Log(kgo.LogLevelInfo, tt.msg, tt.keyvals...)
		if topic != tt.topic || failed != tt.failed {
			t.Errorf("%q: failed %t for %q, want %t for %q", tt.msg, failed, topic, tt.failed, tt.topic)
		}
	}
}
