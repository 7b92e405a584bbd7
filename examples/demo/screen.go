package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Terminal sequences: back to the beginning of the line and clear it; bold,
// faint, plain.
const (
	clearLine = "\r\x1b[K"
	bold      = "\x1b[1m"
	faint     = "\x1b[2m"
	plain     = "\x1b[0m"
)

// plainEvery is the time between two progress lines where they can't replace
// each other.
const plainEvery = 2 * time.Second

// screen writes lines, and below them, on a terminal, one that changes. All
// methods may be called from any goroutine.
type screen struct {
	out        io.Writer
	tty, color bool

	mu     sync.Mutex // guards all below, and the order of writes
	live   string     // the line that is shown and not ended
	lastly time.Time  // of the last progress line without a terminal
}

func newScreen(out io.Writer, noColor bool) *screen {
	s := &screen{out: out}
	if f, ok := out.(*os.File); ok {
		s.tty = term.IsTerminal(int(f.Fd()))
	}
	s.color = s.tty && !noColor
	return s
}

// line writes a line that stays.
func (s *screen) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(text)
}

// say writes an indented line.
func (s *screen) say(format string, args ...any) {
	s.line("   " + fmt.Sprintf(format, args...))
}

// quote writes somebody else's text, indented further.
func (s *screen) quote(text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			s.line(s.style(faint, "     | "+line))
		}
	}
}

// chapter writes a heading.
func (s *screen) chapter(text string) {
	s.line("")
	s.line(s.style(bold, text))
}

// progress replaces the changing line; without a terminal it writes a line
// every two seconds.
func (s *screen) progress(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tty {
		s.live = s.fit("   " + text)
		s.put(clearLine + s.live)
		return
	}
	if now := time.Now(); now.Sub(s.lastly) >= plainEvery {
		s.lastly = now
		s.write("   " + text)
	}
}

// fit cuts a line to the terminal's width: one that wraps can't be replaced.
func (s *screen) fit(text string) string {
	f, ok := s.out.(*os.File)
	if !ok {
		return text
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || len(text) < width {
		return text
	}
	return text[:width-1]
}

// end takes the changing line away.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != "" {
		s.put(clearLine)
		s.live = ""
	}
}

func (s *screen) write(text string) {
	if s.live == "" {
		s.put(text + "\n")
		return
	}
	s.put(clearLine + text + "\n" + s.live)
}

// put ignores errors: there is nobody left to tell.
func (s *screen) put(text string) { _, _ = io.WriteString(s.out, text) }

func (s *screen) style(style, text string) string {
	if !s.color {
		return text
	}
	return style + text + plain
}
