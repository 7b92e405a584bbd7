package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestKafkaSecurity: what does not fit together is told, all of it at once, each
// fault with its setting.
func TestKafkaSecurity(t *testing.T) {
	noLibpq(t)
	const remote = "KAFKA_BROKERS=localhost:1,k:9092"
	password := []string{"KAFKA_SASL_USERNAME=u", "KAFKA_SASL_PASSWORD=p"}
	oauth := []string{"KAFKA_SASL_MECHANISM=OAUTHBEARER", "KAFKA_OAUTH_CLIENT_ID=c", "KAFKA_OAUTH_CLIENT_SECRET=s"}
	for _, tc := range []struct {
		name    string
		set     []string
		faults  []string // "SETTING: part"
		warning string
	}{
		{"loopback, nothing said", nil, nil, ""},
		{"remote, protocol unsaid", []string{remote}, []string{`KAFKA_SECURITY_PROTOCOL: required, because broker "k:9092" is not on this machine`}, ""},
		{
			"remote, protocol unsaid, and the rest not whole either", []string{remote, "KAFKA_SASL_MECHANISM=PLAIN", "KAFKA_SASL_PASSWORD=p", "KAFKA_TLS_KEY_FILE=/k"},
			[]string{"KAFKA_SECURITY_PROTOCOL: required", "KAFKA_TLS_CERT_FILE: required, because KAFKA_TLS_KEY_FILE", "KAFKA_SASL_USERNAME: required, because KAFKA_SASL_MECHANISM is PLAIN"}, "",
		},
		{"remote, plaintext said", []string{remote, "KAFKA_SECURITY_PROTOCOL=PLAINTEXT"}, nil, ""},
		{"remote, TLS", []string{remote, "KAFKA_SECURITY_PROTOCOL=SSL", "KAFKA_TLS_CA_FILE=/ca"}, nil, ""},
		{"certificate without key", []string{"KAFKA_SECURITY_PROTOCOL=SSL", "KAFKA_TLS_CERT_FILE=/c"}, []string{"KAFKA_TLS_KEY_FILE: required, because KAFKA_TLS_CERT_FILE"}, ""},
		{"key without certificate", []string{"KAFKA_SECURITY_PROTOCOL=SSL", "KAFKA_TLS_KEY_FILE=/c"}, []string{"KAFKA_TLS_CERT_FILE: required, because KAFKA_TLS_KEY_FILE"}, ""},
		{"TLS files with plaintext", []string{"KAFKA_TLS_CA_FILE=/ca", "KAFKA_TLS_SERVER_NAME=n"}, []string{"KAFKA_TLS_CA_FILE: means nothing with PLAINTEXT", "KAFKA_TLS_SERVER_NAME: means nothing with PLAINTEXT"}, ""},
		{"login without a mechanism", append([]string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL"}, password...), []string{"KAFKA_SASL_MECHANISM: required"}, ""},
		{"mechanism without a login", append([]string{"KAFKA_SECURITY_PROTOCOL=SSL", "KAFKA_SASL_MECHANISM=PLAIN"}, password...), []string{"KAFKA_SASL_MECHANISM: means nothing with SSL", "KAFKA_SASL_USERNAME: means nothing", "KAFKA_SASL_PASSWORD: means nothing"}, ""},
		{"no user", []string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_SASL_MECHANISM=SCRAM-SHA-512"}, []string{"KAFKA_SASL_USERNAME: required, because KAFKA_SASL_MECHANISM is SCRAM-SHA-512", "KAFKA_SASL_PASSWORD: required"}, ""},
		{"unknown mechanism only", append([]string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_SASL_MECHANISM=GSSAPI"}, password...), []string{`KAFKA_SASL_MECHANISM: "GSSAPI": want PLAIN, SCRAM`}, ""},
		{"unknown protocol only", append([]string{"KAFKA_SECURITY_PROTOCOL=TLS", "KAFKA_SASL_MECHANISM=PLAIN"}, password...), []string{`KAFKA_SECURITY_PROTOCOL: "TLS": want`}, ""},
		{"scram in clear text, remote", append([]string{remote, "KAFKA_SECURITY_PROTOCOL=SASL_PLAINTEXT", "KAFKA_SASL_MECHANISM=SCRAM-SHA-256"}, password...), nil, "events cross the network in clear text"},
		{"plain in clear text, remote", append([]string{remote, "KAFKA_SECURITY_PROTOCOL=SASL_PLAINTEXT", "KAFKA_SASL_MECHANISM=PLAIN"}, password...), []string{"KAFKA_SECURITY_PROTOCOL: SASL_PLAINTEXT would give the credentials of PLAIN"}, ""},
		{"plain in clear text, loopback", append([]string{"KAFKA_BROKERS=localhost:1", "KAFKA_SECURITY_PROTOCOL=SASL_PLAINTEXT", "KAFKA_SASL_MECHANISM=PLAIN"}, password...), nil, ""},
		{"token in clear text, remote", append([]string{remote, "KAFKA_SECURITY_PROTOCOL=SASL_PLAINTEXT", "KAFKA_OAUTH_TOKEN_URL=https://h/t"}, oauth...), []string{"KAFKA_SECURITY_PROTOCOL: SASL_PLAINTEXT would give"}, ""},
		{"oauth", append([]string{remote, "KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_OAUTH_TOKEN_URL=https://h/t", "KAFKA_OAUTH_SCOPE=s"}, oauth...), nil, ""},
		{"token endpoint on loopback", append([]string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_OAUTH_TOKEN_URL=http://127.0.0.1:1/t"}, oauth...), nil, ""},
		{"token endpoint in clear text", append([]string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_OAUTH_TOKEN_URL=http://h/t"}, oauth...), []string{"KAFKA_OAUTH_TOKEN_URL: must be https"}, ""},
		{"token endpoint with a password", append([]string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_OAUTH_TOKEN_URL=https://u:p@h/t"}, oauth...), []string{"KAFKA_OAUTH_TOKEN_URL: must not hold a user"}, ""},
		{"no URL", append([]string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_OAUTH_TOKEN_URL=h/t"}, oauth...), []string{"KAFKA_OAUTH_TOKEN_URL: can't be read"}, ""},
		{"oauth, half", []string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_SASL_MECHANISM=OAUTHBEARER", "KAFKA_SASL_USERNAME=u"}, []string{"KAFKA_SASL_USERNAME: means nothing with OAUTHBEARER", "KAFKA_OAUTH_TOKEN_URL: required", "KAFKA_OAUTH_CLIENT_ID: required", "KAFKA_OAUTH_CLIENT_SECRET: required"}, ""},
		{"iam", []string{remote, "KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_SASL_MECHANISM=AWS_MSK_IAM"}, nil, ""},
		{"iam with a password and a scope", append([]string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_SASL_MECHANISM=AWS_MSK_IAM", "KAFKA_OAUTH_SCOPE=s"}, password...), []string{"KAFKA_OAUTH_SCOPE: means nothing with AWS_MSK_IAM", "KAFKA_SASL_USERNAME: means nothing", "KAFKA_SASL_PASSWORD: means nothing"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if len(tc.faults) == 0 {
				c := mustLoad(t, tc.set...)
				if got := strings.Join(c.Warnings, "\n"); tc.warning == "" && got != "" || !strings.Contains(got, tc.warning) {
					t.Errorf("warnings %q, want %q", got, tc.warning)
				}
				return
			}
			got := faults(t, environOf(tc.set...))
			if !slices.EqualFunc(got, tc.faults, func(g, w string) bool { return strings.HasPrefix(g, Prefix+w) }) {
				t.Errorf("got  %q\nwant %q", got, tc.faults)
			}
		})
	}
}

// TestKafkaExamples: what docs/kafka.md shows is accepted as it stands.
func TestKafkaExamples(t *testing.T) {
	noLibpq(t)
	page, err := os.ReadFile("../../docs/kafka.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```env\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 6 {
		t.Fatalf("%d examples", len(blocks))
	}
	secret := regexp.MustCompile("(PASSWORD|SECRET)_FILE=.*")
	for _, b := range blocks {
		lines := secret.ReplaceAllString(b[1], "${1}_FILE="+writeFile(t, "s"))
		if c := mustLoad(t, strings.Fields(lines)...); len(c.Warnings) > 0 {
			t.Errorf("%s\nwarns: %q", b[1], c.Warnings)
		}
	}
}

// TestSecretSource: a file is read each time, and what is wrong with it is told
// by its setting.
func TestSecretSource(t *testing.T) {
	noLibpq(t)
	path := writeFile(t, "one\n")
	c := mustLoad(t, beside("KAFKA_SASL_PASSWORD", "KAFKA_SASL_PASSWORD=", "KAFKA_SASL_PASSWORD_FILE="+path)...)
	read := func(want, fault string) {
		t.Helper()
		got, err := c.Kafka.SASLPassword.Read()
		if got != want || (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("got %q, %v, want %q, %q", got, err, want, fault)
		}
	}
	read("one", "")
	for content, fault := range map[string]string{"two\n": "", "\n": "OUTBOX_CDC_KAFKA_SASL_PASSWORD_FILE: the file"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		read(strings.Trim(content, "\n"), fault)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	read("", "read OUTBOX_CDC_KAFKA_SASL_PASSWORD_FILE: open")
	if v, err := mustLoad(t, company("KAFKA_SASL_PASSWORD")...).Kafka.SASLPassword.Read(); v != "p" || err != nil {
		t.Errorf("without a file: %q, %v", v, err)
	}
}
