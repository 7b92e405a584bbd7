package config

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

const (
	mechanismOAuth = "OAUTHBEARER"
	mechanismMSK   = "AWS_MSK_IAM"
)

// kafkaCheck holds settings against each other. What is wrong with one alone
// was said before, and is taken for set here.
type kafkaCheck struct {
	p      *parser
	k      *Kafka
	remote string // a broker that is not on this machine
}

// checkKafka reports all that does not fit together, and returns warnings.
func checkKafka(p *parser, k *Kafka) []string {
	c := &kafkaCheck{p: p, k: k}
	c.brokers()
	if !c.protocol() {
		// Whatever it will be, these belong together.
		c.certificate()
		c.mechanism()
		return nil
	}
	c.tls()
	if !c.login() {
		return nil
	}
	return c.clearText()
}

func (c *kafkaCheck) set(name string) bool {
	s, v := c.p.get(name)
	_, file := c.p.files[s.Name]
	return v != "" || file
}

func (c *kafkaCheck) fault(name, problem string) {
	s, _ := c.p.get(name)
	c.p.fault(s, problem)
}

// need faults each of names that is unset, refuse each that is set.
func (c *kafkaCheck) need(because string, names ...string) {
	for _, name := range names {
		if !c.set(name) {
			c.fault(name, "required, because "+because)
		}
	}
}

func (c *kafkaCheck) refuse(problem string, names ...string) {
	for _, name := range names {
		if c.set(name) {
			c.fault(name, problem)
		}
	}
}

func (c *kafkaCheck) brokers() {
	s, value := c.p.get("KAFKA_BROKERS")
	for _, b := range c.k.Brokers {
		host, port, err := net.SplitHostPort(b)
		if err != nil || host == "" || !isPort(port) {
			c.p.badValue(s, value, "want host:port, separated by commas; "+strconv.Quote(clip(b))+" is none")
			continue
		}
		if c.remote == "" && !isLoopback(host) {
			c.remote = b
		}
	}
}

// protocol is false when it is not known.
func (c *kafkaCheck) protocol() bool {
	switch {
	case c.k.SecurityProtocol != "":
		return true
	case c.set("KAFKA_SECURITY_PROTOCOL"):
		return false
	case c.remote != "":
		c.fault("KAFKA_SECURITY_PROTOCOL", "required, because broker "+strconv.Quote(clip(c.remote))+
			" is not on this machine; set SASL_SSL or SSL, or PLAINTEXT if its network may see the events")
		return false
	}
	c.k.SecurityProtocol = "PLAINTEXT"
	return true
}

func (c *kafkaCheck) tls() {
	if !c.k.TLS() {
		c.refuse("means nothing with "+c.k.SecurityProtocol+"; set KAFKA_SECURITY_PROTOCOL to SSL or SASL_SSL, or leave this out",
			"KAFKA_TLS_CA_FILE", "KAFKA_TLS_CERT_FILE", "KAFKA_TLS_KEY_FILE", "KAFKA_TLS_SERVER_NAME")
		return
	}
	c.certificate()
}

// certificate wants both halves of the client's.
func (c *kafkaCheck) certificate() {
	switch cert, key := c.set("KAFKA_TLS_CERT_FILE"), c.set("KAFKA_TLS_KEY_FILE"); {
	case cert && !key:
		c.need("KAFKA_TLS_CERT_FILE is set", "KAFKA_TLS_KEY_FILE")
	case key && !cert:
		c.need("KAFKA_TLS_KEY_FILE is set", "KAFKA_TLS_CERT_FILE")
	}
}

var (
	passwordSettings = []string{"KAFKA_SASL_USERNAME", "KAFKA_SASL_PASSWORD"}
	oauthSettings    = []string{"KAFKA_OAUTH_TOKEN_URL", "KAFKA_OAUTH_CLIENT_ID", "KAFKA_OAUTH_CLIENT_SECRET"}
)

// login is false when there is none, or when it is not known which.
func (c *kafkaCheck) login() bool {
	switch {
	case !c.k.SASL():
		problem := "means nothing with " + c.k.SecurityProtocol + "; set KAFKA_SECURITY_PROTOCOL to SASL_SSL, or leave this out"
		c.refuse(problem, "KAFKA_SASL_MECHANISM")
		c.refuse(problem, passwordSettings...)
		c.refuse(problem, append(oauthSettings, "KAFKA_OAUTH_SCOPE")...)
		return false
	case c.k.SASLMechanism == "":
		c.need("KAFKA_SECURITY_PROTOCOL is "+c.k.SecurityProtocol, "KAFKA_SASL_MECHANISM")
		return false
	}
	c.mechanism()
	return true
}

// mechanism wants what the one that is set needs, and nothing else.
func (c *kafkaCheck) mechanism() {
	m := c.k.SASLMechanism
	if m == "" {
		return
	}
	because, nothing := "KAFKA_SASL_MECHANISM is "+m, "means nothing with "+m+"; leave it out"
	if m != mechanismOAuth {
		c.refuse(nothing, append(oauthSettings, "KAFKA_OAUTH_SCOPE")...)
	}
	switch m {
	case mechanismOAuth:
		c.refuse(nothing, passwordSettings...)
		c.need(because, oauthSettings...)
		c.tokenURL()
	case mechanismMSK:
		c.refuse(nothing, passwordSettings...)
	default:
		c.need(because, passwordSettings...)
	}
}

// tokenURL must not be printed as it is: a URL can hold a password.
func (c *kafkaCheck) tokenURL() {
	if c.k.OAuthTokenURL == "" {
		return
	}
	u, err := url.Parse(c.k.OAuthTokenURL)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		c.fault("KAFKA_OAUTH_TOKEN_URL", "can't be read; want https://host/path")
	case u.User != nil:
		c.fault("KAFKA_OAUTH_TOKEN_URL", "must not hold a user or password; set KAFKA_OAUTH_CLIENT_ID and KAFKA_OAUTH_CLIENT_SECRET")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		c.fault("KAFKA_OAUTH_TOKEN_URL", "must be https: the client secret would cross the network in clear text")
	}
}

// clearText judges a login without TLS to a broker on another machine. SCRAM
// shows no password to who listens; the others give it, or a token, away.
func (c *kafkaCheck) clearText() []string {
	if c.k.TLS() || c.remote == "" {
		return nil
	}
	broker := strconv.Quote(clip(c.remote))
	if strings.HasPrefix(c.k.SASLMechanism, "SCRAM-") {
		return []string{"kafka broker " + broker + ": the login is protected by " + c.k.SASLMechanism +
			", but events cross the network in clear text; use KAFKA_SECURITY_PROTOCOL=SASL_SSL"}
	}
	c.fault("KAFKA_SECURITY_PROTOCOL", c.k.SecurityProtocol+" would give the credentials of "+c.k.SASLMechanism+
		" to whoever listens on the way to broker "+broker+"; set SASL_SSL")
	return nil
}
