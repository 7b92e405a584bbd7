package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/format"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// formats makes the formats that the rules name, and under "" the default.
func formats(cfg *config.Config, rules *router.Router) (map[string]pipeline.Formatter, error) {
	headers, err := headerRoles(cfg)
	if err != nil {
		return nil, fmt.Errorf("OUTBOX_CDC_HEADERS: %w", err)
	}
	database, err := databaseName(cfg)
	if err != nil {
		return nil, err
	}
	opts := format.Options{Source: cfg.Name, Database: database, Headers: headers}
	byName := map[string]pipeline.Formatter{}
	if byName[""], err = format.New(cfg.Format, opts); err != nil {
		return nil, fmt.Errorf("OUTBOX_CDC_FORMAT: %w", err)
	}
	for _, r := range rules.Rules() {
		if r.Format == "" || byName[r.Format] != nil {
			continue
		}
		if byName[r.Format], err = format.New(r.Format, opts); err != nil {
			return nil, fmt.Errorf("OUTBOX_CDC_ROUTES: rule %q: %w", r.Name, err)
		}
	}
	return byName, nil
}

// headerRoles reads OUTBOX_CDC_HEADERS; nil is all roles.
func headerRoles(cfg *config.Config) ([]decoder.Role, error) {
	if len(cfg.Headers) == 0 {
		return nil, nil
	}
	known := format.HeaderRoles()
	roles := make([]decoder.Role, 0, len(cfg.Headers))
	for _, name := range cfg.Headers {
		r, ok := decoder.ParseRole(name)
		switch {
		case !ok || !slices.Contains(known, r):
			return nil, fmt.Errorf("%.32q is no role that becomes a header; there are %s", name, roleNames(known))
		case slices.Contains(roles, r):
			return nil, fmt.Errorf("%q is repeated", name)
		}
		roles = append(roles, r)
	}
	return roles, nil
}

func roleNames(roles []decoder.Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.String()
	}
	return strings.Join(names, " ")
}

// databaseName is the database that we connect to; without one in the URL it
// has the user's name, as libpq has it.
func databaseName(cfg *config.Config) (string, error) {
	cc, err := cfg.Database.ConnConfig()
	if err != nil {
		return "", err
	}
	if cc.Database == "" {
		return cc.User, nil
	}
	return cc.Database, nil
}
