package app

import (
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// outboxTables parses OUTBOX_CDC_TABLES and OUTBOX_CDC_COLUMNS.
func outboxTables(cfg *config.Config) (*decoder.Tables, error) {
	names, err := decoder.ParseTables(cfg.Tables)
	if err != nil {
		return nil, fmt.Errorf("OUTBOX_CDC_TABLES: %w", err)
	}
	mapping, err := decoder.ParseMapping(cfg.Columns)
	if err != nil {
		return nil, fmt.Errorf("OUTBOX_CDC_COLUMNS: %w", err)
	}
	tables, err := decoder.NewTables(names, mapping)
	if err != nil {
		return nil, fmt.Errorf("OUTBOX_CDC_COLUMNS: %w", err)
	}
	return tables, nil
}
