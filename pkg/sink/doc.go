// Package sink is the port between the pipeline and its destinations: what a
// record is, how it is handed over, and what a destination may answer.
//
// Each destination is a subfolder (kafka, stdout); each passes the conformance
// suite of sinktest. The package knows nothing of PostgreSQL.
package sink
