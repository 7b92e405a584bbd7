package main

import (
	"fmt"
	"time"
)

// options are what the environment says. No name begins with OUTBOX_CDC_: those
// are the connector's, which refuses names that it does not know.
type options struct {
	// length is how long the demo writes, the quiet stretch included.
	length time.Duration
	// binary is the connector to run; empty means to build one.
	binary  string
	noColor bool
}

const (
	defaultLength  = 20 * time.Second
	shortestLength = time.Second
)

func readOptions(getenv func(string) string) (options, error) {
	o := options{length: defaultLength, binary: getenv("DEMO_CONNECTOR"), noColor: getenv("NO_COLOR") != ""}
	text := getenv("DEMO_FOR")
	if text == "" {
		return o, nil
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < shortestLength {
		return o, fmt.Errorf("DEMO_FOR=%q: use a duration from %v on, such as 20s or 10m", text, shortestLength)
	}
	o.length = length
	return o, nil
}

// part is a share of the whole length.
func (o options) part(percent int) time.Duration {
	return o.length * time.Duration(percent) / 100
}
