package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/kafka"
)

// checkSinks asks each destination that the rules name literally whether it can
// be delivered to.
func checkSinks(ctx context.Context, cfg *config.Config, log *slog.Logger, rules *router.Router) []catalog.Finding {
	ctx, cancel := context.WithTimeout(ctx, sinkTimeout)
	defer cancel()
	names := map[string][]string{}
	for _, t := range rules.Literals() {
		names[t.Sink] = append(names[t.Sink], t.Destination)
	}
	opener := &sinkOpener{cfg: cfg, log: log, readOnly: true}
	var fs []catalog.Finding
	for _, kind := range rules.Sinks() {
		s, err := opener.one(kind, func(*sink.Record, error) {})
		if err != nil {
			fs = append(fs, failed(kind+".client", "", err))
			continue
		}
		if checker, ok := s.(sink.Checker); ok {
			fs = append(fs, checkDestinations(ctx, cfg, kind, checker, names[kind])...)
		}
		if err := s.Close(ctx); err != nil {
			fs = append(fs, failed(kind+".client", "", err))
		}
	}
	return fs
}

func checkDestinations(ctx context.Context, cfg *config.Config, kind string, checker sink.Checker, names []string) []catalog.Finding {
	name := kind + ".destination"
	if len(names) == 0 {
		return []catalog.Finding{{Name: name, Status: catalog.Skip, Message: "every name comes from data; each is looked at when it is first used"}}
	}
	var fs []catalog.Finding
	for i, err := range checker.Check(ctx, names) {
		if err == nil {
			fs = append(fs, catalog.Finding{Name: name, Status: catalog.OK, Subject: names[i], Message: "exists and takes records"})
			continue
		}
		f := failed(name, names[i], err)
		var refused *sink.Error
		if errors.As(err, &refused) && refused.Reason == kafka.ReasonTopicMissing && cfg.Kafka.CreateTopics {
			f = catalog.Finding{Name: name, Status: catalog.OK, Subject: names[i], Message: "is missing; the start creates it"}
		}
		if errors.As(err, &refused) && refused.Kind == sink.Retriable && f.Remedy == "" {
			f.Remedy = fmt.Sprintf("check the address and the network to the %s brokers", kind)
		}
		fs = append(fs, f)
	}
	return fs
}

// oneLine keeps a finding on one line.
func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ") }
