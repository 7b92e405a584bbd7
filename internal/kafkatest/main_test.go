package kafkatest

import (
	"context"
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
	fmt.Println(b.Addr(Plaintext), b.home)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return b.Close()
}
