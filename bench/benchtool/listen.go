package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// listen connects to where rows come out. The function that it returns notes
// arrivals until the context ends.
func (l *openLoop) listen(ctx context.Context) (func(), error) {
	switch l.via {
	case "slot":
		return l.listenSlot(ctx)
	case "kafka", "direct":
		return l.listenTopic(ctx)
	}
	return nil, fmt.Errorf("unknown -via %s", l.via)
}

func (l *openLoop) listenSlot(ctx context.Context) (func(), error) {
	conn, err := l.replicate(ctx)
	if err != nil {
		return nil, err
	}
	return func() {
		defer context.AfterFunc(ctx, func() { _ = conn.Conn().Close() })()
		err := readInserts(conn, func(insert []byte) bool {
			id, err := firstColumn(insert)
			if err != nil {
				l.times.fail(err)
				return false
			}
			l.times.arrive(id, time.Now())
			return true
		})
		if err != nil && ctx.Err() == nil {
			l.times.fail(err)
		}
		_ = conn.Conn().Close()
	}, nil
}

func (l *openLoop) listenTopic(ctx context.Context) (func(), error) {
	client, _, err := l.dial(kgo.ConsumeTopics(l.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(500*time.Millisecond), kgo.FetchMinBytes(1))
	if err != nil {
		return nil, err
	}
	return func() {
		defer client.Close()
		for {
			fetches := client.PollFetches(ctx)
			if ctx.Err() != nil {
				return
			}
			if err := fetches.Err(); err != nil {
				l.times.fail(fmt.Errorf("read %s: %w", l.topic, err))
				return
			}
			now := time.Now()
			for _, r := range fetches.Records() {
				id, err := rowID(r)
				if err != nil {
					l.times.fail(err)
					return
				}
				l.times.arrive(id, now)
			}
		}
	}, nil
}
