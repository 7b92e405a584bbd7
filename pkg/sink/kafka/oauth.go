package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// OAuth is where tokens for OAUTHBEARER come from: the grant of client
// credentials (RFC 6749, section 4.4).
type OAuth struct {
	// TokenURL holds no user or password.
	TokenURL string
	ClientID string
	// ClientSecret is called for each token. Its errors hold no secret.
	ClientSecret func() (string, error)
	// Scope is a list with spaces; it may be empty.
	Scope string
}

// tokens keeps the last token until shortly before it expires.
type tokens struct {
	of  OAuth
	tls *TLS

	mu    sync.Mutex // guards what follows, and lets one goroutine ask at a time
	conf  clientcredentials.Config
	token string
	until time.Time
}

func newTokens(of OAuth, files *TLS) *tokens {
	return &tokens{of: of, tls: files, conf: clientcredentials.Config{
		ClientID: of.ClientID, TokenURL: of.TokenURL, Scopes: strings.Fields(of.Scope),
	}}
}

// auth is called at each login.
func (t *tokens) auth(ctx context.Context) (oauth.Auth, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().After(t.until) {
		if err := t.renew(ctx); err != nil {
			return oauth.Auth{}, err
		}
	}
	return oauth.Auth{Token: t.token}, nil
}

// drop forgets the token: a broker has refused it.
func (t *tokens) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = time.Time{}
}

// tokenMargin is how long before its end a token is renewed at the latest; a
// fifth of its life where that is shorter.
const tokenMargin = time.Minute

func (t *tokens) renew(ctx context.Context) error {
	var err error
	if t.conf.ClientSecret, err = t.of.ClientSecret(); err != nil {
		return err
	}
	client, err := t.client()
	if err != nil {
		return err
	}
	asked := time.Now()
	token, err := t.conf.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return t.refused(err)
	}
	t.token, t.until = token.AccessToken, time.Time{}
	if !token.Expiry.IsZero() { // else it serves one login
		t.until = token.Expiry.Add(-min(tokenMargin, token.Expiry.Sub(asked)/5))
	}
	return nil
}

// client trusts the CA file beside the system's roots: who has a CA for brokers
// often has it for the token endpoint, too. It is used once.
func (t *tokens) client() (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.tls != nil && t.tls.CAFile != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		if err := addCAs(roots, t.tls.CAFile); err != nil {
			return nil, err
		}
		config.RootCAs = roots
	}
	return &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		// A redirect would carry the secret to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// errorCode is RFC 6749's form of an error, as far as we repeat it.
var errorCode = regexp.MustCompile(`^[a-zA-Z_]{1,40}$`)

// refused words a failure without the endpoint's text, which could repeat what
// we sent.
func (t *tokens) refused(err error) error {
	v := verdict{sink.Config, reasonNotAuthorized, "check KAFKA_OAUTH_TOKEN_URL, KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE"}
	var (
		answer *oauth2.RetrieveError
		noWay  *url.Error
		badCA  *tls.CertificateVerificationError
	)
	said := "its answer holds no token"
	switch {
	case errors.As(err, &badCA):
		v.reason, v.remedy = reasonCertificate, "add the CA of the token endpoint's certificate to KAFKA_TLS_CA_FILE"
		said = badCA.Error()
	case errors.As(err, &answer):
		said = "it answered " + answer.Response.Status
		if errorCode.MatchString(answer.ErrorCode) {
			said += ", " + answer.ErrorCode
		}
		if c := answer.Response.StatusCode; c >= 500 || c == http.StatusTooManyRequests || c == http.StatusRequestTimeout {
			v = verdict{sink.Retriable, reasonUnavailable, ""}
		}
	case errors.As(err, &noWay):
		said = noWay.Err.Error()
		v = verdict{sink.Retriable, reasonUnavailable, ""}
	}
	return &connectError{v, fmt.Sprintf("token endpoint %s: %s", host(t.of.TokenURL), said)}
}

// host is the part of a URL that can be shown.
func host(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "of KAFKA_OAUTH_TOKEN_URL"
	}
	return u.Host
}
