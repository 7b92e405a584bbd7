// Command outbox-cdc delivers the rows of PostgreSQL outbox tables to Kafka,
// in commit order, at least once. See README.md and "outbox-cdc help".
package main
