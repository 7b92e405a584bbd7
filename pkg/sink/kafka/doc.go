// Package kafka delivers records to Kafka through franz-go.
//
// The producer is idempotent with acks=all and retries for ever, so a broker
// that is away shows as back-pressure and not as an error. Keys are placed as
// the Java client places them (murmur2). What a topic can never take is refused
// before it is on its way: the broker would refuse a whole batch for it, and
// the client then fails everything buffered for that partition.
//
// # Life of a record
//
// Send judges the record against the topic (judge.go), waits for room
// (window.go), fills a pooled message (message.go) and hands it to the client.
// The message's promise gives the result. After the first failed promise the
// sink is done: the client would accept later records of the partition, and one
// of them could overtake the failed one.
//
// # What the client remembers
//
// A client keeps a topic's batch limit and its sequence numbers for as long as
// it lives. Purging a topic from an idempotent client forgets the sequence
// numbers too, and the broker then takes new records for repeats and drops them
// without a word; so when a limit changes the whole client is replaced, after
// everything in flight has had its result.
package kafka
