package config

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// mode reads the sslmode back from what pgconn made of it.
func mode(c *pgx.ConnConfig) string {
	all := hosts(c)
	first := all[0].TLSConfig
	switch {
	case first == nil && len(all) > 1 && all[1].TLSConfig != nil && all[1].Host == all[0].Host:
		return "allow"
	case first == nil:
		return "disable"
	case prefersTLS(c) || len(all) > 1 && all[1].TLSConfig == nil && all[1].Host == all[0].Host:
		return "prefer"
	case first.InsecureSkipVerify && first.VerifyPeerCertificate == nil:
		return "require"
	case first.InsecureSkipVerify:
		return "verify-ca"
	}
	return "verify-full"
}

func TestTLSMode(t *testing.T) {
	for _, tc := range []struct{ url, pgsslmode, want, warning string }{
		{"postgres://u@db.example.com/app", "", "verify-full", ""},
		{"postgres://u:p%3F@db.example.com/app?application_name=x", "", "verify-full", ""},
		{"postgres://u:a?b@db.example.com/app?", "", "verify-full", ""},
		{"postgres://u@db.example.com", "", "verify-full", ""},
		{"postgresql://u@a:1,b:2/app", "", "verify-full", ""},
		{"postgres://u@127.0.0.1:1,b:2/app", "", "verify-full", ""},
		{"postgres://u@b:1,127.0.0.1:2/app", "", "verify-full", ""},
		{"host=db.example.com user=u", "", "verify-full", ""},
		{"host='db.example.com' sslmode = prefer", "", "prefer", "may be in clear text"},
		{"postgres://u@db.example.com/app?sslmode=prefer", "", "prefer", "may be in clear text"},
		{"postgres://u@db.example.com/app?sslmode=disable", "", "disable", "may be in clear text"},
		{"postgres://u@db.example.com/app?sslmode=allow", "", "allow", "may be in clear text"},
		{"postgres://u@db.example.com/app?sslmode=require", "", "require", "certificate is not verified"},
		{"postgres://u@db.example.com/app?ssl=true", "", "require", "certificate is not verified"},
		{"postgres://u@db.example.com/app?sslmode=verify-ca", "", "verify-ca", "the name in the server's certificate"},
		{"postgres://u@db.example.com/app", "prefer", "prefer", "may be in clear text"},
		{"postgres://u@db.example.com/app?sslmode=verify-full", "disable", "verify-full", ""},
		{"postgres://u@localhost/app", "", "prefer", ""},
		{"postgres://u@127.0.0.2/app", "", "prefer", ""},
		{"postgres://u@[::1]:5433/app", "", "prefer", ""},
		{"postgres://u@127.0.0.1/app?sslmode=disable", "", "disable", ""},
		{"postgres://u@127.0.0.1/app?sslmode=verify-full", "", "verify-full", ""},
		{"host=/var/run/postgresql user=u", "", "disable", ""}, // no TLS on a socket
	} {
		t.Run(tc.url+" "+tc.pgsslmode, func(t *testing.T) {
			noLibpq(t)
			t.Setenv("PGSSLMODE", tc.pgsslmode)
			c := mustLoad(t, "DATABASE_URL="+tc.url, "PGSSLMODE="+tc.pgsslmode)
			cc, err := c.Database.ConnConfig()
			if err != nil {
				t.Fatal(err)
			}
			if got := mode(cc); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			warnings := strings.Join(c.Warnings, "\n")
			if (warnings != "") != (tc.warning != "") || !strings.Contains(warnings, tc.warning) {
				t.Errorf("warnings %q, want %q", warnings, tc.warning)
			}
		})
	}
}

func TestServiceFile(t *testing.T) {
	noLibpq(t)
	path := writeFile(t, "[weak]\nhost=db.example.com\nsslmode=disable\ntarget_session_attrs=any\n[plain]\nhost=db.example.com\nuser=svc\n")
	t.Setenv("PGSERVICEFILE", path)
	for service, want := range map[string]string{"weak": "disable", "plain": "verify-full"} {
		t.Setenv("PGSERVICE", service)
		c := mustLoad(t, "DATABASE_URL=", "PGSERVICE="+service)
		cc, err := c.Database.ConnConfig()
		if err != nil || mode(cc) != want || cc.Host != "db.example.com" {
			t.Errorf("service %s: %v, %v", service, cc, err)
		}
	}
	t.Setenv("PGSERVICE", "none")
	onlyFault(t, environOf("DATABASE_URL=", "PGSERVICE=none"), "DATABASE_URL", "the service of PGSERVICE")
}

func TestConnConfig(t *testing.T) {
	noLibpq(t)
	c := mustLoad(t, "SLOT=orders", "DATABASE_URL=postgres://u:p@127.0.0.1:1,127.0.0.1:2/app?replication=database&options=-cx%3Dy")
	cc, err := c.Database.ConnConfig()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := cc.RuntimeParams["replication"]; ok {
		t.Error("the URL's replication parameter was kept")
	}
	if got := cc.RuntimeParams["application_name"]; got != "outbox-cdc orders" {
		t.Errorf("application_name %q", got)
	}
	if got := cc.RuntimeParams["options"]; got != "-cx=y" {
		t.Errorf("options %q", got)
	}
	if cc.ConnectTimeout != 10*time.Second || cc.ValidateConnect == nil {
		t.Errorf("timeout %v, read-write %v", cc.ConnectTimeout, cc.ValidateConnect != nil)
	}
	c = mustLoad(t, "DATABASE_URL=host=127.0.0.1 application_name=mine target_session_attrs=any connect_timeout=3")
	cc, err = c.Database.ConnConfig()
	if err != nil || cc.RuntimeParams["application_name"] != "mine" || cc.ValidateConnect != nil || cc.ConnectTimeout != 3*time.Second {
		t.Errorf("got %+v, %v", cc, err)
	}
	c = mustLoad(t, "DATABASE_URL=host=127.0.0.1 connect_timeout=3", "DATABASE_CONNECT_TIMEOUT=4s")
	if cc, err = c.Database.ConnConfig(); err != nil || cc.ConnectTimeout != 4*time.Second {
		t.Errorf("got %+v, %v", cc, err)
	}
	// Both kinds of connections take it: pgx and pgconn insist on having made
	// a configuration themselves.
	if cc.Copy() == nil || cc.Config.Copy() == nil {
		t.Error("the configuration can't be copied")
	}
}

func TestURLFileIsReadAtEachConnect(t *testing.T) {
	noLibpq(t)
	path := writeFile(t, "postgres://u:first@127.0.0.1/app\n")
	c := mustLoad(t, "DATABASE_URL=", "DATABASE_URL_FILE="+path)
	if err := os.WriteFile(path, []byte("postgres://u:second@127.0.0.1/app"), 0o600); err != nil {
		t.Fatal(err)
	}
	cc, err := c.Database.ConnConfig()
	if err != nil || cc.Password != "second" {
		t.Errorf("got %v, %v", cc, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Database.ConnConfig(); err == nil || !strings.Contains(err.Error(), "OUTBOX_CDC_DATABASE_URL_FILE") {
		t.Errorf("got %v", err)
	}
}

func TestDatabaseURLFaults(t *testing.T) {
	noLibpq(t)
	for url, part := range map[string]string{
		"postgres://u@h:99999/app":                                  "a port is not a number",
		"postgres://u@a:1,b:2,c/app?port=1,2":                       "numbers of hosts and ports differ",
		"postgres://u@127.0.0.1/app?sslmode=strict":                 "sslmode must be",
		"postgres://u@h/app?sslrootcert=/nonexistent":               "sslrootcert (PGSSLROOTCERT) can't be read",
		"postgres://u@h/app?sslrootcert=" + writeFile(t, "x"):       "holds no certificate",
		"postgres://u@h/app?sslcert=/nonexistent":                   "sslcert, sslkey or sslrootcert can't be used",
		"postgres://u@127.0.0.1/app?target_session_attrs=x":         "target_session_attrs must be",
		"postgres://u@127.0.0.1/app?connect_timeout=x":              "connect_timeout must be",
		"postgres://u@127.0.0.1/app?channel_binding=x":              "channel_binding must be",
		"mysql://u@127.0.0.1/app":                                   "want postgres://user:password@host",
		"host":                                                      "want postgres://user:password@host",
		"postgres://u@127.0.0.1/app?sslmode=disable&x":              "want postgres://user:password@host",
		"postgres://u@127.0.0.1/app?sslmode=disable&sslmode=banana": "sslmode must be",
	} {
		onlyFault(t, environOf("DATABASE_URL="+url), "DATABASE_URL", part)
	}
}
