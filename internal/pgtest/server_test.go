package pgtest

import (
	"strings"
	"testing"
	"time"
)

func TestServersOfAllMajorsStart(t *testing.T) {
	for _, major := range Majors() {
		begin := time.Now()
		server := Run(t, Options{Major: major})
		t.Logf("started %s in %v", server.version, time.Since(begin))
		db := server.NewDB(t)
		if got := db.Text(t, "current_setting('server_version')"); !strings.HasPrefix(server.version, got) {
			t.Errorf("server_version = %q, want the start of %q", got, server.version)
		}
	}
}
