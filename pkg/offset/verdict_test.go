package offset

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// stored is a checkpoint of timeline 3, in the middle of its range.
func stored() *Checkpoint {
	return &Checkpoint{
		Slot: "s", SystemID: "7", Timeline: 3, Database: "shop",
		Confirmed: 0x500, Ceiling: 0x800, Restart: 0x400, Decoded: 10, Phase: PhaseStream,
	}
}

// server is the one of stored, with the slot where the checkpoint is.
func server() ServerState {
	return ServerState{
		SystemID: "7", Timeline: 3, Database: "shop", Flush: 0x1000,
		SwitchPoints:  map[int32]decoder.LSN{1: 0x100, 2: 0x200},
		SlotConfirmed: 0x500, SlotRestart: 0x400, Decoded: 10,
	}
}

// promoted is the server one timeline later, where the checkpoint's ended at
// the given position.
func promoted(end decoder.LSN) func(*ServerState) {
	return func(at *ServerState) { at.Timeline, at.SwitchPoints[3], at.Decoded = 4, end, 0 }
}

func slotAt(confirmed, restart decoder.LSN) func(*ServerState) {
	return func(at *ServerState) { at.SlotConfirmed, at.SlotRestart = confirmed, restart }
}

// again is a slot that was made again, or that looks so.
func again(confirmed, restart decoder.LSN) func(*ServerState) {
	return func(at *ServerState) { at.SlotConfirmed, at.SlotRestart, at.Decoded = confirmed, restart, 0 }
}

func newer(n NewerRows) func(*ServerState) { return func(at *ServerState) { at.NewerRows = n } }

func accept(v Verdict, from, to decoder.LSN) Verdict {
	v.Accepted = &Range{From: from, To: to}
	return v
}

func TestJudge(t *testing.T) {
	type changes = []func(*ServerState)
	fromSlot := func(at decoder.LSN) Verdict { return Verdict{Floor: at} }
	fromCheckpoint := Verdict{Start: 0x500, Floor: 0x500}
	gap := func(at, from decoder.LSN) Verdict { return Verdict{Floor: at, Hold: true, GapFrom: from} }
	suspect := func(v Verdict) Verdict { v.Suspect = true; return v }
	ghost := func(v Verdict, from decoder.LSN) Verdict { v.Ghost = &Range{From: from, To: 0x500}; return v }
	for _, tc := range []struct {
		title   string
		cp      *Checkpoint
		changes changes
		accept  decoder.LSN
		want    Verdict
		says    string
	}{
		{"no checkpoint", nil, nil, 0, fromSlot(0x500), ""},
		{"as it was left", stored(), nil, 0, fromCheckpoint, ""},
		{"put back by a crash", stored(), changes{slotAt(0x300, 0x200)}, 0, fromCheckpoint, ""},
		{"killed between two saves", stored(), changes{slotAt(0x600, 0x400)}, 0, fromSlot(0x600), ""},
		{"killed, and no restart position stored", &Checkpoint{Slot: "s", SystemID: "7", Timeline: 3, Database: "shop", Confirmed: 0x500, Ceiling: 0x800}, changes{slotAt(0x600, 0x4FF)}, 0, fromSlot(0x600), ""},
		{"killed after the slot let go of WAL", stored(), changes{slotAt(0x600, 0x5F0)}, 0, fromSlot(0x600), ""},
		{"at the ceiling", stored(), changes{slotAt(0x800, 0x400)}, 0, fromSlot(0x800), ""},

		{"another system", stored(), changes{func(at *ServerState) { at.SystemID = "8" }}, 0x500, Verdict{Hold: true}, "this is database system 8, and the checkpoint of slot s is of system 7"},
		{"another database", stored(), changes{func(at *ServerState) { at.Database = "clone" }}, 0x500, Verdict{Hold: true}, `this is database "clone"`},
		{"an unknown phase", func() *Checkpoint { c := stored(); c.Phase = "rounds"; return c }(), nil, 0x500, Verdict{Hold: true}, `in phase "rounds"`},
		{"an old primary", stored(), changes{func(at *ServerState) { at.Timeline = 2 }}, 0x500, Verdict{Hold: true}, "timeline 2, below 3"},
		{"restored", stored(), changes{func(at *ServerState) { at.Flush = 0x4FF }, slotAt(0x300, 0x300)}, 0x500, Verdict{Hold: true}, "ends at 0/4FF, below 0/500"},
		{"nothing written since", stored(), changes{func(at *ServerState) { at.Flush = 0x500 }}, 0, fromCheckpoint, ""},

		{"above the ceiling", stored(), changes{slotAt(0x801, 0x400)}, 0, suspect(gap(0x801, 0x500)), "gap from LSN 0/500: slot s stands at 0/801, above 0/800"},
		{"above the ceiling, decoded more", stored(), changes{slotAt(0x801, 0x400), func(at *ServerState) { at.Decoded = 11 }}, 0, suspect(gap(0x801, 0x500)), "SELECT on the outbox tables"},
		{"above the ceiling, no newer rows", stored(), changes{again(0x900, 0x900), newer(NewerNone)}, 0, suspect(fromSlot(0x900)), ""},
		{"far above, no newer rows", stored(), changes{again(0x501+near, 0x900), newer(NewerNone)}, 0, gap(0x501+near, 0x500), "gap from LSN 0/500"},
		{"made again above the ceiling, accepted", stored(), changes{again(0x900, 0x900)}, 0x500, suspect(accept(fromSlot(0x900), 0x500, 0x900)), ""},
		{"made again, another gap accepted", stored(), changes{again(0x900, 0x900)}, 0x4FF, suspect(gap(0x900, 0x500)), "(0/4FF, which is set, is another gap)"},

		{"made again", stored(), changes{again(0x600, 0x501)}, 0, suspect(gap(0x600, 0x500)), "needs WAL only from 0/501 on"},
		{"made again, no newer rows", stored(), changes{again(0x600, 0x501), newer(NewerNone)}, 0, suspect(fromSlot(0x600)), ""},
		{"made again, newer rows", stored(), changes{again(0x600, 0x501), newer(NewerSome)}, 0, suspect(gap(0x600, 0x500)), "OUTBOX_CDC_ACCEPT_GAP=0/500"},
		{"made again, no rows at all", stored(), changes{again(0x600, 0x501), newer(NewerEmptied)}, 0, suspect(gap(0x600, 0x500)), "proves nothing"},
		{"made again, accepted", stored(), changes{again(0x600, 0x501), newer(NewerSome)}, 0x500, suspect(accept(fromSlot(0x600), 0x500, 0x600)), ""},
		{"made again when nothing was written since", stored(), changes{again(0x500, 0x500)}, 0, fromCheckpoint, ""},
		{"fewer decoded than stored", stored(), changes{again(0x600, 0x501), func(at *ServerState) { at.Decoded = 9 }}, 0, suspect(gap(0x600, 0x500)), ""},
		{"restart position not known", stored(), changes{again(0x600, 0)}, 0, suspect(gap(0x600, 0x500)), ""},

		{"promoted, all of it there", stored(), changes{promoted(0x700), slotAt(0x500, 0x400)}, 0, fromCheckpoint, ""},
		{"promoted exactly there", stored(), changes{promoted(0x500), slotAt(0x480, 0x400)}, 0, fromCheckpoint, ""},
		{"promoted, not all of it there", stored(), changes{promoted(0x480), slotAt(0x450, 0x400)}, 0, ghost(fromSlot(0x450), 0x480), ""},
		{"promoted, ours moved on", stored(), changes{promoted(0x480), slotAt(0x600, 0x480)}, 0, ghost(fromSlot(0x600), 0x480), ""},
		{"promoted, made again within the checkpoint", stored(), changes{promoted(0x480), slotAt(0x490, 0x488)}, 0, suspect(ghost(gap(0x490, 0x480), 0x480)), "gap from LSN 0/480"},
		{"promoted, made again", stored(), changes{promoted(0x700), slotAt(0x750, 0x740)}, 0, suspect(gap(0x750, 0x500)), ""},
		{"promoted, made again and accepted", stored(), changes{promoted(0x700), slotAt(0x900, 0x900)}, 0x500, suspect(accept(fromSlot(0x900), 0x500, 0x900)), ""},
		{"promoted, decoded on another server", stored(), changes{promoted(0x700), slotAt(0x750, 0x740), func(at *ServerState) { at.Decoded = 11 }}, 0, suspect(gap(0x750, 0x500)), ""},
		{"history gone", stored(), changes{promoted(0x700), slotAt(0x450, 0x440), func(at *ServerState) { at.SwitchPoints = nil }}, 0, suspect(gap(0x450, 0x500)), ""},
		{"history gone, no newer rows", stored(), changes{promoted(0x700), slotAt(0x450, 0x440), func(at *ServerState) { at.SwitchPoints = nil }, newer(NewerNone)}, 0, suspect(fromSlot(0x450)), ""},
		{"another branch", stored(), changes{promoted(0x700), slotAt(0x450, 0x440), func(at *ServerState) { delete(at.SwitchPoints, 3) }}, 0x500, suspect(accept(fromSlot(0x450), 0x500, 0x450)), ""},
	} {
		t.Run(tc.title, func(t *testing.T) {
			at := server()
			for _, change := range tc.changes {
				change(&at)
			}
			got := Judge(tc.cp, at, tc.accept)
			if !strings.Contains(got.Reason+"; "+got.Remedy, tc.says) || got.Hold != (got.Reason != "") || got.Hold != (got.Remedy != "") {
				t.Errorf("%q is not in reason %q, remedy %q", tc.says, got.Reason, got.Remedy)
			}
			got.Reason, got.Remedy = "", ""
			if !sameRange(got.Ghost, tc.want.Ghost) || !sameRange(got.Accepted, tc.want.Accepted) {
				t.Errorf("ghost %v, accepted %v, want %v, %v", got.Ghost, got.Accepted, tc.want.Ghost, tc.want.Accepted)
			}
			got.Ghost, got.Accepted, tc.want.Ghost, tc.want.Accepted = nil, nil, nil, nil
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func sameRange(a, b *Range) bool { return a == b || a != nil && b != nil && *a == *b }

// TestJudgeNeverSkips: whatever the positions are, a stream that starts skips
// nothing that was not confirmed in this history, unless the operator, the
// tables or the evidence that the slot is ours say so.
func TestJudgeNeverSkips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lsn := func(name string) decoder.LSN { return decoder.LSN(rapid.Uint64Range(1, 20).Draw(t, name)) }
		cp := &Checkpoint{Slot: "s", SystemID: "7", Timeline: int32(rapid.IntRange(1, 2).Draw(t, "timeline")), Database: "shop", Confirmed: lsn("confirmed"), Restart: lsn("restart")}
		cp.Ceiling = cp.Confirmed + lsn("room")
		at := ServerState{SystemID: "7", Timeline: int32(rapid.IntRange(1, 2).Draw(t, "server's timeline")), Database: "shop", Flush: 40, SlotConfirmed: lsn("slot")}
		end := decoder.LSN(40)
		if at.Timeline == 2 {
			end = lsn("switch")
			at.SwitchPoints = map[int32]decoder.LSN{1: end}
		}
		at.SlotRestart = decoder.LSN(rapid.Uint64Range(1, uint64(at.SlotConfirmed)).Draw(t, "slot's restart"))
		gap := decoder.LSN(rapid.Uint64Range(0, 20).Draw(t, "accepted"))
		v := Judge(cp, at, gap)
		if v.Hold {
			if v.Start != 0 || v.Reason == "" || v.Remedy == "" {
				t.Fatalf("a hold with %+v", v)
			}
			return
		}
		if at.Timeline < cp.Timeline {
			t.Fatalf("an old primary is streamed: %+v", v)
		}
		valid := cp.Confirmed
		if at.Timeline > cp.Timeline {
			valid = min(valid, end)
		}
		if v.Start > valid || v.Floor > max(valid, at.SlotConfirmed) || v.Floor < at.SlotConfirmed {
			t.Fatalf("starts at %v with %v, but only %v is confirmed here", v.Start, v.Floor, valid)
		}
		if at.SlotConfirmed > valid && v.Accepted == nil && (at.SlotConfirmed > cp.Ceiling || at.SlotRestart > max(cp.Restart, valid)) {
			t.Fatalf("a slot that may have been made again is streamed: %+v", v)
		}
		if v.Accepted != nil && (v.Accepted.From != gap || v.Accepted.From != valid) {
			t.Fatalf("accepted %+v, the gap begins at %v and %v was named", v.Accepted, valid, gap)
		}
	})
}

func TestNewerRowsString(t *testing.T) {
	for n, want := range map[NewerRows]string{NewerUnknown: "unknown", NewerNone: "none", NewerSome: "some", NewerEmptied: "emptied", 9: "unknown"} {
		if got := n.String(); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestVerdictBoundsNames(t *testing.T) {
	cp := stored()
	cp.Database = strings.Repeat("d", 1000)
	if v := Judge(cp, server(), 0); len(v.Reason) > 400 {
		t.Errorf("a reason of %d bytes", len(v.Reason))
	}
}
