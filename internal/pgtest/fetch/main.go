// Command fetch brings the PostgreSQL releases that tests start into the cache
// of this user.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

func main() {
	for _, major := range pgtest.Majors() {
		if err := pgtest.Fetch(context.Background(), major); err != nil {
			fmt.Fprintln(os.Stderr, "fetch:", err)
			os.Exit(1)
		}
	}
}
