package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A position far beyond the end of the server's log is never confirmed, whether it
// comes with a keepalive or a commit. A log that grows is asked about now and then.
func TestNothingBeyondTheServersLogIsConfirmed(t *testing.T) {
	const far = 1 << 40
	for name, says := range map[string]func(*fakeSource){
		"keepalive": func(s *fakeSource) { s.keepalive(far, true) },
		"commit":    func(s *fakeSource) { s.transaction(far, row(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, down := 0, errors.New("down")
				reach := map[int]lsn{1: 5 << 30, 3: 9 << 30, 4: far * 2}
				r := start(t, func(c *Config) {
					c.WALEnd = func(context.Context, uint32) (lsn, error) {
						asked++
						if reach[asked] == 0 {
							return 0, down
						}
						return reach[asked], nil
					}
				})
				src := r.session()
				for at := lsn(0); at <= 5; at++ {
					src.keepalive(at<<30, false)
					src.transaction(at<<30+1000, row(1))
				}
				settle(time.Second)
				r.wantFlush(endOf(5<<30 + 1000))
				if asked != 1 {
					t.Fatalf("asked %d times", asked)
				}
				says(src) // it is not known whether that can be
				settle(0)
				r.wantState(StateConnecting)
				src = r.session()
				says(src) // it can't
				settle(time.Second)
				r.wantState(StateHeld)
				if st := r.p.Status(); !strings.Contains(st.Reason, "WAL ends at 2/40000000") {
					t.Errorf("reason %q", st.Reason)
				}
				r.wantFlush(endOf(5<<30 + 1000))
				src = r.session()
				says(src) // meanwhile it can
				settle(time.Second)
				r.wantState(StateStreaming)
				if flush := r.server.lastStatus().Flush; flush < far {
					t.Errorf("flush %v", flush)
				}
				r.end()
			})
		})
	}
}
