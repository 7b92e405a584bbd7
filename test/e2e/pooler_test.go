package e2e

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestPoolerInBetween: ordinary connections come through and replication does
// not, as with pgbouncer.
func TestPoolerInBetween(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	p := r.newProxy(t)
	c := start(t, r.settings)
	c.held("unsupported startup parameter: replication", "08P01", "connect to PostgreSQL directly")
	p.set(p.server, nil)
	r.resumes(c, 1)
}

// TestServerTooOld: the version is the first thing that is asked for, and what
// an old catalog does not have is not.
func TestServerTooOld(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	p := r.newProxy(t)
	version, err := query[int](t.Context(), r.db, "SELECT current_setting('server_version_num')::int")
	if err != nil {
		t.Fatal(err)
	}
	value := func(n int) []byte { return binary.BigEndian.AppendUint32([]byte{0, 0, 0, 4}, uint32(n)) }
	p.set(p.server, func(said []byte) []byte { return bytes.ReplaceAll(said, value(version), value(130000)) })
	c := start(t, r.settings)
	c.held("server.version", "is not supported", "use PostgreSQL 14 to 18")
	p.set(p.server, nil)
	r.resumes(c, 1)
}
