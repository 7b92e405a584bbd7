package statusview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/httpapi"
)

const (
	// requestTimeout bounds one question.
	requestTimeout = 10 * time.Second
	// maxBody bounds an answer.
	maxBody = 8 << 20
)

// Client asks one connector.
type Client struct {
	url  string
	http *http.Client
}

var errURL = errors.New(`want a URL such as "http://127.0.0.1:9855"`)

// New makes a client for a listener's base URL.
func New(base string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errURL
	}
	return &Client{url: u.JoinPath("status").String(), http: &http.Client{Timeout: requestTimeout}}, nil
}

// Local is the base URL of a listener on this machine, by its LISTEN_ADDRESS.
func Local(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("OUTBOX_CDC_LISTEN_ADDRESS: %.64q is not host:port", listen)
	}
	if a := net.ParseIP(host); host == "" || a != nil && a.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

// Body is the answer as it came.
func (c *Client) Body(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no connector answers: %w; is it running, and is this its OUTBOX_CDC_LISTEN_ADDRESS? --url names another one", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of %s: %w", c.url, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s: it is no outbox-cdc, or something in between refuses", c.url, resp.Status)
	}
	return body, nil
}

// Status is the answer, read.
func (c *Client) Status(ctx context.Context) (*httpapi.Status, error) {
	body, err := c.Body(ctx)
	if err != nil {
		return nil, err
	}
	s := new(httpapi.Status)
	if err := json.Unmarshal(body, s); err != nil || s.State == "" {
		return nil, fmt.Errorf("%s does not answer as outbox-cdc does; --url names another address", c.url)
	}
	return s, nil
}
