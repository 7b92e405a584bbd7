package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// Fetch fetches a release without starting anything, so that tests find it.
// Unpacking is several times slower in a test built with -race than in a
// command that is not.
func Fetch(ctx context.Context, major int) error {
	version, err := release(major)
	if err != nil {
		return err
	}
	cache, err := testserver.CacheDir("postgres", "pg")
	if err != nil {
		return err
	}
	_, err = programs(ctx, cache, version)
	return err
}

// programs returns the folder with bin/, lib/ and share/ of a release, fetched
// and unpacked if this user has not done so before. It may be called by several
// processes at once. The download itself does not end with ctx.
func programs(ctx context.Context, cache, version string) (dir string, err error) {
	dir = filepath.Join(cache, "postgres-"+version)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	held, err := testserver.Lock(ctx, filepath.Join(cache, "fetch.lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, held.Unlock()) }()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}

	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", fmt.Errorf("make a folder to fetch into: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	archive, err := download(work, version)
	if err != nil {
		return "", err
	}
	if err := verify(archive, version); err != nil {
		return "", err
	}
	unpacked := filepath.Join(work, "unpacked")
	if err := unpack(ctx, archive, unpacked); err != nil {
		return "", fmt.Errorf("unpack postgres %s: %w", version, err)
	}
	// Only a complete folder ever gets the final name.
	if err := os.Rename(unpacked, dir); err != nil {
		return "", fmt.Errorf("keep postgres %s: %w", version, err)
	}
	return dir, nil
}

// download lets the library fetch the archive of a release into work and
// returns its path.
//
// The library knows only "download, unpack, initialise and start"; to stop it
// before it runs a program that nobody has verified, it is told to unpack into
// a folder that cannot be made: below a dangling link. It then fails after the
// download, also for root, and leaves the archive in its cache folder.
func download(work, version string) (string, error) {
	dangling := filepath.Join(work, "dangling")
	if err := os.Symlink(filepath.Join(work, "nowhere", "at-all"), dangling); err != nil {
		return "", fmt.Errorf("prepare the download: %w", err)
	}
	archives := filepath.Join(work, "archives")
	var fetchErr error
	for range 5 { // the library wants a free port even though it will not get that far
		port, err := ephemeralPort()
		if err != nil {
			return "", err
		}
		fetchErr = embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
			Version(embeddedpostgres.PostgresVersion(version)).
			Port(port).
			CachePath(archives).
			RuntimePath(filepath.Join(work, "runtime")).
			BinariesPath(filepath.Join(dangling, "programs")).
			Logger(io.Discard)).Start()
		found, err := filepath.Glob(filepath.Join(archives, "*.txz"))
		if err != nil {
			return "", fmt.Errorf("look for the fetched archive: %w", err)
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("fetch postgres %s: %w: is the network reachable?", version, fetchErr)
}

// ephemeralPort returns a TCP port that was free a moment ago.
func ephemeralPort() (uint32, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	addr, ok := listener.Addr().(*net.TCPAddr)
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("release the free port: %w", err)
	}
	if !ok {
		return 0, fmt.Errorf("find a free port: unexpected address %v", listener.Addr())
	}
	return uint32(addr.Port), nil
}
