package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

const (
	minMajor = 14
	maxMajor = 18
)

// Server is what an ordinary connection tells about server, database and role.
type Server struct {
	// VersionNum is server_version_num, such as 170011.
	VersionNum int
	// Version is server_version, such as "17.11".
	Version    string
	WALLevel   string
	InRecovery bool
	// Flushed is the end of the WAL that is safe on disk; on a standby the
	// end of what was replayed.
	Flushed  decoder.LSN
	Database string
	Encoding string

	User        string
	Superuser   bool
	Replication bool
	// RDSReplication tells whether the role is a member of rds_replication.
	RDSReplication bool

	MaxSlots, Slots     int
	MaxSenders, Senders int
	// PhysicalSlots counts physical replication slots: each stands for a
	// standby.
	PhysicalSlots int

	SynchronousStandbyNames string
	// MaxSlotWALKeepSize is as SHOW prints it; "-1" is no limit.
	MaxSlotWALKeepSize string
}

// Major is the major version, such as 17.
func (s *Server) Major() int { return s.VersionNum / 10000 }

const serverQuery = `
SELECT current_setting('server_version_num')::int4, current_setting('server_version'),
       current_setting('wal_level'), pg_is_in_recovery(),
       CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END::text,
       current_database()::text, pg_encoding_to_char(d.encoding)::text,
       r.rolname::text, r.rolsuper, r.rolreplication,
       EXISTS (SELECT FROM pg_roles m WHERE m.rolname = 'rds_replication' AND pg_has_role(m.oid, 'USAGE')),
       current_setting('max_replication_slots')::int4, (SELECT count(*) FROM pg_replication_slots)::int4,
       current_setting('max_wal_senders')::int4, (SELECT count(*) FROM pg_stat_replication)::int4,
       (SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'physical')::int4,
       current_setting('synchronous_standby_names'), coalesce(current_setting('max_slot_wal_keep_size', true), '-1')
  FROM pg_roles r, pg_database d
 WHERE r.rolname = current_user AND d.datname = current_database()`

func readServer(ctx context.Context, conn *pgx.Conn) (Server, error) {
	var s Server
	var flushed *string
	err := conn.QueryRow(ctx, serverQuery).Scan(&s.VersionNum, &s.Version, &s.WALLevel, &s.InRecovery, &flushed,
		&s.Database, &s.Encoding, &s.User, &s.Superuser, &s.Replication, &s.RDSReplication,
		&s.MaxSlots, &s.Slots, &s.MaxSenders, &s.Senders, &s.PhysicalSlots, &s.SynchronousStandbyNames, &s.MaxSlotWALKeepSize)
	if err == nil {
		s.Flushed, err = lsn(flushed)
	}
	return s, wrap("the server's version and settings", err)
}

// InsertLSN is the server's WAL insert position: every commit from now on lies
// at or above it.
func InsertLSN(ctx context.Context, conn *pgx.Conn) (decoder.LSN, error) {
	var text *string
	err := conn.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn()::text").Scan(&text)
	if err != nil {
		return 0, wrap("the WAL insert position", err)
	}
	return lsn(text)
}

// lsn reads a pg_lsn as text; NULL is no position.
func lsn(text *string) (decoder.LSN, error) {
	if text == nil {
		return 0, nil
	}
	return decoder.ParseLSN(*text)
}

func judgeServer(fs *findings, s Server, want Want) {
	judgeVersion(fs, s)
	switch s.WALLevel {
	case "logical":
		fs.ok("server.wal_level", "wal_level", "is logical")
	default:
		fs.add("server.wal_level", Fail, "wal_level", "run ALTER SYSTEM SET wal_level = 'logical'; and restart the server (RDS: rds.logical_replication = 1)",
			"is %q, which writes too little for logical decoding", s.WALLevel)
	}
	if s.InRecovery {
		fs.add("server.recovery", Fail, s.Database, "connect to the primary; with several hosts in DATABASE_URL use target_session_attrs=read-write",
			"the server is a standby")
	} else {
		fs.ok("server.recovery", s.Database, "the server is a primary")
	}
	if s.Encoding == "SQL_ASCII" {
		fs.add("server.encoding", Fail, s.Database, "move the tables to a database with encoding UTF8",
			"the database's encoding is SQL_ASCII: the server would send bytes that nobody has checked")
	} else {
		fs.ok("server.encoding", s.Database, "encoding %s", s.Encoding)
	}
	judgeRole(fs, s)
	judgeSynchronous(fs, s, want)
	if s.MaxSlotWALKeepSize == "-1" {
		fs.add("server.wal_limit", Warn, "max_slot_wal_keep_size", "run ALTER SYSTEM SET max_slot_wal_keep_size = '...'; with what the disk can bear, and SELECT pg_reload_conf();",
			"is -1: a slot that is not read keeps WAL until the disk is full")
	} else {
		fs.ok("server.wal_limit", "max_slot_wal_keep_size", "is %s", s.MaxSlotWALKeepSize)
	}
}

func judgeVersion(fs *findings, s Server) {
	major, minor := s.Major(), s.VersionNum%10000
	if major < minMajor || major > maxMajor {
		fs.add("server.version", Fail, s.Version, "use PostgreSQL 14 to 18", "PostgreSQL %s is not supported", clip(s.Version))
		return
	}
	// The minors of May 2025 mended ALTER PUBLICATION ... ADD TABLE, which lost
	// the inserts of transactions that were running.
	if fixed := map[int]int{14: 18, 15: 13, 16: 9, 17: 5}; minor < fixed[major] {
		fs.add("server.version", Warn, s.Version, "update the server's minor version",
			"before %d.%d a table added to a publication could lose inserts of running transactions", major, fixed[major])
		return
	}
	fs.ok("server.version", s.Version, "PostgreSQL %s", clip(s.Version))
}

func judgeRole(fs *findings, s Server) {
	switch {
	case s.Superuser:
		fs.add("role.replication", Warn, s.User, "use a role with LOGIN REPLICATION and nothing more", "is a superuser, more than the stream needs")
	case s.Replication, s.RDSReplication:
		fs.ok("role.replication", s.User, "may use replication slots")
	default:
		fs.add("role.replication", Fail, s.User,
			"run ALTER ROLE "+identifier(s.User)+" REPLICATION; (RDS: GRANT rds_replication TO "+identifier(s.User)+";)",
			"may not use replication slots")
	}
}

// judgeSynchronous: a logical walsender counts as a synchronous standby when
// its application_name is listed; each commit would then wait for our sink.
func judgeSynchronous(fs *findings, s Server, want Want) {
	const name, subject = "server.synchronous_standby_names", "synchronous_standby_names"
	listed := standbyNames(s.SynchronousStandbyNames)
	switch {
	case slices.Contains(listed, "*"):
		fs.add(name, Fail, subject, "name the standbys one by one instead of '*'",
			"is %q: our connection would count as a synchronous standby and commits would wait for the destination", clip(s.SynchronousStandbyNames))
	case want.ApplicationName != "" && slices.ContainsFunc(listed, func(n string) bool { return strings.EqualFold(n, want.ApplicationName) }):
		fs.add(name, Fail, subject, "take "+want.ApplicationName+" off the list, or set another application_name in DATABASE_URL",
			"lists our application_name: commits would wait for the destination")
	default:
		fs.ok(name, subject, "does not match our connection")
	}
}

// standbyNames are the names in a list such as "ANY 1 (a, "b c")". "*" stays.
func standbyNames(setting string) []string {
	list := setting
	if _, inner, ok := strings.Cut(setting, "("); ok {
		list = strings.TrimRight(inner, ") ")
	}
	var names []string
	for n := range strings.SplitSeq(list, ",") {
		if n = strings.Trim(strings.TrimSpace(n), `"`); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// judgeRoom: a slot that exists has its place; a walsender of ours that streams
// now will have gone when we connect.
func judgeRoom(fs *findings, s Server, slot *Slot) {
	if slot == nil && s.Slots >= s.MaxSlots {
		fs.add("server.slots", Fail, "max_replication_slots", "drop a slot that is not needed (SELECT slot_name, active FROM pg_replication_slots;) or raise the setting and restart",
			"all %d replication slots are taken", s.MaxSlots)
	} else {
		fs.ok("server.slots", "max_replication_slots", "%d of %d in use", s.Slots, s.MaxSlots)
	}
	if s.Senders >= s.MaxSenders && (slot == nil || !slot.Active) {
		fs.add("server.senders", Fail, "max_wal_senders", "end one (SELECT pid, application_name FROM pg_stat_replication;) or raise the setting and restart",
			"all %d WAL senders are taken", s.MaxSenders)
	} else {
		fs.ok("server.senders", "max_wal_senders", "%d of %d in use", s.Senders, s.MaxSenders)
	}
}
