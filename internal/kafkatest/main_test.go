package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// holdEnv makes the test binary a program that starts a broker, tells where it
// is, and holds it until its standard input ends.
const holdEnv = "KAFKATEST_HOLD"

var pool Pool

func TestMain(m *testing.M) {
	if os.Getenv(holdEnv) != "" {
		if err := hold(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(pool.Main(m))
}

func hold() error {
	b, err := Start(context.Background())
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, b.Addr(Plaintext), b.home); err != nil {
		return errors.Join(err, b.Close())
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return b.Close()
}
