package app

import (
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/pkg/format"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

func TestFormats(t *testing.T) {
	load := func(headers string) (*config.Config, error) {
		return config.Load([]string{
			"OUTBOX_CDC_DATABASE_URL=postgres://u@localhost/shop", "OUTBOX_CDC_TABLES=public.outbox", "OUTBOX_CDC_FORMAT=envelope",
			"OUTBOX_CDC_ROUTES=a -> stdout format=raw; b -> stdout", "OUTBOX_CDC_HEADERS=" + headers,
		}, Lint)
	}
	cfg, err := load("id,headers")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := router.New(cfg.Routes)
	if err != nil {
		t.Fatal(err)
	}
	all, err := formats(cfg, rules)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := all[""].(*format.Envelope); !ok {
		t.Errorf("the default is %T", all[""])
	}
	if _, ok := all[rules.Rules()[0].Format].(*format.Raw); !ok {
		t.Errorf("rule a has %T", all[rules.Rules()[0].Format])
	}
	for headers, want := range map[string]string{"id,payload": `"payload" is no role that becomes a header`, "id,tenant,id": `"id" is repeated`, "nix": `"nix" is no role`} {
		if _, err := load(headers); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", headers, err)
		}
	}
}
