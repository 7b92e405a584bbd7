package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// fetchPatience is after how long we say what the wait is for.
const fetchPatience = time.Second

// servers are the throw-away ones.
type servers struct {
	postgres *pgtest.Server
	kafka    *kfake.Cluster
	close    []func() error
}

// fetchPostgres brings the programs onto this machine, if they are not there.
func fetchPostgres(ctx context.Context, s *screen) error {
	done := make(chan error, 1)
	go func() { done <- pgtest.Fetch(ctx, pgtest.DefaultMajor) }()
	began := time.Now()
	tick := time.NewTicker(fetchPatience)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			s.progress(fmt.Sprintf("fetching PostgreSQL %d: 15 MB, once a machine ... %d s", pgtest.DefaultMajor, int(time.Since(began).Seconds())))
		case <-ctx.Done():
			// The download knows no context; its remains are temporary files.
			return context.Cause(ctx)
		}
	}
}

// startPostgres starts the server and makes the shop's database.
func (v *servers) startPostgres(ctx context.Context) error {
	server, err := pgtest.Start(ctx, pgtest.Options{
		Major: pgtest.DefaultMajor, Settings: map[string]string{"max_slot_wal_keep_size": "1GB"},
	})
	if err != nil {
		return err
	}
	v.postgres = server
	v.close = append(v.close, server.Close)
	admin, err := pgx.Connect(ctx, server.URL("postgres", ""))
	if err != nil {
		return fmt.Errorf("connect to the new server: %w", err)
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+database); err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	return nil
}

// startKafka starts the in-process Kafka on a free loopback port.
func (v *servers) startKafka() error {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, ordersTopic, paymentsTopic))
	if err != nil {
		return fmt.Errorf("start the in-process Kafka: %w", err)
	}
	v.kafka = cluster
	v.close = append(v.close, func() error { cluster.Close(); return nil })
	return nil
}

// connect opens a session that is closed with the rest.
func (v *servers) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, v.postgres.URL(database, ""))
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	v.close = append(v.close, func() error { return conn.Close(context.WithoutCancel(ctx)) })
	return conn, nil
}
