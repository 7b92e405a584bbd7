package e2e

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset/pgstore"
)

// as makes a role with the options, and has the connector log in as
// it with the password.
func (r *rig) as(role, options, password string) {
	r.tb.Helper()
	checkpoint := decoder.TableName{Schema: "outbox_cdc", Name: "checkpoint"}
	r.db.Exec(r.tb, "CREATE ROLE "+role+" "+options+"; "+pgstore.Grant(checkpoint, role))
	r.settings["DATABASE_URL"] = r.url(role, password, r.db.Name)
}

// url is the server's, for a role and a database.
func (r *rig) url(role, password, database string) string {
	server := r.db.Server
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(role, password), Path: database, RawQuery: "sslmode=disable",
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(server.Port())),
	}
	return u.String()
}

// resumes demands that the connector goes on by itself, from where it was.
func (r *rig) resumes(c *connector, from int) {
	r.tb.Helper()
	c.state("streaming")
	before := r.stored(r.topic)
	r.insert(from, from+2, "a")
	r.settle()
	if n := r.stored(r.topic); n < before+3 {
		r.tb.Errorf("%d records, there were %d before 3 rows", n, before)
	}
	r.verify(nil, allowed{})
}

// access is a pg_hba.conf without any line for replication, which logical
// replication does not need: it goes by the database.
func access(roles string) []byte {
	return []byte("host all postgres,cdc" + roles + " 127.0.0.1/32 scram-sha-256\n")
}

// TestAccessRefused: whatever keeps the connector out holds it, named with what
// to do, and it comes in by itself once that is mended.
func TestAccessRefused(t *testing.T) {
	t.Parallel()
	const pw = "right"
	server := pgtest.Run(t, pgtest.Options{
		Password: "superuser-pw", Files: map[string][]byte{"pg_hba.conf": access(",r_password,r_database,r_replication,r_login")},
	})
	for name, test := range map[string]struct {
		options string
		// spoil is done before the start, mend when it is held.
		spoil, mend func(r *rig)
		says        []string
	}{
		"password": {
			"LOGIN REPLICATION PASSWORD 'left'", nil,
			func(r *rig) { r.db.Exec(r.tb, "ALTER ROLE r_password PASSWORD '"+pw+"'") },
			[]string{"password authentication failed", "28P01", "OUTBOX_CDC_DATABASE_URL"},
		},
		"database": {
			"LOGIN REPLICATION PASSWORD '" + pw + "'",
			func(r *rig) { r.settings["DATABASE_URL"] = r.url("r_database", pw, r.db.Name+"x") },
			func(r *rig) {
				admin := *r.db
				admin.Name = "postgres"
				admin.Exec(r.tb, fmt.Sprintf("ALTER DATABASE %s RENAME TO %[1]sx", r.db.Name))
				r.db.Name += "x"
			},
			[]string{"does not exist", "3D000", "correct the database name in OUTBOX_CDC_DATABASE_URL"},
		},
		"replication": {
			"LOGIN PASSWORD '" + pw + "'", nil,
			func(r *rig) { r.db.Exec(r.tb, "ALTER ROLE r_replication REPLICATION") },
			[]string{"role.replication r_replication", "may not use replication slots", "ALTER ROLE r_replication REPLICATION"},
		},
		"login": {
			"REPLICATION NOLOGIN PASSWORD '" + pw + "'", nil,
			func(r *rig) { r.db.Exec(r.tb, "ALTER ROLE r_login LOGIN") },
			[]string{"is not permitted to log in", "28000", "the role's LOGIN attribute"},
		},
		"hba": {
			"LOGIN REPLICATION PASSWORD '" + pw + "'", nil,
			func(r *rig) {
				path := filepath.Join(server.DataDir(), "pg_hba.conf")
				if err := os.WriteFile(path, access(",r_password,r_database,r_replication,r_login,r_hba"), 0o600); err != nil {
					r.tb.Fatal(err)
				}
				r.db.Exec(r.tb, "SELECT pg_reload_conf()")
			},
			[]string{"no pg_hba.conf entry", "28000", "check pg_hba.conf"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, server, 1)
			r.as("r_"+name, test.options, pw)
			if test.spoil != nil {
				test.spoil(r)
			}
			c := start(t, r.settings)
			c.held(test.says...)
			test.mend(r)
			r.resumes(c, 1)
		})
	}
}
