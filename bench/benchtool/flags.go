package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// flags are the arguments of one command.
type flags struct {
	*flag.FlagSet
	timeout time.Duration
}

func newFlags(name string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError)}
	f.DurationVar(&f.timeout, "timeout", 10*time.Minute, "give up after this")
	return f
}

// parse reads the arguments and bounds the context by the time-out.
func (f *flags) parse(ctx context.Context, args []string) (context.Context, context.CancelFunc, error) {
	if err := f.Parse(args); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	return ctx, cancel, nil
}

// kafkaFlags name the topic.
type kafkaFlags struct{ brokers, topic string }

func (k *kafkaFlags) register(f *flags) {
	f.StringVar(&k.brokers, "brokers", "127.0.0.1:19092", "bootstrap address")
	f.StringVar(&k.topic, "topic", "bench.order", "topic")
}

// slotFlags name the slot and its server.
type slotFlags struct{ dsn, slot, publication string }

func (s *slotFlags) register(f *flags) {
	f.StringVar(&s.dsn, "dsn", "", "PostgreSQL, as a keyword string")
	f.StringVar(&s.slot, "slot", "", "replication slot")
	f.StringVar(&s.publication, "pub", "", "publication")
}

// pids are processes by what they are: connector, broker.
type pids map[string]int

func (p pids) register(f *flags) { f.Var(p, "pid", "a process to measure, NAME=PID; can be repeated") }

// String is flag.Value's.
func (p pids) String() string { return fmt.Sprint(map[string]int(p)) }

// Set is flag.Value's.
func (p pids) Set(s string) error {
	name, number, _ := strings.Cut(s, "=")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return fmt.Errorf("%q is not NAME=PID", s)
	}
	p[name] = pid
	return nil
}

// emit writes a result as one line of JSON.
func emit(out io.Writer, result any) error { return json.NewEncoder(out).Encode(result) }
