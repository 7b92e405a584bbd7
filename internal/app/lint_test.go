package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func TestLint(t *testing.T) {
	for _, tc := range []struct {
		title                   string
		tables, columns, routes string
		brokers                 []string
		want                    []string
	}{
		{"good", "public.outbox", "id=eid", "* -> kafka:events", []string{"k:1"}, nil},
		{"no kafka in the rules", "public.outbox", "", "* -> stdout", nil, nil},
		{"missing texts are config's business", "", "", "", nil, nil},
		{"no brokers", "public.outbox", "", "* -> kafka:events", nil, []string{"OUTBOX_CDC_KAFKA_BROKERS: required, because a rule says kafka"}},
		{"two tables without schema", "a, b", "", "* -> stdout", nil, []string{"OUTBOX_CDC_TABLES: ", "OUTBOX_CDC_TABLES: "}},
		{"mapping for another table", "public.outbox", "public.orders: id=x", "* -> stdout", nil, []string{"OUTBOX_CDC_COLUMNS: column mapping: table public.orders"}},
		{"no role of this name", "public.outbox", "idd=x", "* -> stdout", nil, []string{"OUTBOX_CDC_COLUMNS: "}},
		{"columns without tables", "", "idd=x", "* -> stdout", nil, []string{"OUTBOX_CDC_COLUMNS: "}},
		{"two faults of the rules", "public.outbox", "", "b -> nowhere:x\na -> nowhere:x", nil, []string{"OUTBOX_CDC_ROUTES: line 1", "OUTBOX_CDC_ROUTES: line 2"}},
	} {
		t.Run(tc.title, func(t *testing.T) {
			got := Lint(&config.Config{Tables: tc.tables, Columns: tc.columns, Routes: tc.routes, Kafka: config.Kafka{Brokers: tc.brokers}})
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %q", got, tc.want)
			}
			for i, want := range tc.want {
				var f *config.SettingError
				if !strings.HasPrefix(got[i].Error(), want) || !errors.As(got[i], &f) || strings.Contains(got[i].Error(), "\n") {
					t.Errorf("got %q, want %q in one line", got[i], want)
				}
			}
		})
	}
}

// TestLintKafkaFiles: files that a connect would fail over are found offline.
func TestLintKafkaFiles(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := config.Kafka{SecurityProtocol: "SSL", TLSCAFile: "/nonexistent/ca.pem", TLSCertFile: empty, TLSKeyFile: empty}
	got := lintKafka(&config.Config{Kafka: k})
	if len(got) != 2 || !strings.HasPrefix(got[0].Error(), "OUTBOX_CDC_KAFKA_TLS_CA_FILE: CA file: open /nonexistent/ca.pem") ||
		!strings.HasPrefix(got[1].Error(), "OUTBOX_CDC_KAFKA_TLS_CERT_FILE: client certificate ") {
		t.Errorf("got %q", got)
	}
	k.SecurityProtocol = "PLAINTEXT"
	if got := lintKafka(&config.Config{Kafka: k}); len(got) > 0 {
		t.Errorf("without TLS: %q", got)
	}
}

func TestCheckFaults(t *testing.T) {
	r := CheckFaults(&config.Error{Faults: []error{&config.SettingError{Setting: "S", Problem: "p"}, errors.New("other")}}, "1.2")
	b, err := json.Marshal(r)
	want := `{"ok":false,"version":"1.2","checks":[{"name":"config","status":"fail","subject":"S","message":"p","remedy":""},` +
		`{"name":"config","status":"fail","subject":"","message":"other","remedy":""}]}`
	if err != nil || string(b) != want {
		t.Errorf("got  %s, %v\nwant %s", b, err, want)
	}
	if r := CheckFaults(errors.New("one"), ""); r.OK || len(r.Checks) != 1 || r.Checks[0].Message != "one" {
		t.Errorf("got %+v", r)
	}
	if b, err := json.Marshal(NewCheckResult("1")); err != nil || string(b) != `{"ok":true,"version":"1","checks":[]}` {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestWarningsLeaveACheckOK(t *testing.T) {
	r := NewCheckResult("1")
	r.add(catalog.Finding{Status: catalog.Warn}, catalog.Finding{Status: catalog.Skip}, catalog.Finding{Status: catalog.OK})
	if !r.OK {
		t.Error("a warning fails the check")
	}
	r.add(catalog.Finding{Status: catalog.Fail}, catalog.Finding{Status: catalog.OK})
	if r.OK || len(r.Checks) != 5 {
		t.Errorf("got %+v", r)
	}
}

// TestFailedFindings: what an error knows of its remedy is kept apart from
// what it says, and the finding stays on one line.
func TestFailedFindings(t *testing.T) {
	for _, tc := range []struct {
		err             error
		message, remedy string
	}{
		{errors.New("dial:\nrefused"), "dial:; refused", "check address, network and credentials"},
		{&pipeline.HoldError{Reason: "slot lost", Remedy: "make it anew"}, "slot lost", "make it anew"},
		{&sink.Error{Kind: sink.Config, Sink: "kafka", Destination: "t", Err: errors.New("no topic"), Remedy: "create it"}, "no topic", "create it"},
	} {
		f := failed("n", "s", tc.err)
		if f.Status != catalog.Fail || f.Message != tc.message || f.Remedy != tc.remedy {
			t.Errorf("%v: got %+v", tc.err, f)
		}
	}
}
