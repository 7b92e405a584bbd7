package pgtest

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/xi2/xz"
)

// unpack writes the files of a .tar.xz archive below dir, readable by
// everybody whatever the umask, because the server may run as another user.
// The archive has been verified; os.Root still keeps every name inside dir.
func unpack(ctx context.Context, archive, dir string) (err error) {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	stream, err := xz.NewReader(bufio.NewReaderSize(file, 1<<20), 0)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.Chmod(".", 0o755); err != nil {
		return err
	}
	for entries := tar.NewReader(stream); ctx.Err() == nil; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := unpackEntry(root, header, entries); err != nil {
			return fmt.Errorf("entry %q: %w", header.Name, err)
		}
	}
	return context.Cause(ctx)
}

// unpackEntry writes one entry; kinds that PostgreSQL's archives do not have
// are refused.
func unpackEntry(root *os.Root, header *tar.Header, body io.Reader) error {
	name := filepath.Clean(header.Name)
	if err := makeDirs(root, filepath.Dir(name)); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return makeDirs(root, name)
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		return unpackFile(root, name, header.FileInfo().Mode().Perm(), body)
	default:
		return fmt.Errorf("unexpected kind %q", header.Typeflag)
	}
}

func unpackFile(root *os.Root, name string, mode fs.FileMode, body io.Reader) (err error) {
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.Copy(file, body); err != nil {
		return err
	}
	return file.Chmod(mode&0o755 | 0o444)
}

// makeDirs makes a folder and its parents, each with mode 0755.
func makeDirs(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	if err := makeDirs(root, filepath.Dir(name)); err != nil {
		return err
	}
	err := root.Mkdir(name, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return root.Chmod(name, 0o755)
}
