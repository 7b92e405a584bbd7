package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// owner is the user that runs the server and owns its files. The zero value
// means "ourselves".
type owner struct {
	drop     bool
	uid, gid uint32
}

// findOwner returns who can run the programs below dir. PostgreSQL refuses to
// run as root, so root drops to the first user that is able to: in a container
// some ids are not mapped, and some folders cannot be entered.
func findOwner(ctx context.Context, dir string) (owner, error) {
	if os.Getuid() != 0 {
		return owner{}, nil
	}
	candidates := []owner{}
	for _, name := range []string{"nobody", "postgres", "daemon"} {
		if account, err := user.Lookup(name); err == nil {
			uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
			gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
			if uidErr == nil && gidErr == nil && uid != 0 {
				candidates = append(candidates, owner{true, uint32(uid), uint32(gid)})
			}
		}
	}
	candidates = append(candidates, owner{true, 65534, 65534}, owner{true, 1000, 1000})
	var faults []error
	for _, who := range candidates {
		err := who.command(ctx, filepath.Join(dir, "bin", "postgres"), "--version").Run()
		if err == nil {
			return who, nil
		}
		faults = append(faults, fmt.Errorf("uid %d: %w", who.uid, err))
	}
	return owner{}, fmt.Errorf("postgres refuses to run as root and no other user can run it: %w", errors.Join(faults...))
}

// command prepares a program to run as the owner, in a folder that surely
// exists and can be entered, with nothing of our own environment: PG* variables
// and locales would change what the server does.
func (o owner) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = testserver.ChildAttr(syscall.SIGQUIT)
	if o.drop {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: o.uid, Gid: o.gid}
	}
	return cmd
}

// own gives a path to the owner.
func (o owner) own(path string) error {
	if !o.drop {
		return nil
	}
	return os.Lchown(path, int(o.uid), int(o.gid))
}
