package pipeline

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// SkipEntry names an event that an operator gave up. Position and id must both
// be the event's: a position alone means something else in another history.
type SkipEntry struct {
	Position decoder.Position
	// EventID is the id as logs and /status show it: one that is very long is
	// cut there. It is "-" for a row that was too large to read.
	EventID string
}

var (
	errSkipShape = errors.New(`want LSN:ordinal:event-id, as the halt shows it, such as 0/1A2B3C4:1:order-17`)
	errSkipID    = errors.New("in the event id write % as %25 and a comma as %2C")
	errSkipTwice = errors.New("the position is named twice, with different event ids")
)

// ParseSkip reads OUTBOX_CDC_SKIP: entries separated by commas. The error joins
// what is wrong with each of them.
func ParseSkip(text string) ([]SkipEntry, error) {
	if text == "" {
		return nil, nil
	}
	var all []SkipEntry
	var faults []error
	ids := map[decoder.Position]string{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		e, err := parseSkipEntry(part)
		id, known := ids[e.Position]
		switch {
		case err == nil && known && id != e.EventID:
			err = errSkipTwice
			fallthrough
		case err != nil:
			faults = append(faults, fmt.Errorf("%q: %w", clip(part), err))
		case !known:
			ids[e.Position] = e.EventID
			all = append(all, e)
		}
	}
	return all, errors.Join(faults...)
}

func parseSkipEntry(s string) (e SkipEntry, err error) {
	lsn, rest, _ := strings.Cut(s, ":")
	ordinal, id, ok := strings.Cut(rest, ":")
	if !ok {
		return e, errSkipShape
	}
	if e.Position, err = decoder.ParsePosition(lsn + ":" + ordinal); err != nil {
		return e, errSkipShape
	}
	if e.EventID, err = url.PathUnescape(id); err != nil {
		return e, errSkipID
	}
	return e, nil
}

// String is the entry as ParseSkip reads it, safe in a shell, an env file and a
// manifest: what is not a letter, a digit or one of "-_.~" is percent-encoded in
// the id.
func (e SkipEntry) String() string {
	return e.Position.String() + ":" + strings.ReplaceAll(url.QueryEscape(e.EventID), "+", "%20")
}

// skips are the entries in force. Only the reader may ask for them.
type skips struct {
	entries []SkipEntry
	at      map[decoder.Position]*skip
	ids     map[string]*skip
}

// skip is one entry and what was said of it already: a rewind brings the same
// event again.
type skip struct {
	SkipEntry
	done, warned bool
}

func newSkips(entries []SkipEntry) skips {
	s := skips{entries: entries, at: map[decoder.Position]*skip{}, ids: map[string]*skip{}}
	for _, e := range entries {
		one := &skip{SkipEntry: e}
		s.at[e.Position], s.ids[e.EventID] = one, one
	}
	return s
}

// find gives the entry for an event; nil for most. other is one that names the
// event's position or its id, but not both, when that was not said before.
func (s *skips) find(pos decoder.Position, id []byte) (found, other *skip) {
	if len(s.entries) == 0 {
		return nil, nil
	}
	name := clip(string(id))
	found = s.at[pos]
	if found != nil && found.EventID == name {
		return found, nil
	}
	if other = found; other == nil {
		other = s.ids[name]
	}
	if other == nil || other.warned {
		return nil, nil
	}
	other.warned = true
	return nil, other
}

// remedy is the setting that gives up the event, and those that are still to
// come again.
func (s *skips) remedy(pos decoder.Position, id string, confirmed decoder.LSN) string {
	var b strings.Builder
	b.WriteString("to give the event up for all its destinations restart with OUTBOX_CDC_SKIP=")
	for _, e := range s.entries {
		if e.Position.Commit >= confirmed && e.Position != pos {
			b.WriteString(e.String() + ",")
		}
	}
	b.WriteString(SkipEntry{pos, id}.String())
	return b.String()
}
