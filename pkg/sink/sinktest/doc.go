// Package sinktest is the conformance suite of sinks, and a sink in memory for
// the tests of whoever uses sinks.
//
// Run proves the promises of sink.Sink against a real or faked destination. A
// sink that passes it can be put behind the pipeline; one that needs an
// exception says so in Features, where a reader finds it.
package sinktest
