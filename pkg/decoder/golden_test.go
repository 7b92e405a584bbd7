package decoder

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

//go:generate go run ../../internal/pgtest/capture -out testdata/golden

var update = flag.Bool("update", false, "write the expected dumps of the golden frames anew")

const (
	goldenTables  = `public.outbox, public.types, public.bin, public.bin2, public.copied, public.po, "Ünï Code"."Out.Box""x", public.toasted`
	goldenMapping = `public.copied: type=event_type|kind; "Ünï Code"."Out.Box""x": key="select", payload="päyload"`
)

// goldenFiles are the captured files, one a major.
func goldenFiles(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/golden/pg*.txt")
	if err != nil || len(files) != 5 {
		tb.Fatalf("want the golden files of five majors, got %v, %v", files, err)
	}
	return files
}

// goldenLines are a file's lines; msg is nil for a comment or statement.
func goldenLines(tb testing.TB, file string) (lines []goldenLine) {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		g := goldenLine{text: line}
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ">") {
			if g.msg, err = hex.DecodeString(line); err != nil {
				tb.Fatal(err)
			}
		}
		lines = append(lines, g)
	}
	return lines
}

type goldenLine struct {
	text string
	msg  []byte
}

// TestGoldenDump decodes what each major sent and compares it, readable, with
// the file beside it.
func TestGoldenDump(t *testing.T) {
	for _, file := range goldenFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var got bytes.Buffer
			d := New(mustTables(t, goldenTables, goldenMapping))
			for _, line := range goldenLines(t, file) {
				if line.msg == nil {
					fmt.Fprintln(&got, line.text)
					continue
				}
				fmt.Fprintf(&got, "  %s\n", dumpLine(d, line.msg))
			}
			want := strings.TrimSuffix(file, "txt") + "dump"
			if *update {
				if err := os.WriteFile(want, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			expected, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), expected) {
				t.Errorf("the decoded frames are not those of %s; got\n%s", want, got.Bytes())
			}
		})
	}
}

// dumpLine decodes a message and prints all that came out.
func dumpLine(d *Decoder, msg []byte) string {
	var ev Event
	_, out, err := d.Decode(msg, make([]byte, 0, len(msg)), &ev)
	m := d.Last()
	if err != nil {
		return fmt.Sprintf("%v: ERROR %v", m.Kind, err)
	}
	switch out {
	case OutcomeBegin:
		tx := d.Tx()
		return fmt.Sprintf("Begin %v at %s xid %d", tx.FinalLSN, tx.CommitTime.Format(time.RFC3339Nano), tx.XID)
	case OutcomeCommit:
		commit, end, at := d.LastCommit()
		return fmt.Sprintf("Commit %v, end %v at %s", commit, end, at.Format(time.RFC3339Nano))
	case OutcomeRelation:
		return "Relation " + dumpRelation(d)
	case OutcomeEvent:
		return fmt.Sprintf("Event %v %s", ev.Position, dumpEvent(&ev))
	case OutcomeOtherTable:
		return fmt.Sprintf("Insert on other table %v %s", d.Relation().TableName(), dumpTuple(m.New))
	case OutcomeIgnoredOp:
		if m.Kind == KindTruncate {
			return fmt.Sprintf("Truncate of %d", len(m.Truncated))
		}
		return fmt.Sprintf("%v on %v old %s new %s", m.Kind, d.Relation().TableName(), dumpTuple(m.Old), dumpTuple(m.New))
	case OutcomeIgnored:
	}
	switch m.Kind { //nolint:exhaustive // the others have an outcome of their own.
	case KindOrigin:
		return fmt.Sprintf("Origin %q at %v", m.Name, m.CommitLSN)
	case KindType:
		return fmt.Sprintf("Type %d is %q.%q", m.OID, m.Namespace, m.Name)
	case KindMessage:
		return fmt.Sprintf("Message %v transactional %t prefix %q content %q", m.LSN, m.Transactional, m.Prefix, m.Content)
	default:
		return fmt.Sprintf("%v %d %d", m.Kind, m.XID, m.SubXID)
	}
}

func dumpRelation(d *Decoder) string {
	rel := d.Relation()
	var b strings.Builder
	fmt.Fprintf(&b, "%v identity %c:", rel.TableName(), rel.ReplicaIdentity)
	for _, c := range rel.Columns {
		fmt.Fprintf(&b, " %q %d/%d", c.Name, c.TypeOID, c.TypeMod)
		if c.Key {
			b.WriteString(" key")
		}
	}
	if t := d.Table(); t != nil {
		b.WriteString(";")
		for _, r := range Roles() {
			if name, _, ok := t.Column(r); ok {
				fmt.Fprintf(&b, " %v=%s", r, name)
			}
		}
	}
	return b.String()
}

func dumpEvent(ev *Event) string {
	var b strings.Builder
	b.WriteString(ev.Table.Name.String())
	for _, r := range Roles() {
		if v := ev.Field(r); v != nil {
			fmt.Fprintf(&b, " %v=%s", r, short(v))
		}
	}
	return b.String()
}

func dumpTuple(t Tuple) string {
	var parts []string
	for c := t.Cursor(); c.Next(); {
		switch c.Kind {
		case ValueNull:
			parts = append(parts, "null")
		case ValueUnchanged:
			parts = append(parts, "unchanged")
		case ValueText, ValueBinary:
			parts = append(parts, short(c.Value))
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func short(v []byte) string {
	if len(v) > 80 {
		return fmt.Sprintf("%q and %d more bytes", v[:20], len(v)-20)
	}
	return strconv.Quote(string(v))
}

// goldenEvents are the events that the script means, on every major: the
// ordinal in the transaction, the table and its values.
var goldenEvents = []string{
	`1 public.outbox id="6f1c1a52-3f0e-4f53-9a3f-0c2d2f3f5a11" type="order.created" key="k1" payload="{\"a\": 3, \"z\": 1.10, \"bb\": 1}"`,
	`1 public.outbox id="00000000-0000-0000-0000-000000000002" type=""`,
	`2 public.outbox id="00000000-0000-0000-0000-000000000003" key="" payload="null"`,
	`1 public.types id="9223372036854775807" type="é" key="lab" payload="{\"n\":12345678901234567890.10, \"n\":1}"` +
		` sequence="7" headers="{\"a\": \"1\"}" created_at="2024-02-03 04:05:06.5+00"`,
	`1 public.bin id="1" type="t" key="a" payload="\x00\xff\x7f"`,
	`2 public.bin id="2" type="t" key="a" payload=""`,
	`3 public.bin id="3" type="t" key="a"`,
	`1 public.bin2 id="1" type="t" key="a" payload="ޭ\xbe\xef"`,
	`1 public.copied id="1" type="c" key="k" payload="one"`,
	`2 public.copied id="2" type="c" payload="tab\tand\\back"`,
	`3 public.copied id="3" type="c" key="k" payload=" 🐘 \r\n"`,
	`1 public.copied id="10" type="s" key="k" payload="kept"`,
	`2 public.copied id="12" type="s" key="k" payload="kept too"`,
	`1 public.outbox id="00000000-0000-0000-0000-000000000004" type="t" key="k" payload="{}"`,
	`1 public.copied id="20" type="m" key="k" payload="with messages"`,
	`1 public.copied id="30" type="r" key="k" payload="added" tenant="acme"`,
	`2 public.copied id="31" type="r" key="k" payload="renamed" tenant="acme"`,
	`3 public.copied id="32" type="r" key="k" payload="dropped"`,
	`1 public.po id="40" type="p" key="k" payload="root"`,
	`2 public.po id="41" type="p" key="k" payload="leaf"`,
	`1 public.po id="40" type="p" key="k" payload="root"`, // the UPDATE that moved it
	`1 public.copied id="50" type="o" key="k" payload="from afar"`,
	`1 "Ünï Code"."Out.Box""x" id="60" type="é.quoted" key="schlüssel" payload="🐘"`,
	`1 public.toasted id="70" type="big" key="k" payload="toasttoasttoasttoast" and 2980 more bytes`,
	`1 public.copied id="90" type="after" key="k" payload="origins"`,
}

// TestGoldenEvents says what must come out of the script, whatever the major.
func TestGoldenEvents(t *testing.T) {
	for _, file := range goldenFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			d := New(mustTables(t, goldenTables, goldenMapping))
			var got []string
			var renamed error
			var arena []byte
			for _, line := range goldenLines(t, file) {
				arena = slices.Grow(arena, len(line.msg))
				var ev Event
				if line.msg == nil {
					continue
				}
				next, out, err := d.Decode(line.msg, arena, &ev)
				if err != nil {
					renamed = err
					break
				}
				arena = next
				if out == OutcomeEvent {
					got = append(got, fmt.Sprintf("%d %s", ev.Position.Ordinal, dumpEvent(&ev)))
				}
			}
			for i := range max(len(got), len(goldenEvents)) {
				if i >= len(got) || i >= len(goldenEvents) || got[i] != goldenEvents[i] {
					t.Fatalf("event %d of %d is not the one expected of %d:\n%q", i, len(got), len(goldenEvents), got[min(i, len(got)):])
				}
			}
			var e *RenamedError
			if !asError(renamed, &e) || e.Old.String() != "public.copied" || e.New.String() != "public.copied_old" {
				t.Errorf("the renamed table led to %v", renamed)
			}
		})
	}
}

// TestGoldenStrayAbort makes sure that the frames hold the message that only
// PostgreSQL 18 sends, which a decoder must not stumble over.
func TestGoldenStrayAbort(t *testing.T) {
	var msg []byte
	for _, line := range goldenLines(t, "testdata/golden/pg18.txt") {
		if len(line.msg) > 0 && Kind(line.msg[0]) == KindStreamAbort {
			msg = line.msg
		}
	}
	if len(msg) != 9 {
		t.Fatalf("got %x, want a Stream Abort of 9 bytes", msg)
	}
	d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100))
	if _, out, err := d.Decode(msg, nil, nil); err != nil || out != OutcomeIgnored || !d.InTx() {
		t.Errorf("got outcome %d, %v, in transaction %t; want it ignored", out, err, d.InTx())
	}
}
