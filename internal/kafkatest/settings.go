package kafkatest

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Listener is one of the broker's listeners; the values are Kafka's names of
// their security protocols.
type Listener string

const (
	// Plaintext makes everybody the superuser.
	Plaintext Listener = "PLAINTEXT"
	// SSL knows a client by the certificate that it may show, see Broker.TLS.
	SSL Listener = "SSL"
	// SASLPlaintext asks for PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER.
	SASLPlaintext Listener = "SASL_PLAINTEXT"
	// SASLSSL is SASLPlaintext within TLS.
	SASLSSL Listener = "SASL_SSL"

	controller Listener = "CONTROLLER"
)

func listeners() []Listener {
	return []Listener{Plaintext, SSL, SASLPlaintext, SASLSSL, controller}
}

const (
	// User is who can log in by PLAIN and SCRAM. By OAUTHBEARER anybody can who
	// has a token of Broker.Token.
	User = "alice"
	// Password is User's.
	Password = "alice-secret"
	// ClientName is the principal of Broker.TLS's client certificate, as ACLs
	// name it after "User:".
	ClientName = "CN=client"
)

// serverSettings is the broker's server.properties. Limits are small: a test
// has few topics and clients.
func (b *Broker) serverSettings() string {
	all := map[string]string{
		"process.roles": "broker,controller", "node.id": "1",
		"controller.quorum.voters":  "1@" + b.Addr(controller),
		"controller.listener.names": string(controller), "inter.broker.listener.name": string(Plaintext),
		"log.dirs":            filepath.Join(b.home, "data"),
		"num.network.threads": "1", "num.io.threads": "4", "log.cleaner.dedupe.buffer.size": "4194304",
		"auto.create.topics.enable": "false", "log.segment.delete.delay.ms": "1000", "group.initial.rebalance.delay.ms": "0",
		// A killed broker is taken back only when its session has run out.
		"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500",
		"offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "1",
		"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1", "transaction.state.log.num.partitions": "1",
		"share.coordinator.state.topic.replication.factor": "1", "share.coordinator.state.topic.min.isr": "1",
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS",
		"ssl.keystore.type": "PEM", "ssl.keystore.location": b.file(serverFile), "listener.name.ssl.ssl.client.auth": "requested",
		"ssl.truststore.type": "PEM", "ssl.truststore.location": b.file(caFile),
		"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
	}
	kinds := listeners()
	listen, protocols := make([]string, len(kinds)), make([]string, len(kinds))
	for i, l := range kinds {
		listen[i] = string(l) + "://" + b.Addr(l)
		protocols[i] = string(l) + ":" + strings.Replace(string(l), string(controller), string(Plaintext), 1)
	}
	all["listeners"], all["listener.security.protocol.map"] = strings.Join(listen, ","), strings.Join(protocols, ",")
	for _, l := range []Listener{SASLPlaintext, SASLSSL} {
		maps.Copy(all, b.logins("listener.name."+strings.ToLower(string(l))+"."))
	}
	maps.Copy(all, b.opts.settings)
	return render(all)
}

// logins are the mechanisms of one listener.
func (b *Broker) logins(prefix string) map[string]string {
	const modules = "org.apache.kafka.common.security."
	return map[string]string{
		prefix + "plain.sasl.jaas.config":         fmt.Sprintf("%splain.PlainLoginModule required user_%s=%q;", modules, User, Password),
		prefix + "scram-sha-256.sasl.jaas.config": modules + "scram.ScramLoginModule required;",
		prefix + "scram-sha-512.sasl.jaas.config": modules + "scram.ScramLoginModule required;",
		// The broker never logs in to another one: the module has nothing to say.
		prefix + "oauthbearer.sasl.jaas.config":                    modules + `oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="unused";`,
		prefix + "oauthbearer.sasl.server.callback.handler.class":  modules + "oauthbearer.OAuthBearerValidatorCallbackHandler",
		prefix + "oauthbearer.sasl.oauthbearer.jwks.endpoint.url":  "file://" + b.file(keysFile),
		prefix + "oauthbearer.sasl.oauthbearer.expected.audience":  tokenAudience,
		prefix + "oauthbearer.sasl.oauthbearer.expected.issuer":    tokenIssuer,
		prefix + "oauthbearer.sasl.oauthbearer.clock.skew.seconds": "0",
		prefix + "oauthbearer.sasl.oauthbearer.sub.claim.name":     "sub",
		prefix + "oauthbearer.sasl.oauthbearer.scope.claim.name":   "scope",
		prefix + "oauthbearer.sasl.login.callback.handler.class":   modules + "oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler",
	}
}

// render prints settings in the format of Java's properties, sorted by name.
func render(settings map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		text.WriteString(name + "=" + strings.ReplaceAll(settings[name], `\`, `\\`) + "\n")
	}
	return text.String()
}
