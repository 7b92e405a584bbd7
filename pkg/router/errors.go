package router

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// SyntaxError is one fault of the rules. New and Parse join all of them.
type SyntaxError struct {
	// Line and Col count from 1; Col counts characters, not bytes.
	Line, Col int
	// Msg says what is wrong. Text of the rules in it is quoted and capped.
	Msg string
	// Hint says what to write instead.
	Hint string
}

// Error is the fault in one line.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// place is where in the rules' text something stands.
type place struct{ line, col int }

// faults collects what is wrong, so that one run names everything.
type faults struct{ list []*SyntaxError }

func (f *faults) add(at place, hint, format string, args ...any) {
	f.list = append(f.list, &SyntaxError{Line: at.line, Col: at.col, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// join gives all faults in the order of the text, or nil.
func (f *faults) join() error {
	slices.SortStableFunc(f.list, func(a, b *SyntaxError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	all := make([]error, len(f.list))
	for i, e := range f.list {
		all[i] = e
	}
	return errors.Join(all...)
}
