package pgtest

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// DefaultMajor is the PostgreSQL major version of a server whose Options name
// none.
const DefaultMajor = 17

// MajorEnv names the environment variable that overrides DefaultMajor for a
// whole test run, so that one command repeats the same tests on another major.
const MajorEnv = "PGTEST_MAJOR"

// Majors returns all PostgreSQL major versions that can be started, ascending.
func Majors() []int { return []int{14, 15, 16, 17, 18} }

// release is the full version, as the archives are named, that stands for a
// major; the checksums of archive.go belong to exactly these.
func release(major int) (string, error) {
	switch major {
	case 14:
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
			return "14.23.0", nil // the newest that was published there
		}
		return "14.24.0", nil
	case 15:
		return "15.19.0", nil
	case 16:
		return "16.15.0", nil
	case 17:
		return "17.11.0", nil
	case 18:
		return "18.6.0", nil
	default:
		return "", fmt.Errorf("postgres major %d is not one of %v", major, Majors())
	}
}

// majorOrDefault resolves an unset major: first MajorEnv, then DefaultMajor.
func majorOrDefault(major int) (int, error) {
	if major != 0 {
		return major, nil
	}
	text := os.Getenv(MajorEnv)
	if text == "" {
		return DefaultMajor, nil
	}
	major, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s=%q is not a number: use one of %v", MajorEnv, text, Majors())
	}
	return major, nil
}
