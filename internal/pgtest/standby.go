package pgtest

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// startStandby starts a hot standby of a primary that is up, from a base backup
// into a folder of its own.
func startStandby(ctx context.Context, primary *Server) (*Server, error) {
	opts := primary.opts
	opts.Port = 0
	return newServer(ctx, opts, func(ctx context.Context, s *Server, _ string) error {
		if err := baseBackup(ctx, primary, s); err != nil {
			return fmt.Errorf("take a base backup: %w", err)
		}
		return s.followPrimary(primary)
	})
}

// followPrimary makes a server whose data is a base backup a standby.
func (s *Server) followPrimary(primary *Server) error {
	settings := standbySettings(primary)
	if s.opts.Socket {
		if err := s.makeSocketDir(); err != nil {
			return err
		}
		settings["unix_socket_directories"] = s.socketDir
	}
	if err := writeSettings(s.DataDir(), settings); err != nil {
		return err
	}
	return s.writeFile("standby.signal", nil)
}

// standbySettings are what a standby has above the primary's settings. (Manual:
// Hot Standby; Logical Decoding Concepts, Replication Slot Synchronization.)
func standbySettings(primary *Server) map[string]string {
	settings := map[string]string{
		"primary_conninfo":     primaryConninfo(primary),
		"primary_slot_name":    StandbySlot,
		"hot_standby_feedback": "on", // slot synchronisation demands it
		// The defaults, 5 s and 10 s, are long for a test that restarts a
		// primary or waits for feedback.
		"wal_retrieve_retry_interval":  "100ms",
		"wal_receiver_status_interval": "1s",
		"synchronous_standby_names":    "",
	}
	if primary.major >= failoverMajor {
		// Slots are synchronised by SyncSlots: the worker naps up to 30 s.
		settings["sync_replication_slots"] = "off"
		settings["synchronized_standby_slots"] = ""
	}
	return settings
}

// primaryConninfo is how the standby reaches the primary. Slot synchronisation
// demands a database in it; streaming ignores that.
func primaryConninfo(primary *Server) string {
	parts := []string{
		"host=127.0.0.1", "port=" + strconv.Itoa(primary.port), "user=" + superuser, "dbname=postgres",
		"sslmode=disable", "application_name=" + StandbyName,
	}
	if primary.opts.Password != "" {
		escaped := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(primary.opts.Password)
		parts = append(parts, "password='"+escaped+"'")
	}
	return strings.Join(parts, " ")
}

// replaced tells whether a file of the primary's data directory has no place in
// a standby's. (src/backend/backup/basebackup.c: excludeDirContents,
// excludeFiles.) The WAL comes through the slot.
func replaced(relative string) bool {
	dir, name := filepath.Split(relative)
	switch strings.TrimSuffix(dir, "/") {
	case "pg_wal", "pg_replslot", "pg_dynshmem", "pg_notify", "pg_serial", "pg_snapshots", "pg_stat_tmp", "pg_subtrans":
		return relative != filepath.Join("pg_wal", "archive_status") && relative != filepath.Join("pg_wal", "summaries")
	}
	switch {
	case relative == "postmaster.pid", relative == "postmaster.opts", relative == "backup_label", relative == "tablespace_map":
		return true
	case strings.HasPrefix(name, "pgsql_tmp"), strings.HasPrefix(name, "pg_internal.init"):
		return true
	}
	return false
}
