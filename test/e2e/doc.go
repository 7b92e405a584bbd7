// Package e2e tests the real binary from outside, against a real PostgreSQL
// server and a Kafka cluster that runs in the test's process.
//
// Nothing is asked of the connector's insides. What is true is read from the
// outbox tables, from the records in the topics, from pg_replication_slots, and
// from what the process shows an operator: /status, /readyz, /metrics, its log
// and its exit code. Every test that delivers ends with the same comparison,
// which is invariants_test.go's.
package e2e
