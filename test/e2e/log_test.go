package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// logText is the output of a process as it comes. Any goroutine may read it.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// find returns the fields of the first whole line with this message.
func (l *logText) find(msg string) map[string]any {
	text := l.String()
	for line := range strings.Lines(text[:strings.LastIndexByte(text, '\n')+1]) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == msg {
			return fields
		}
	}
	return nil
}

// times is how many lines have the message.
func (l *logText) times(msg string) (n int) {
	for line := range strings.Lines(l.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == msg {
			n++
		}
	}
	return n
}

// end is the last lines, for a failure's message.
func (l *logText) end(lines int) string {
	all := strings.Split(strings.TrimRight(l.String(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
