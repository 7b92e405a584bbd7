package pipeline

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func TestParseSkip(t *testing.T) {
	at := func(commit decoder.LSN, n uint64) decoder.Position {
		return decoder.Position{Commit: commit, Ordinal: n}
	}
	got, err := ParseSkip("0/3E8:2:order-17, 00000000/000003E8:0000000003: ,0/7D0:1:urn:x:y%2C%25,0/7D0:1:urn:x:y%2C%25,16/0:1:-")
	want := []SkipEntry{{at(1000, 2), "order-17"}, {at(1000, 3), ""}, {at(2000, 1), "urn:x:y,%"}, {at(0x16<<32, 1), "-"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := ParseSkip(""); got != nil || err != nil {
		t.Errorf("nothing: %v, %v", got, err)
	}
	for _, bad := range []string{",", "0/1:1", "0/1", "x:1:a", "0/1:0:a", "0/1:x:a", "0/1:1:100%", "0/1:1:a,0/1:1:b", "0/1:1:a,"} {
		if got, err := ParseSkip(bad); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
	if _, err := ParseSkip("0/1:1:a,nonsense,0/1;2:b,0/2:1:%"); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three faults gave %v", err)
	}
}

// The entries of what is confirmed are left out, and one for the same position.
func TestRemedyHasWhatIsStillNeeded(t *testing.T) {
	old, err := ParseSkip("0/64:1:a,0/C8:1:b,0/12C:1:c")
	if err != nil {
		t.Fatal(err)
	}
	s := newSkips(old)
	got := s.remedy(decoder.Position{Commit: 300, Ordinal: 1}, "d", 108)
	if want := "OUTBOX_CDC_SKIP=00000000/000000C8:0000000001:b,00000000/0000012C:0000000001:d"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// What a halt shows can be pasted anywhere, and means its event.
func TestSkipEntryIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) SkipEntry {
			return SkipEntry{decoder.Position{
				Commit: decoder.LSN(rapid.Uint64().Draw(t, "lsn")), Ordinal: rapid.Uint64Range(1, 1<<63).Draw(t, "ordinal"),
			}, rapid.String().Draw(t, "id")}
		}), 1, 5, func(e SkipEntry) decoder.Position { return e.Position }).Draw(t, "entries")
		s := newSkips(all[1:])
		_, line, _ := strings.Cut(s.remedy(all[0].Position, all[0].EventID, 0), "OUTBOX_CDC_SKIP=")
		got, err := ParseSkip(line)
		if err != nil || !slices.Equal(got, append(slices.Clone(all[1:]), all[0])) {
			t.Fatalf("%s is read as %v, %v", line, got, err)
		}
		if i := strings.IndexFunc(line, func(r rune) bool { return r > '~' || strings.ContainsRune(" \t\n'\"\\$&;()<>|*?#`!{}[]", r) }); i >= 0 {
			t.Fatalf("%q is not safe in a shell at %d", line, i)
		}
	})
}

// oddIDs are two that must be encoded, and cut.
var oddIDs = [2]string{"it's, 100%\nä", strings.Repeat("ä", 63) + "x" + strings.Repeat("ö", 40)}

// giveUp serves events that can't be delivered, for any reason, in two
// transactions, and restarts with what each halt says, until all is confirmed.
func TestHaltSaysHowToSkip(t *testing.T) {
	serve := func(src *fakeSource, from decoder.LSN) {
		if from >= endOf(1000) {
			src.transaction(2000, row(4), insert(outboxOID, "-", "no.such.rule", "k"), row(5))
			return
		}
		src.send(begin(1000), relation(outboxOID, "outbox"), row(1))
		src.send(insert(outboxOID, "e2", "no.such.rule", "k"), insert(outboxOID, "", "order", "k"), row(3))
		src.frames <- pgrepl.Frame{Kind: pgrepl.FrameTooLarge, Data: insert(outboxOID, "big", "order", "k"), Size: 99_000_000}
		src.send(insert(outboxOID, oddIDs[0], "order", "k1"), insert(outboxOID, oddIDs[1], "", "k1"), commit(1000))
		src.transaction(2000, row(4), insert(outboxOID, "-", "no.such.rule", "k"), row(5))
	}
	var skip []SkipEntry
	halts, confirmed := 0, decoder.LSN(0)
	for done := false; !done && halts < 10; {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			r := start(t, func(c *Config) { c.Skip, c.Log = skip, slog.New(slog.NewJSONHandler(&log, nil)) })
			out := <-r.sinks
			out.set(func(s *fakeSink) {
				s.refuse = func(rec *sink.Record) error {
					if idOf(rec) == oddIDs[0] {
						return &sink.Error{Kind: sink.Poison, Scope: sink.ScopeRecord, Sink: "kafka", Destination: "orders", Reason: "too_large", Err: errors.New("no")}
					}
					return nil
				}
			})
			serve(r.session(), confirmed)
			settle(2 * time.Minute)
			st := r.p.Status()
			if done = st.State == StateStreaming; done {
				r.wantFlush(endOf(2000))
			} else if confirmed = r.server.lastStatus().Flush; confirmed >= endOf(1000) {
				wantIDs(t, out, "e1", "e3", "e4")
			}
			if !done {
				halts++
				_, line, _ := strings.Cut(st.Remedy, "OUTBOX_CDC_SKIP=")
				var err error
				if skip, err = ParseSkip(line); err != nil {
					t.Errorf("%s: %v", st.Remedy, err)
				}
			}
			n := r.p.Totals()
			skipped := int(n.Skipped + n.Routes[0].Skipped)
			r.end()
			if got := strings.Count(log.String(), "the event is skipped"); got != skipped || !done && skipped < len(skip)-1 || strings.Contains(log.String(), "payload of") {
				t.Errorf("the log tells of %d events, %d are counted, %d of %v:\n%s", got, skipped, len(skip), skip, log.String())
			}
		})
	}
	if halts != 6 {
		t.Errorf("%d halts, want 6", halts)
	}
}

// Position and id must both be the event's.
func TestSkipOfAnotherEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		skip, err := ParseSkip("0/3E8:1:other,0/7D0:1:e2")
		if err != nil {
			t.Fatal(err)
		}
		r := start(t, func(c *Config) { c.Skip, c.Log = skip, slog.New(slog.NewJSONHandler(&log, nil)) })
		out := <-r.sinks
		src := r.session()
		src.transaction(1000, row(1), row(2), row(2))
		src.transaction(2000, row(3))
		settle(time.Second)
		wantIDs(t, out, "e1", "e2", "e2", "e3")
		r.wantFlush(endOf(2000))
		r.end()
		for _, want := range []string{
			`"entry":"00000000/000003E8:0000000001:other","position":"00000000/000003E8:0000000001","event_id":"e1"`,
			`"entry":"00000000/000007D0:0000000001:e2","position":"00000000/000003E8:0000000002","event_id":"e2"`,
		} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s is not in the log:\n%s", want, log.String())
			}
		}
		if n := strings.Count(log.String(), "OUTBOX_CDC_SKIP"); n != 2 {
			t.Errorf("%d warnings", n)
		}
	})
}

// An event that was skipped is not met again after a reconnect, and counted once
// after a rewind.
func TestSkipAcrossSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		skip, err := ParseSkip("0/3E8:2:bad,0/3E8:3:-")
		if err != nil {
			t.Fatal(err)
		}
		r := start(t, func(c *Config) { c.Skip = skip })
		out := <-r.sinks
		serve := func() *fakeSource {
			src := r.session()
			src.send(begin(1000), relation(outboxOID, "outbox"), row(1), insert(outboxOID, "bad", "no.such.rule", "k"))
			src.frames <- pgrepl.Frame{Kind: pgrepl.FrameTooLarge, Data: insert(outboxOID, "big", "order", "k"), Size: 99_000_000}
			return src
		}
		serve().cut(io.EOF)
		src := serve()
		out.set(func(s *fakeSink) { s.hold = true })
		src.send(row(4), commit(1000))
		settle(time.Second)
		out.failOldest(refusal(sink.Retriable))
		out = <-r.sinks
		serve().send(row(4), commit(1000))
		settle(time.Second)
		wantIDs(t, out, "e1", "e4")
		r.wantFlush(endOf(1000))
		if n := r.p.Totals(); n.Skipped != 2 {
			t.Errorf("%d are counted", n.Skipped)
		}
		r.end()
	})
}
