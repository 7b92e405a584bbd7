package pipeline

import (
	"slices"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// suspects are the positions of records that were refused together with others:
// one of them may be the reason, or several. They stay suspect until they are
// confirmed, and not only until they were stored: a rewind sends them again.
//
// It belongs to one goroutine at a time: the one that runs the generations, and
// the sender of a generation while it runs.
type suspects struct {
	list []decoder.Position // in order
	next int                // the first of list that the sender has not passed
	// upTo makes everything up to it suspect; it replaces a list that is too
	// long.
	upTo decoder.Position
}

func (s *suspects) reset() { *s = suspects{} }

func (s *suspects) empty() bool { return len(s.list) == 0 && s.upTo == decoder.Position{} }

// add takes what one generation's sinks have refused. The list may hold limit
// positions.
func (s *suspects) add(refused []decoder.Position, limit int) {
	s.list = append(s.list, refused...)
	slices.SortFunc(s.list, decoder.Position.Compare)
	s.list = slices.Compact(s.list)
	if n := len(s.list); n > limit {
		if last := s.list[n-1]; last.Compare(s.upTo) > 0 {
			s.upTo = last
		}
		s.list = nil
	}
}

// begin forgets what is confirmed, for a sender that starts there.
func (s *suspects) begin(confirmed decoder.LSN) {
	s.next = 0
	s.list = slices.DeleteFunc(s.list, func(p decoder.Position) bool { return p.Commit < confirmed })
	if s.upTo.Commit < confirmed {
		s.upTo = decoder.Position{}
	}
}

// has tells whether a position is suspect. It must be asked in order.
func (s *suspects) has(p decoder.Position) bool {
	for s.next < len(s.list) && s.list[s.next].Compare(p) < 0 {
		s.next++
	}
	return p.Compare(s.upTo) <= 0 || s.next < len(s.list) && s.list[s.next] == p
}

// ahead tells whether there are suspects behind p, which was the last to be
// asked for.
func (s *suspects) ahead(p decoder.Position) bool {
	return p.Compare(s.upTo) < 0 || len(s.list) > 0 && s.list[len(s.list)-1].Compare(p) > 0
}
