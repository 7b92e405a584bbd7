package kafkatest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// version is Apache Kafka's.
const version = "4.4.0"

// jarsSum lists the jars by SHA-256 and path in a Maven repository, as
// sha256sum prints them; their order is that of the class path.
//
//go:embed jars.sum
var jarsSum string

// jar is one pinned file.
type jar struct{ sum, path string }

func jars() []jar {
	var all []jar
	for line := range strings.Lines(jarsSum) {
		if sum, path, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			all = append(all, jar{sum, path})
		}
	}
	return all
}

// classPath is the class path of the jars below dir.
func classPath(dir string) string {
	all := jars()
	paths := make([]string, len(all))
	for i, j := range all {
		paths[i] = filepath.Join(dir, filepath.FromSlash(j.path))
	}
	return strings.Join(paths, string(os.PathListSeparator))
}

// fetchJars brings all jars into the folder dir, which must exist, and compares
// them with their checksums.
func fetchJars(ctx context.Context, dir string) error {
	if err := byMaven(ctx, dir); err != nil {
		if downloadErr := download(ctx, dir); downloadErr != nil {
			return errors.Join(err, downloadErr)
		}
	}
	for _, j := range jars() {
		if err := verify(filepath.Join(dir, filepath.FromSlash(j.path)), j.sum); err != nil {
			return err
		}
	}
	return nil
}

// verify refuses a file with another SHA-256.
func verify(path, sum string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("check a fetched file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return fmt.Errorf("check a fetched file: %w", err)
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != sum {
		return fmt.Errorf("%s has the SHA-256 %s, pinned is %s", filepath.Base(path), got, sum)
	}
	return nil
}
