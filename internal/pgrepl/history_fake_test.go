package pgrepl

import (
	"maps"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl/pgfake"
)

func TestHistoryOnConnect(t *testing.T) {
	tests := map[string]struct {
		opts pgfake.Options
		want History
	}{
		"first timeline":     {pgfake.Options{History: "not asked for"}, nil},
		"file is gone":       {pgfake.Options{Timeline: 3}, nil},
		"after two failures": {pgfake.Options{Timeline: 3, History: "1\t0/5000\tno reason\n\n2\t1/A0\tnone\n"}, History{1: 0x5000, 2: 0x1_0000_00A0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			session := connect(t, config(t, pgfake.Start(t, test.opts).URL()))
			if got := session.Identity.History; !maps.Equal(got, test.want) || (got == nil) != (test.want == nil) {
				t.Errorf("History = %v, want %v", got, test.want)
			}
		})
	}
	cfg := config(t, pgfake.Start(t, pgfake.Options{Timeline: 2, History: "rubbish"}).URL())
	if _, err := Connect(t.Context(), cfg); err == nil || !strings.HasPrefix(err.Error(), "read the history of timeline 2: ") {
		t.Errorf("a history that can't be read: %v", err)
	}
}
