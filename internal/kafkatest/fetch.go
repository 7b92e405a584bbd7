package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// Fetch brings everything that a broker needs into the cache, so that tests
// find it. An error is one line where Java is what is missing.
func Fetch(ctx context.Context) error {
	_, err := findKit(ctx)
	return err
}

// kit is what brokers are started from.
type kit struct {
	cache    string
	java     java
	classes  string // the class path
	template string // a formatted log folder
	archive  string // of loaded classes; "" for none
}

// findKit returns the kit, fetched and made if this user has not done so
// before. It may be called by several processes at once.
func findKit(ctx context.Context) (*kit, error) {
	cache, err := testserver.CacheDir("kafka", "kafka")
	if err != nil {
		return nil, err
	}
	k := &kit{cache: cache}
	if k.java, err = findJava(ctx, cache); err != nil {
		return nil, err
	}
	dir, err := once(ctx, cache, "kafka-"+version, func(work string) error { return fetchJars(ctx, work) })
	if err != nil {
		return nil, err
	}
	k.classes = classPath(dir)
	if k.template, err = once(ctx, cache, "template-"+version, func(work string) error { return k.format(ctx, work) }); err != nil {
		return nil, err
	}
	// The archive fits only the Java that wrote it.
	name := "classes-" + version + "-java-" + strings.ReplaceAll(k.java.release, string(filepath.Separator), "")
	dir, err = once(ctx, cache, name, func(work string) error { return k.writeArchive(ctx, filepath.Join(work, archiveName)) })
	if err != nil {
		return nil, err
	}
	if archive := filepath.Join(dir, archiveName); exists(archive) {
		k.archive = archive
	}
	return k, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// once returns the folder of that name in the cache, filled by fill the first
// time; only a complete folder ever gets the name.
func once(ctx context.Context, cache, name string, fill func(work string) error) (dir string, err error) {
	dir = filepath.Join(cache, name)
	if exists(dir) {
		return dir, nil
	}
	held, err := testserver.Lock(ctx, filepath.Join(cache, "fetch.lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, held.Unlock()) }()
	if exists(dir) {
		return dir, nil
	}
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", fmt.Errorf("make a folder for %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := fill(work); err != nil {
		return "", err
	}
	if err := os.Rename(work, dir); err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	return dir, nil
}
