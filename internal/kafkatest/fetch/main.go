// Command fetch brings the Apache Kafka that tests start into the cache of this
// user, and a Java where none is installed.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/outbox-cdc/outbox-cdc/internal/kafkatest"
)

func main() {
	if err := kafkatest.Fetch(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}
