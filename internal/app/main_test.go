package app

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

var pool = pgtest.NewPool(pgtest.Options{})

func TestMain(m *testing.M) { goleak.VerifyTestMain(pool.Main(m)) }
