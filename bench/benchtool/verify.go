package main

import (
	"context"
	"fmt"
	"io"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// verify reads the whole topic and compares it with ids 1 to n. What it finds is
// its result; with -kept it also fails when a promise is broken.
func verify(ctx context.Context, args []string, out io.Writer) error {
	var k kafkaFlags
	f := newFlags("verify")
	k.register(f)
	n := f.Int64("n", 0, "rows that were loaded")
	kept := f.Bool("kept", false, "fail if anything but duplicates is wrong")
	ctx, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	client, admin, err := k.dial(kgo.ConsumeTopics(k.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxBytes(50<<20))
	if err != nil {
		return err
	}
	defer client.Close()
	total, err := k.records(ctx, admin)
	if err != nil {
		return err
	}
	books := newBooks(*n)
	for books.Records < total {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("read %s: %w", k.topic, err)
		}
		for _, r := range fetches.Records() {
			if err := books.add(r); err != nil {
				return err
			}
		}
	}
	result := books.close()
	dirs, err := admin.DescribeAllLogDirs(ctx, nil)
	if err != nil {
		return fmt.Errorf("size of %s: %w", k.topic, err)
	}
	dirs.Each(func(d kadm.DescribedLogDir) {
		for _, p := range d.Topics[k.topic] {
			result.TopicBytes += p.Size
		}
	})
	if err := emit(out, result); err != nil {
		return err
	}
	if *kept && !result.kept() {
		return fmt.Errorf("%s does not hold what was loaded", k.topic)
	}
	return nil
}
