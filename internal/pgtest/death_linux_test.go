package pgtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// holder is another process of this test binary that runs as an ordinary user
// and holds a server.
type holder struct {
	cmd   *exec.Cmd
	stdin io.Closer
	uid   int
	port  int
	data  string
}

// startHolder copies the test binary to where everybody may run it, because go
// test builds it in a private folder.
func startHolder(t *testing.T) *holder {
	t.Helper()
	dir := openDir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "holder")
	if err := copyFile(self, binary); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	who := owner{}
	if os.Getuid() == 0 {
		who = owner{drop: true, uid: 65534, gid: 65534}
	}
	cache := filepath.Join(dir, ".cache")
	for _, path := range []string{cache, lendPrograms(t, cache)} {
		if err := who.own(path); err != nil {
			t.Fatal(err)
		}
	}
	h := &holder{cmd: who.command(context.Background(), binary)}
	h.cmd.Env = append(h.cmd.Env, holdEnv+"=1", "HOME="+dir, "XDG_CACHE_HOME="+cache)
	h.cmd.Stderr = t.Output()
	stdin, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.stdin = stdin
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(stdout, &h.uid, &h.port, &h.data); err != nil {
		t.Fatalf("the holder said nothing: %v, %v", err, h.cmd.Wait())
	}
	return h
}

// lendPrograms makes the cache folder of a holder and links our programs into
// it, so that it has nothing to fetch. It returns the folder.
func lendPrograms(t *testing.T, base string) string {
	t.Helper()
	server := pool.Server(t, DefaultMajor)
	cache := filepath.Join(base, "outbox-cdc", "postgres")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(server.progs, filepath.Join(cache, filepath.Base(server.progs))); err != nil {
		t.Fatal(err)
	}
	return cache
}

// listening says whether anybody accepts connections on the port.
func listening(ctx context.Context, port int) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func TestOrdinaryUserRunsAServer(t *testing.T) {
	h := startHolder(t)
	if h.uid == 0 {
		t.Error("the holder runs as root")
	}
	if !listening(t.Context(), h.port) {
		t.Error("the holder's server does not listen")
	}
	if err := h.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("the holder ended with %v", err)
	}
	if _, err := os.Stat(h.data); !os.IsNotExist(err) {
		t.Errorf("the data directory is still there: %v", err)
	}
}

func TestServerDiesWithItsParent(t *testing.T) {
	h := startHolder(t)
	if err := h.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Wait(); err == nil {
		t.Error("the holder was not killed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	err := testserver.Poll(ctx, func() (bool, error) { return !listening(ctx, h.port), nil })
	if err != nil {
		t.Errorf("the server outlives its parent: %v", err)
	}
}
