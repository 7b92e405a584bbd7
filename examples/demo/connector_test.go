package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newChild is a connector that this test binary plays.
func newChild(t *testing.T, role string) (c *connector, address string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	address, err = freeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c = &connector{
		binary: self, logFile: filepath.Join(t.TempDir(), "log"), ready: "http://" + address + "/readyz",
		env: append(os.Environ(), childEnv+"="+role, "DEMO_TEST_ADDRESS="+address),
	}
	t.Cleanup(func() { _ = c.stop() })
	return c, address
}

func mustStart(t *testing.T, c *connector) {
	t.Helper()
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.fault(); err != nil {
		t.Errorf("a connector that is up has the fault %v", err)
	}
}

func TestConnectorStops(t *testing.T) {
	c, _ := newChild(t, "obeys")
	if err := c.stop(); err != nil {
		t.Errorf("stop before the start: %v", err)
	}
	mustStart(t, c)
	for range 2 {
		if err := c.stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	if err := c.fault(); err != nil {
		t.Errorf("a connector that was stopped has the fault %v", err)
	}
}

func TestConnectorStartsAgainAfterKill(t *testing.T) {
	c, _ := newChild(t, "obeys")
	mustStart(t, c)
	if err := c.kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.fault(); err != nil {
		t.Errorf("a connector that was killed on purpose has the fault %v", err)
	}
	mustStart(t, c)
}

func TestConnectorThatEndsAtItsStart(t *testing.T) {
	c, _ := newChild(t, "ends")
	err := c.start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("start: %v, want exit status 3", err)
	}
	if got := c.logTail(5); got != "no slot" {
		t.Errorf("its last line is %q", got)
	}
}

func TestConnectorThatEndsBadly(t *testing.T) {
	c, _ := newChild(t, "complains")
	mustStart(t, c)
	if err := c.stop(); err == nil || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("stop: %v, want exit status 4", err)
	}
}

func TestConnectorThatEndsByItself(t *testing.T) {
	c, address := newChild(t, "obeys")
	mustStart(t, c)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/quit", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if resp, err := client.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Fatal("it has not ended")
	}
	<-c.proc.Load().done
	if err := c.fault(); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("fault = %v", err)
	}
}

func TestCommandShowsWhatFailed(t *testing.T) {
	c, _ := newChild(t, "ends")
	said, err := c.command(t.Context(), c.env, "setup")
	if said != "" || err == nil || !strings.Contains(err.Error(), "outbox-cdc setup") || !strings.Contains(err.Error(), "no slot") {
		t.Errorf("command = %q, %v", said, err)
	}
}

func TestPollEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := poll(ctx, "nothing", func() (bool, error) { return false, nil })
	if err == nil || !strings.Contains(err.Error(), "wait for nothing") {
		t.Errorf("poll = %v", err)
	}
}
