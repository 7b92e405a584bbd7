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
	c := new(connector)
	if s, err := openOffsets(&config.Config{OffsetStore: "slot"}, c); s != nil || err != nil {
		t.Errorf("slot: %v, %v", s, err)
	}
	if _, err := openOffsets(&config.Config{OffsetStore: "table", OffsetTable: "x"}, c); err == nil {
		t.Error("a table without a schema was taken")
	}
}
