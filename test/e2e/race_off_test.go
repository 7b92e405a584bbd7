//go:build !race

package e2e

// raceEnabled tells whether the tests run with the race detector; the binary is
// then built with it too.
const raceEnabled = false
