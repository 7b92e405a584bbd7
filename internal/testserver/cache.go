package testserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// CacheDir returns the folder that holds archives, programs, templates and
// running servers of one kind ("postgres"; short is its name for root, "pg"),
// made if need be.
//
// Root's home is usually closed to others, and the user the server drops to
// must be able to reach its programs: so root uses a folder below /var/tmp.
// Names there can be taken by anybody, hence the check of the owner.
func CacheDir(kind, short string) (string, error) {
	uid := os.Getuid()
	dir := filepath.Join("/var/tmp", "outbox-cdc-"+short+"-"+strconv.Itoa(uid))
	if uid != 0 {
		if base, err := os.UserCacheDir(); err == nil && writable(base) {
			dir = filepath.Join(base, "outbox-cdc", kind)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("look at the cache folder: %w", err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(stat.Uid) != uid {
		return "", fmt.Errorf("cache folder %s is not a folder of uid %d: remove it", dir, uid)
	}
	// A strict umask would hide the folder, a lax one would open it to others.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", fmt.Errorf("open the cache folder: %w", err)
	}
	return dir, nil
}

// writable says whether dir, or its nearest existing parent, can be written by
// us: an ordinary user without a home has a cache folder only by name.
func writable(dir string) bool {
	const writeAndEnter = 0x2 | 0x1
	for {
		if _, err := os.Stat(dir); err == nil {
			return syscall.Access(dir, writeAndEnter) == nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}
