package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// built are the paths of the connector's binaries.
type built struct {
	// tested is built as the tests are: with the race detector if they are.
	tested string
	// plain is what is shipped; memory is measured with it.
	plain string
}

func build(ctx context.Context, dir string) (built, error) {
	b := built{tested: filepath.Join(dir, "outbox-cdc"), plain: filepath.Join(dir, "outbox-cdc")}
	if raceEnabled {
		b.tested = filepath.Join(dir, "outbox-cdc-race")
		if err := goBuild(ctx, b.tested, "-race"); err != nil {
			return built{}, err
		}
	}
	return b, goBuild(ctx, b.plain)
}

func goBuild(ctx context.Context, out string, flags ...string) error {
	args := append([]string{"build", "-o", out}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "github.com/outbox-cdc/outbox-cdc/cmd/outbox-cdc")...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the connector: %w\n%s", err, text)
	}
	return nil
}
