// Package bench measures what an event costs us: the whole pipeline, from
// pgoutput bytes to the broker's answer, with everything else in another
// process. Run it with "make bench". The scripts beside it measure the real
// binary against real servers; see README.md.
package bench
