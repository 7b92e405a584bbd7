package kafkatest

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Grant lets a principal ("User:" + User) do the operations on a topic.
func (b *Broker) Grant(tb testing.TB, principal, topic string, operations ...kadm.ACLOperation) {
	tb.Helper()
	answers, err := b.Admin().CreateACLs(tb.Context(), rules(principal, topic, operations).AllowHosts())
	for _, answer := range answers {
		if err == nil {
			err = answer.Err
		}
	}
	if err != nil {
		tb.Fatalf("let %s use topic %s: %v", principal, topic, err)
	}
}

// Revoke takes back what Grant gave.
func (b *Broker) Revoke(tb testing.TB, principal, topic string, operations ...kadm.ACLOperation) {
	tb.Helper()
	answers, err := b.Admin().DeleteACLs(tb.Context(), rules(principal, topic, operations).AllowHosts())
	for _, answer := range answers {
		if err == nil {
			err = answer.Err
		}
		if err == nil && len(answer.Deleted) == 0 {
			tb.Fatalf("%s had no right to take from it on topic %s", principal, topic)
		}
	}
	if err != nil {
		tb.Fatalf("take topic %s from %s: %v", topic, principal, err)
	}
}

func rules(principal, topic string, operations []kadm.ACLOperation) *kadm.ACLBuilder {
	return kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).Allow(principal).Operations(operations...)
}
