package main

import (
	"strings"
	"testing"
)

func TestScreenWithoutTerminal(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out, false)
	s.chapter("1. Title")
	s.say("%d rows", 3)
	s.quote("one\r\n\ntwo")
	s.progress("10 %")
	s.progress("11 %") // too soon after the last one
	s.end()
	want := "\n1. Title\n   3 rows\n     | one\n     | two\n   10 %\n"
	if out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}

func TestScreenOnATerminal(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out, tty: true, color: true}
	s.progress("10 %")
	s.line("a line")
	s.progress("11 %")
	s.end()
	s.end()
	s.line(s.style(bold, "b"))
	want := clearLine + "   10 %" + clearLine + "a line\n   10 %" + clearLine + "   11 %" + clearLine + bold + "b" + plain + "\n"
	if out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 10239: "10239 B", 10240: "10 KiB", 10 << 20: "10 MiB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestWorthShowing(t *testing.T) {
	said := "ok    a: fine\nwarn  b: hm\n      -> do it\nok    c: fine\n0 failed, 1 warnings, 0 skipped, 2 ok\n"
	if got, want := worthShowing(said), "warn  b: hm\n0 failed, 1 warnings, 0 skipped, 2 ok"; got != want {
		t.Errorf("worthShowing = %q, want %q", got, want)
	}
}
