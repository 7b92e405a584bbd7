package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/statusview"
)

const statusHelp = `Shows what a running connector says of itself: its state and why, how far the
slot is behind, how much WAL the server keeps for it, what is in flight, and what
each route has delivered.

It asks the listener at OUTBOX_CDC_LISTEN_ADDRESS, the only setting that it
needs, or the one that --url names.

With --wait caught-up it says nothing until everything is delivered that was
committed before the command began: before an upgrade, or a change of rules.

Exits with 0, 1 (nobody answers, or --timeout is over) or 2 (usage).`

// The pauses between two looks.
const (
	watchPause = time.Second
	waitPause  = 200 * time.Millisecond
)

type statusOptions struct {
	url, wait     string
	json, watch   bool
	timeout       time.Duration
	timeoutIsSaid bool
}

func statusCommand(opts *options) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what a running connector is doing",
		Long:    statusHelp,
		Example: "  outbox-cdc status\n  outbox-cdc status --url http://10.0.0.7:9855 --json\n  outbox-cdc status --wait caught-up --timeout 1m",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.timeoutIsSaid = cmd.Flags().Changed("timeout")
			client, err := statusClient(opts, o)
			if err != nil {
				return err
			}
			return status(cmd.Context(), cmd, client, o)
		},
	}
	cmd.Flags().StringVar(&o.url, "url", "", "the listener's address, such as http://127.0.0.1:9855")
	cmd.Flags().BoolVar(&o.json, "json", false, "print /status as it is")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "show it again every second until Ctrl-C")
	cmd.Flags().StringVar(&o.wait, "wait", "", "'caught-up' waits until everything is delivered")
	cmd.Flags().DurationVar(&o.timeout, "timeout", time.Minute, "how long --wait waits")
	return cmd
}

// statusClient finds the listener. A broken configuration is no reason not to
// ask a connector how it is.
func statusClient(opts *options, o statusOptions) (*statusview.Client, error) {
	switch {
	case o.wait != "" && o.wait != "caught-up":
		return nil, &usageError{fmt.Errorf("--wait=%.32q: want caught-up", o.wait)}
	case o.wait != "" && (o.watch || o.json), o.watch && o.json:
		return nil, &usageError{errors.New("--wait, --watch and --json exclude each other")}
	case o.timeoutIsSaid && (o.wait == "" || o.timeout <= 0):
		return nil, &usageError{errors.New("--timeout belongs to --wait, and is above 0")}
	}
	base := o.url
	if base == "" {
		environ, err := opts.environ()
		if err != nil {
			return nil, err
		}
		if base, err = statusview.Local(config.ListenAddress(environ)); err != nil {
			return nil, &usageError{err}
		}
	}
	client, err := statusview.New(base)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--url: %w", err)}
	}
	return client, nil
}

func status(ctx context.Context, cmd *cobra.Command, client *statusview.Client, o statusOptions) error {
	if o.wait != "" {
		limited, cancel := context.WithTimeout(ctx, o.timeout)
		defer cancel()
		return statusview.WaitCaughtUp(limited, client, waitPause)
	}
	if o.json {
		body, err := client.Body(ctx)
		if err == nil {
			_, err = cmd.OutOrStdout().Write(body)
		}
		return err
	}
	for {
		s, err := client.Status(ctx)
		if ctx.Err() != nil {
			return nil // Ctrl-C ends --watch
		}
		if err != nil {
			return err
		}
		if err := statusview.Show(cmd.OutOrStdout(), s, time.Now()); err != nil || !o.watch {
			return err
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchPause):
		}
	}
}
