package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset/pgstore"
)

var errOneTable = errors.New("want one table, with its schema, such as outbox_cdc.checkpoint")

// checkpointTable parses OUTBOX_CDC_OFFSET_TABLE.
func checkpointTable(cfg *config.Config) (decoder.TableName, error) {
	names, err := decoder.ParseTables(cfg.OffsetTable)
	if err != nil {
		return decoder.TableName{}, err
	}
	if len(names) != 1 {
		return decoder.TableName{}, errOneTable
	}
	return names[0], nil
}

// keptIn is the checkpoint table of the configuration; nil where the slot alone
// keeps the position.
func keptIn(cfg *config.Config) (*decoder.TableName, error) {
	if cfg.OffsetStore != "table" {
		return nil, nil //nolint:nilnil // no table is a good answer
	}
	t, err := checkpointTable(cfg)
	if err != nil {
		return nil, fmt.Errorf("OUTBOX_CDC_OFFSET_TABLE: %w", err)
	}
	return &t, nil
}

// acceptedGap parses OUTBOX_CDC_ACCEPT_GAP; 0 for none.
func acceptedGap(cfg *config.Config) (decoder.LSN, error) {
	if cfg.AcceptGap == "" {
		return 0, nil
	}
	return decoder.ParseLSN(cfg.AcceptGap)
}

// offsets keeps the position beside the slot.
type offsets struct {
	*pgstore.Store
	conn *connector
}

// openOffsets makes the store that the configuration names; nil for the slot
// alone. It connects when it is used first.
func openOffsets(c *connector) *offsets {
	if c.want.Checkpoint == nil {
		return nil
	}
	return &offsets{pgstore.New(pgstore.Config{Connect: c.dial, Table: *c.want.Checkpoint}), c}
}

// Load implements pipeline.CheckpointStore: a table that can't be used is an
// operator's matter.
func (o *offsets) Load(ctx context.Context, slot string) (*offset.Checkpoint, error) {
	c, err := o.Store.Load(ctx, slot)
	if table, ok := errors.AsType[*pgstore.TableError](err); ok {
		return nil, &pipeline.HoldError{Reason: table.Error(), Err: err}
	}
	return c, err
}

// newerRows asks the outbox tables, by their names in the catalog.
func (o *offsets) newerRows(ctx context.Context, c *offset.Checkpoint) (offset.NewerRows, error) {
	return o.NewerRows(ctx, o.conn.found, c.Snapshot)
}
