package e2e

import (
	"net/url"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// TestCanary: neither a password nor a payload shows anywhere, whatever goes
// wrong, at the most talkative level.
func TestCanary(t *testing.T) {
	t.Parallel()
	const password, payload, key, header = "pw-canary-0815", "payload-canary-4711", "key-canary-1234", "header-canary-99"
	server := pgtest.Run(t, pgtest.Options{Password: "superuser-pw"})
	r := newRig(t, server, 1)
	r.db.Exec(t, "ALTER ROLE "+role+" PASSWORD '"+password+"'; ALTER TABLE app.outbox ADD headers jsonb")
	address, err := url.Parse(server.URL(r.db.Name, ""))
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, password)
	s := r.settings.with(settings{"DATABASE_URL": address.String(), "LOG_LEVEL": "debug", "ROUTES": "E -> kafka:" + topic})
	var seen strings.Builder
	look := func(c *connector) {
		for _, path := range []string{"/status", "/metrics", "/readyz", "/healthz"} {
			_, body := c.get(t.Context(), path)
			seen.WriteString(body)
		}
	}
	insert := func(id, kind, headers string) {
		r.db.Exec(t, `INSERT INTO app.outbox VALUES ('`+id+`', '`+kind+`', '`+key+`', '{"p": "`+payload+`"}', '`+headers+`')`)
	}

	c := startReady(t, s)
	insert("fine", "E", `{"h": "`+header+`"}`)
	r.settle()
	look(c)
	insert("no-rule", "other", `{"h": "`+header+`"}`)
	c.state("halted")
	look(c)
	c.stop()

	withAll := s.with(settings{"ROUTES": "* -> kafka:" + topic})
	d := startReady(t, withAll)
	r.settle()
	insert("bad-headers", "E", `["`+header+`"]`)
	d.state("halted")
	look(d)
	d.kill()
	r.inactive()
	// The password is wrong, then the server is away.
	wrong := address
	wrong.User = url.UserPassword(role, password+"-wrong")
	e := start(t, withAll.with(settings{"DATABASE_URL": wrong.String()}))
	e.held("password authentication failed", "OUTBOX_CDC_DATABASE_URL")
	look(e)
	if err := server.Stop(t.Context(), pgtest.Immediate); err != nil {
		t.Fatal(err)
	}
	f := start(t, withAll)
	f.state("connecting")
	look(f)
	for _, c := range []*connector{c, d, e, f} {
		seen.WriteString(c.log.String() + c.out.String())
	}
	for _, canary := range []string{password, payload, key, header} {
		if at := strings.Index(seen.String(), canary); at >= 0 {
			text := seen.String()
			t.Errorf("%q shows in: ...%s...", canary, text[max(0, at-300):min(len(text), at+100)])
		}
	}
	if !strings.Contains(seen.String(), "no-rule") {
		t.Error("not even the id of the halted event shows: this looked at nothing")
	}
}
