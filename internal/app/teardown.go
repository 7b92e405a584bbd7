package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

var errNotConfirmed = errors.New("not confirmed: nothing was changed; --yes goes ahead without a question")

// Teardown takes away what Setup made: the slot, the publication if it is ours,
// and the checkpoint. It shows the plan on w and goes ahead only if confirm says
// so. Errors are for an operator; they hold neither URL nor password.
func Teardown(ctx context.Context, cfg *config.Config, w io.Writer, confirm func() bool) error {
	want, err := wanted(cfg)
	if err != nil {
		return err
	}
	conn, err := dialSetup(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	s := catalog.Setup{Want: want}
	steps, err := s.Teardown(ctx, conn)
	if err != nil {
		return err
	}
	if len(steps) == 0 {
		_, err = fmt.Fprintln(w, "nothing to do: nothing that setup made is there")
		return err
	}
	for _, step := range steps {
		if _, err := fmt.Fprintf(w, "%s\n  %s\n", step.Why, step.SQL); err != nil {
			return err
		}
	}
	if !confirm() {
		return errNotConfirmed
	}
	for _, step := range steps {
		if err := catalog.Apply(ctx, conn, step, setupWait); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(w, "done")
	return err
}
