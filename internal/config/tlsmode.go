package config

import (
	"strconv"

	"github.com/jackc/pgx/v5"
)

// prefersTLS tells whether the first remote host is tried with TLS and then
// without, which is sslmode=prefer: pgconn's own default, said or not. Who says
// it in the URL keeps it, because the default goes in front; said in a service
// file it is taken for unsaid, and verify-full is asked for.
func prefersTLS(c *pgx.ConnConfig) bool {
	for i, all := 0, hosts(c); i+1 < len(all); i++ {
		if isLocal(all[i].Host, all[i].Port) {
			continue
		}
		next := all[i+1]
		return all[i].TLSConfig != nil && next.TLSConfig == nil && next.Host == all[i].Host && next.Port == all[i].Port
	}
	return false
}

// weakTLS names the first remote host whose identity is not fully verified, and
// how; "" when there is none.
func weakTLS(c *pgx.ConnConfig) (host, how string) {
	for _, h := range hosts(c) {
		switch {
		case isLocal(h.Host, h.Port):
		case h.TLSConfig == nil:
			return h.Host, "the connection may be in clear text" // the worst
		case how != "" || !h.TLSConfig.InsecureSkipVerify:
		case h.TLSConfig.VerifyPeerCertificate == nil:
			host, how = h.Host, "the server's certificate is not verified"
		default:
			host, how = h.Host, "the name in the server's certificate is not verified"
		}
	}
	return host, how
}

// checkDatabase parses the URL once, so that lint finds what is wrong with it.
func (p *parser) checkDatabase(d *Database) []string {
	s, value := p.get("DATABASE_URL")
	if value == "" && d.file != "" {
		return nil // the file is at fault
	}
	if value == "" && !d.fromLibpq {
		p.fault(s, "required; set it, or PGHOST, PGUSER and PGDATABASE, or PGSERVICE")
		return nil
	}
	c, err := d.ConnConfig()
	if err != nil {
		p.fault(s, err.Error())
		return nil
	}
	if host, how := weakTLS(c); host != "" {
		return []string{"database host " + strconv.Quote(clip(host)) + ": " + how + "; use sslmode=verify-full"}
	}
	return nil
}
