package app

import (
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

func TestLintOffsets(t *testing.T) {
	for _, tc := range []struct{ table, gap, want string }{
		{"outbox_cdc.checkpoint", "", ""},
		{`"My Schema"."T"`, "16/B374D848", ""},
		{"checkpoint", "", "OUTBOX_CDC_OFFSET_TABLE"},
		{"a.b,c.d", "", "OUTBOX_CDC_OFFSET_TABLE"},
		{"a.b", "next tuesday", "OUTBOX_CDC_ACCEPT_GAP"},
		{"", "x", "OUTBOX_CDC_ACCEPT_GAP"},
	} {
		got := lintOffsets(&config.Config{OffsetTable: tc.table, AcceptGap: tc.gap})
		if (tc.want == "") != (len(got) == 0) || len(got) > 0 && !strings.HasPrefix(got[0].Error(), tc.want) {
			t.Errorf("%q, %q: got %q, want %q", tc.table, tc.gap, got, tc.want)
		}
	}
}

func TestStoreFollowsTheConfiguration(t *testing.T) {
	for _, tc := range []struct {
		cfg  config.Config
		kept bool
		ok   bool
	}{
		{config.Config{OffsetStore: "slot"}, false, true},
		{config.Config{OffsetStore: "table", OffsetTable: "a.b"}, true, true},
		{config.Config{OffsetStore: "table", OffsetTable: "x"}, false, false},
	} {
		tc.cfg.Tables = "public.outbox"
		want, err := wanted(&tc.cfg)
		if (err == nil) != tc.ok || (openOffsets(&connector{want: want}) != nil) != tc.kept {
			t.Errorf("%+v: %+v, %v", tc.cfg, want.Checkpoint, err)
		}
	}
}
