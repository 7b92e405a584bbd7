package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// SASL is how we log in to the brokers. Its functions are called at each login,
// by several goroutines, so that credentials rotate without a restart. Their
// errors must hold no secret.
type SASL struct {
	// Mechanism is PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or
	// AWS_MSK_IAM.
	Mechanism string
	// Username and Password are for PLAIN and SCRAM.
	Username string
	Password func() (string, error)
	// OAuth is for OAUTHBEARER.
	OAuth OAuth
	// AWS gives the credentials for AWS_MSK_IAM.
	AWS func(context.Context) (aws.Auth, error)
}

var errMechanism = errors.New("want PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or AWS_MSK_IAM, with what it needs")

// login is a mechanism whose errors say what they mean.
type login struct {
	sasl.Mechanism

	limit  time.Duration
	tokens *tokens // of OAUTHBEARER
}

func newLogin(cfg *Config) (*login, error) {
	s := cfg.SASL
	l := &login{limit: cfg.RequestTimeout}
	switch {
	case s.Mechanism == "PLAIN" && s.Password != nil:
		l.Mechanism = plain.Plain(func(context.Context) (plain.Auth, error) {
			password, err := s.Password()
			return plain.Auth{User: s.Username, Pass: password}, err
		})
	case s.Mechanism == "SCRAM-SHA-256" && s.Password != nil:
		l.Mechanism = scram.Sha256(s.scram)
	case s.Mechanism == "SCRAM-SHA-512" && s.Password != nil:
		l.Mechanism = scram.Sha512(s.scram)
	case s.Mechanism == "OAUTHBEARER" && s.OAuth.ClientSecret != nil:
		l.tokens = newTokens(s.OAuth, cfg.TLS)
		l.Mechanism = oauth.Oauth(l.tokens.auth)
	case s.Mechanism == "AWS_MSK_IAM" && s.AWS != nil:
		l.Mechanism = aws.ManagedStreamingIAM(s.AWS)
	default:
		return nil, fmt.Errorf("sasl mechanism %.32q: %w", s.Mechanism, errMechanism)
	}
	return l, nil
}

func (s *SASL) scram(context.Context) (scram.Auth, error) {
	password, err := s.Password()
	return scram.Auth{User: s.Username, Pass: password}, err
}

// Authenticate implements sasl.Mechanism. The client's context knows no limit.
func (l *login) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	session, first, err := l.Mechanism.Authenticate(ctx, host)
	if err != nil {
		return nil, nil, loginFailed(l.Name(), err)
	}
	return &loginSession{session, l.Name()}, first, nil
}

type loginSession struct {
	sasl.Session

	mechanism string
}

// Challenge implements sasl.Session.
func (s *loginSession) Challenge(b []byte) (bool, []byte, error) {
	done, answer, err := s.Session.Challenge(b)
	if err != nil {
		return false, nil, loginFailed(s.mechanism, err)
	}
	return done, answer, nil
}

// loginFailed is a login that ended on our side: what can be mended in files,
// at the token endpoint, or in the AWS account.
func loginFailed(mechanism string, err error) error {
	v, known := connectVerdict(err)
	if !known {
		v = verdict{sink.Config, reasonNotAuthorized, remedyLogin}
	}
	return &connectError{v, fmt.Sprintf("log in with %s: %v", mechanism, err)}
}
