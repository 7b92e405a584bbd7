package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// baseBackup copies the data of a running primary into a server that has none
// yet, consistently: the binaries have no pg_basebackup. (Manual: Making a Base
// Backup Using the Low Level API.)
func baseBackup(ctx context.Context, primary, to *Server) error {
	begin, end := "SELECT pg_backup_start('pgtest', fast => true)", "SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)"
	if primary.major < 15 {
		begin, end = "SELECT pg_start_backup('pgtest', true, false)", "SELECT labelfile FROM pg_stop_backup(false, false)"
	}
	return primary.admin(ctx, func(conn *pgx.Conn) error {
		// From before the backup's checkpoint on, so that all WAL that the
		// backup needs is still there when the standby asks for it.
		if _, err := conn.Exec(ctx, "SELECT pg_create_physical_replication_slot($1, true)", StandbySlot); err != nil {
			return fmt.Errorf("make the standby's slot: %w", err)
		}
		if _, err := conn.Exec(ctx, begin); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		if err := copyRunning(primary.DataDir(), to.DataDir(), to.who); err != nil {
			return err
		}
		var label string
		if err := conn.QueryRow(ctx, end).Scan(&label); err != nil {
			return fmt.Errorf("end: %w", err)
		}
		return to.writeFile("backup_label", []byte(label))
	})
}

// controlFile is copied last, as the server's own base backup does: it must
// not be older than anything else.
const controlFile = "global/pg_control"

// copyRunning copies the data directory of a running server, but for what
// replaced says. Files may come and go meanwhile: replay mends what was torn.
func copyRunning(from, to string, who owner) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if replaced(relative) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if relative == controlFile {
			return nil
		}
		return copyEntry(entry, path, filepath.Join(to, relative), who)
	})
	if err != nil {
		return err
	}
	control := filepath.Join(to, controlFile)
	if err := copyFile(filepath.Join(from, controlFile), control); err != nil {
		return fmt.Errorf("copy %s: %w", controlFile, err)
	}
	return who.own(control)
}

// copyEntry copies a folder (without its contents) or a file. One that is gone
// by now is not copied.
func copyEntry(entry fs.DirEntry, from, to string, who owner) error {
	var err error
	switch {
	case entry.IsDir():
		err = os.Mkdir(to, 0o700)
	case entry.Type().IsRegular():
		err = copyFile(from, to)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	default:
		err = fmt.Errorf("unexpected kind of file %s", entry.Type())
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return who.own(to)
}
