package kafka

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func mustDefaults(tb testing.TB) Config {
	tb.Helper()
	cfg, err := Config{Brokers: []string{"127.0.0.1:1"}}.withDefaults()
	if err != nil {
		tb.Fatal(err)
	}
	return cfg
}

func TestConfigDefaults(t *testing.T) {
	cfg := mustDefaults(t)
	if cfg.ClientID != "outbox-cdc" || cfg.Compression != "lz4" || cfg.RequestTimeout != 10*time.Second {
		t.Errorf("defaults %+v", cfg)
	}
	if cfg.MaxBufferedRecords <= 20_000 || cfg.MaxBufferedBytes <= 16<<20 {
		t.Errorf("a window of %d records, %d bytes fills before the pipeline's own", cfg.MaxBufferedRecords, cfg.MaxBufferedBytes)
	}
	if cfg.Logger == nil {
		t.Error("no logger")
	}
}

func TestConfigReportsAllFaults(t *testing.T) {
	_, err := New(Config{
		Compression: "rar", BatchMaxBytes: 100, Linger: -1, RequestTimeout: time.Nanosecond, MaxBufferedRecords: -1,
	}, nil)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"brokers", `"rar"`, "batch max bytes", "linger", "request timeout", "max buffered"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v\nlacks %s", err, part)
		}
	}
}

func TestEachCompressionMakesAClient(t *testing.T) {
	for _, name := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		cfg := mustDefaults(t)
		cfg.Compression = name
		p, err := newProducer(cfg, newClientLog(discard(), func(string, error) {}), nil, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p.client.Close()
	}
}
