package testserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort returns a port that nobody listens on. It lies below the ephemeral
// ranges of Linux and macOS, so that no outgoing connection takes it while the
// server is down for a moment.
func FreePort(ctx context.Context) (int, error) {
	const first, count = 20000, 10000
	for range 100 {
		port := first + rand.IntN(count)
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("release port %d: %w", port, err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("no free port between %d and %d", first, first+count)
}
