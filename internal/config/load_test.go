package config

import (
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestDefaults(t *testing.T) {
	noLibpq(t)
	c := mustLoad(t)
	got := *c
	got.Database, got.effective = Database{}, nil
	want := Config{
		Name: "outbox_cdc", Slot: "outbox_cdc", Publication: "outbox_cdc", SlotFailover: "auto", MonitorInterval: 5 * time.Second,
		Tables: "public.outbox", Routes: "* -> kafka:events",
		Unrouted: "halt", OnPoison: "halt", NullPayload: "halt", Format: "raw",
		MaxInFlightBytes: 16 << 20, MaxInFlightEvents: 20000, MaxEventBytes: 16 << 20,
		Kafka:       Kafka{SecurityProtocol: "PLAINTEXT", Compression: "lz4", Linger: time.Millisecond, RequestTimeout: 10 * time.Second, CreatePartitions: 6, CreateReplication: 3},
		OffsetStore: "table", OffsetTable: "outbox_cdc.checkpoint", OffsetInterval: 10 * time.Second,
		Standby: true, StandbyPoll: time.Second, ListenAddress: "127.0.0.1:9855", LogLevel: slog.LevelInfo,
		ShutdownGrace: 20 * time.Second, HoldRetry: 30 * time.Second,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	d := c.Database
	if d.ConnectTimeout != 10*time.Second || d.WALSenderTimeout != 15*time.Second ||
		d.StatusInterval != 250*time.Millisecond || d.ReconnectBackoffMax != 30*time.Second || d.DecodingWorkMem != 0 {
		t.Errorf("database: %+v", d)
	}
}

func TestEverythingSet(t *testing.T) {
	noLibpq(t)
	c := mustLoad(t,
		"NAME=orders-eu_1", "DATABASE_CONNECT_TIMEOUT=2s", "WAL_SENDER_TIMEOUT=0", "STATUS_INTERVAL=1s",
		"RECONNECT_BACKOFF_MAX=5m", "DECODING_WORK_MEM=64MiB", "SLOT=my_slot", "PUBLICATION=My Pub",
		"COLUMNS=id=eid", "UNROUTED=halt", "ON_POISON=halt", "FORMAT=raw", "NULL_PAYLOAD=halt",
		"MAX_IN_FLIGHT_BYTES=1GiB", "MAX_IN_FLIGHT_EVENTS=7", "MAX_EVENT_BYTES=1MB",
		"KAFKA_BROKERS=k1:9092, [::1]:9093", "KAFKA_SECURITY_PROTOCOL=PLAINTEXT", "KAFKA_COMPRESSION=zstd",
		"KAFKA_LINGER=0", "KAFKA_BATCH_MAX_BYTES=512KiB", "KAFKA_REQUEST_TIMEOUT=1m30s", "OFFSET_STORE=slot",
		"LISTEN_ADDRESS=:9000", "LISTEN_PPROF=true", "LOG_LEVEL=debug", "LOG_FORMAT=text",
		"SHUTDOWN_GRACE=1m", "ON_FATAL=exit", "HOLD_RETRY=10s")
	if c.Name != "orders-eu_1" || c.Slot != "my_slot" || c.Publication != "My Pub" || c.Columns != "id=eid" {
		t.Errorf("names: %+v", c)
	}
	if c.Database.WALSenderTimeout != 0 || c.Database.DecodingWorkMem != 64<<20 || c.Database.ConnectTimeout != 2*time.Second {
		t.Errorf("database: %+v", c.Database)
	}
	want := Kafka{
		Brokers: []string{"k1:9092", "[::1]:9093"}, SecurityProtocol: "PLAINTEXT", Compression: "zstd",
		BatchMaxBytes: 512 << 10, RequestTimeout: 90 * time.Second, CreatePartitions: 6, CreateReplication: 3,
	}
	if !reflect.DeepEqual(c.Kafka, want) {
		t.Errorf("kafka: got %+v, want %+v", c.Kafka, want)
	}
	if c.MaxInFlightBytes != 1<<30 || c.MaxInFlightEvents != 7 || c.MaxEventBytes != 1e6 {
		t.Errorf("bounds: %+v", c)
	}
	if !c.Pprof || c.LogLevel != slog.LevelDebug || c.LogFormat != "text" || !c.ExitOnFatal || c.HoldRetry != 10*time.Second {
		t.Errorf("process: %+v", c)
	}
}

// TestAllFaultsAtOnce: one run names everything, in an order that does not
// change from run to run.
func TestAllFaultsAtOnce(t *testing.T) {
	noLibpq(t)
	environ := []string{
		"OUTBOX_CDC_SLOTT=x", "OUTBOX_CDC_FORMAT=debezium", "OUTBOX_CDC_KAFKA_LINGER=5", "OUTBOX_CDC_DEAD_LETTER=a",
		"OUTBOX_CDC_MAX_EVENT_BYTES=3", "OUTBOX_CDC_SLOT=Bad-Slot", "OUTBOX_CDC_LISTEN_PPROF=yes",
	}
	want := []string{
		"SLOTT: no such setting; the nearest is OUTBOX_CDC_SLOT",
		"DEAD_LETTER: not in this version",
		"TABLES: required. ",
		"ROUTES: required. ",
		"FORMAT: debezium is not in this version; use raw",
		`MAX_EVENT_BYTES: "3": want a size with a unit`,
		`KAFKA_LINGER: "5": want a duration with a unit`,
		`LISTEN_PPROF: "yes": want true or false`,
		`SLOT: "Bad-Slot": a slot's name has`,
		"DATABASE_URL: required; set it, or PGHOST",
	}
	for range 5 {
		got := faults(t, environ)
		if len(got) != len(want) {
			t.Fatalf("got %d faults:\n%s", len(got), strings.Join(got, "\n"))
		}
		for i := range want {
			if !strings.HasPrefix(got[i], Prefix+want[i]) {
				t.Errorf("fault %d: got %q, want %q...", i, got[i], want[i])
			}
		}
	}
}

func TestValidatorsRunBesideOtherFaults(t *testing.T) {
	noLibpq(t)
	seen := ""
	validator := func(c *Config) []error {
		seen = c.Routes
		return []error{Require("KAFKA_BROKERS", "a rule says kafka"), Invalid("ROUTES", errors.New("line 1, column 2: what"))}
	}
	_, err := Load(environOf("LOG_LEVEL=loud"), validator)
	if err == nil {
		t.Fatal("got no error")
	}
	for _, part := range []string{
		"OUTBOX_CDC_LOG_LEVEL: \"loud\": want debug, info, warn or error\n",
		"OUTBOX_CDC_KAFKA_BROKERS: required, because a rule says kafka\n",
		"OUTBOX_CDC_ROUTES: line 1, column 2: what",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in\n%v", part, err)
		}
	}
	if _, ok := errors.AsType[*SettingError](err); !ok {
		t.Error("no *SettingError in the chain")
	}
	if seen != "* -> kafka:events" {
		t.Errorf("the validator saw routes %q", seen)
	}
	if _, err := Load(environOf(), func(*Config) []error { return nil }); err != nil {
		t.Errorf("a content validator: %v", err)
	}
}

func TestCrossChecks(t *testing.T) {
	noLibpq(t)
	long := strings.Repeat("s", 41)
	for _, tc := range []struct {
		name, setting, part string
		changes             []string
	}{
		{"long slot without name", "NAME", "required, because the slot's name has more than 40", []string{"SLOT=" + long}},
		{"slot too long", "SLOT", "1 to 63", []string{"SLOT=" + strings.Repeat("s", 64), "NAME=x"}},
		{"slot in upper case", "SLOT", "a-z, 0-9 and _", []string{"SLOT=Orders"}},
		{"slot with a dash", "SLOT", "a-z, 0-9 and _", []string{"SLOT=a-b"}},
		{"name in upper case", "NAME", "want 1 to 40", []string{"NAME=Orders"}},
		{"name too long", "NAME", "want 1 to 40", []string{"NAME=" + long}},
		{"publication too long", "PUBLICATION", "63 bytes", []string{"PUBLICATION=" + strings.Repeat("p", 64)}},
		{"publication with newline", "PUBLICATION", "control", []string{"PUBLICATION=a\nb"}},
		{"broker without port", "KAFKA_BROKERS", `"k" is none`, []string{"KAFKA_BROKERS=k"}},
		{"broker with a scheme", "KAFKA_BROKERS", "want host:port", []string{"KAFKA_BROKERS=kafka://k:9092"}},
		{"broker port too high", "KAFKA_BROKERS", "want host:port", []string{"KAFKA_BROKERS=localhost:65536"}},
		{"extra comma", "KAFKA_BROKERS", "empty element", []string{"KAFKA_BROKERS=localhost:1,"}},
		{"listener without port", "LISTEN_ADDRESS", "want host:port", []string{"LISTEN_ADDRESS=localhost"}},
		{"listener port name", "LISTEN_ADDRESS", "want host:port", []string{"LISTEN_ADDRESS=localhost:http"}},
	} {
		t.Run(tc.name, func(t *testing.T) { onlyFault(t, environOf(tc.changes...), tc.setting, tc.part) })
	}
	if c := mustLoad(t, "SLOT="+long, "NAME=short"); c.Name != "short" {
		t.Errorf("name %q", c.Name)
	}
	if c := mustLoad(t, "KAFKA_BROKERS=localhost:1,127.0.0.1:2,[::1]:3"); c.Kafka.SecurityProtocol != "PLAINTEXT" {
		t.Errorf("loopback brokers: protocol %q", c.Kafka.SecurityProtocol)
	}
}

func TestEffective(t *testing.T) {
	noLibpq(t)
	c := mustLoad(t, "ROUTES=", "ROUTES_FILE="+writeFile(t, "* -> kafka:f\n"), "KAFKA_LINGER=2ms")
	got := map[string]Effective{}
	for _, e := range c.Effective() {
		got[e.Name] = e
	}
	for _, want := range []Effective{
		{"OUTBOX_CDC_ROUTES", "* -> kafka:f", "file"},
		{"OUTBOX_CDC_KAFKA_LINGER", "2ms", "environment"},
		{"OUTBOX_CDC_HOLD_RETRY", "30s", "default"},
		{"OUTBOX_CDC_DATABASE_URL", "<secret>", "environment"},
	} {
		if got[want.Name] != want {
			t.Errorf("got %+v, want %+v", got[want.Name], want)
		}
	}
	if _, ok := got["OUTBOX_CDC_DEAD_LETTER"]; ok {
		t.Error("a setting that is not in this version is listed")
	}
	if first := c.Effective()[0].Name; first != "OUTBOX_CDC_NAME" {
		t.Errorf("the first is %s", first)
	}
}
