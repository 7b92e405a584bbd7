package main

import (
	"os"
	"strings"
)

// setting is a variable of the connector's environment.
type setting struct{ name, value string }

// settings are all that the connector is told.
func settings(databaseURL, broker, listen string) []setting {
	return []setting{
		{"OUTBOX_CDC_DATABASE_URL", databaseURL},
		{"OUTBOX_CDC_TABLES", "orders.outbox"},
		{"OUTBOX_CDC_ROUTES", "order.* -> kafka:" + ordersTopic + "; payment.* -> kafka:" + paymentsTopic},
		{"OUTBOX_CDC_KAFKA_BROKERS", broker},
		{"OUTBOX_CDC_LISTEN_ADDRESS", listen},
	}
}

// assign is the setting as a shell reads it.
func (s setting) assign() string {
	return s.name + "='" + strings.ReplaceAll(s.value, "'", `'\''`) + "'"
}

// environ is our own environment with the settings, and without what would
// change them: the caller's own OUTBOX_CDC_ and PG variables.
func environ(all []setting) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "OUTBOX_CDC_") && !strings.HasPrefix(kv, "PG") {
			env = append(env, kv)
		}
	}
	for _, s := range all {
		env = append(env, s.name+"="+s.value)
	}
	return env
}
