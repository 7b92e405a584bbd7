package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// status is the part of /status that tests look at.
type status struct {
	State  string `json:"state"`
	Ready  bool   `json:"ready"`
	Reason string `json:"reason"`
	Remedy string `json:"remedy"`
	Slot   struct {
		Confirmed string `json:"confirmed_lsn"`
	} `json:"slot"`
	Stream struct {
		Events int64 `json:"in_flight_events"`
	} `json:"stream"`
	Routes []struct {
		Name      string `json:"name"`
		Delivered int64  `json:"delivered"`
		Halted    bool   `json:"halted"`
	} `json:"routes"`
	Halted []struct {
		Position string `json:"position"`
		EventID  string `json:"event_id"`
		Route    string `json:"route"`
		Reason   string `json:"reason"`
		Error    string `json:"error"`
	} `json:"halted"`
}

// get asks the connector; the code is 0 when it did not answer.
func (c *connector) get(ctx context.Context, path string) (code int, body string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// status reads /status.
func (c *connector) status() status {
	c.tb.Helper()
	code, body := c.get(c.tb.Context(), "/status")
	var s status
	if err := json.Unmarshal([]byte(body), &s); code != http.StatusOK || err != nil {
		c.tb.Fatalf("/status: %d, %v: %s", code, err, body)
	}
	return s
}

// state waits until the connector is in a state, and for the answer of /readyz
// that belongs to it.
func (c *connector) state(want string) time.Duration {
	c.tb.Helper()
	ready := http.StatusServiceUnavailable
	if want == "streaming" || want == "standby" {
		ready = http.StatusOK
	}
	return eventually(c.tb, patience, "state "+want, func(ctx context.Context) (bool, any) {
		if c.ended() {
			c.tb.Fatalf("the connector ended with %d instead of %s:\n%s", c.code, want, c.log.end(20))
		}
		code, body := c.get(ctx, "/readyz")
		return code == ready && body == want+"\n", fmt.Sprintf("%d %q", code, body)
	})
}

// metric is the sum of a metric over the series that have all the labels, each
// written as name="value".
func (c *connector) metric(name string, labels ...string) float64 {
	c.tb.Helper()
	code, body := c.get(c.tb.Context(), "/metrics")
	if code != http.StatusOK {
		c.tb.Fatalf("/metrics: %d: %s", code, body)
	}
	var sum float64
	found := false
lines:
	for line := range strings.Lines(body) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if bare, _, _ := strings.Cut(series, "{"); !ok || bare != name {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(series, l) {
				continue lines
			}
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			c.tb.Fatalf("/metrics: %q: %v", line, err)
		}
		sum, found = sum+v, true
	}
	if !found {
		c.tb.Fatalf("no metric %s with %v in:\n%s", name, labels, body)
	}
	return sum
}
