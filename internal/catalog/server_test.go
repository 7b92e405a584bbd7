package catalog

import (
	"slices"
	"strings"
	"testing"
)

func healthy() Server {
	return Server{
		VersionNum: 170011, Version: "17.11", WALLevel: "logical", Flushed: 100, Database: "app", Encoding: "UTF8",
		User: "cdc", Replication: true, MaxSlots: 10, Slots: 1, MaxSenders: 10, Senders: 1, MaxSlotWALKeepSize: "10GB",
	}
}

func TestJudgeServer(t *testing.T) {
	for _, tc := range []struct {
		title, name string
		change      func(*Server)
		want        Status
		part        string
	}{
		{"13", "server.version", func(s *Server) { s.VersionNum, s.Version = 130020, "13.20" }, Fail, "PostgreSQL 13.20 is not supported; use PostgreSQL 14 to 18"},
		{"19", "server.version", func(s *Server) { s.VersionNum, s.Version = 190000, "19.0" }, Fail, "not supported"},
		{"17", "server.version", func(*Server) {}, OK, "PostgreSQL 17.11"},
		{"18.0", "server.version", func(s *Server) { s.VersionNum = 180000 }, OK, ""},
		{"old 14", "server.version", func(s *Server) { s.VersionNum = 140017 }, Warn, "before 14.18"},
		{"old 15", "server.version", func(s *Server) { s.VersionNum = 150012 }, Warn, "before 15.13"},
		{"old 17", "server.version", func(s *Server) { s.VersionNum = 170004 }, Warn, "before 17.5"},
		{"mended 16", "server.version", func(s *Server) { s.VersionNum = 160009 }, OK, ""},
		{"replica", "server.wal_level", func(s *Server) { s.WALLevel = "replica" }, Fail, "ALTER SYSTEM SET wal_level = 'logical';"},
		{"standby", "server.recovery", func(s *Server) { s.InRecovery = true }, Fail, "target_session_attrs=read-write"},
		{"ascii", "server.encoding", func(s *Server) { s.Encoding = "SQL_ASCII" }, Fail, "SQL_ASCII"},
		{"latin1", "server.encoding", func(s *Server) { s.Encoding = "LATIN1" }, OK, "LATIN1"},
		{"plain role", "role.replication", func(s *Server) { s.Replication = false }, Fail, "ALTER ROLE cdc REPLICATION;"},
		{"quoted role", "role.replication", func(s *Server) { s.Replication, s.User = false, `My "R"` }, Fail, `ALTER ROLE "My ""R""" REPLICATION;`},
		{"rds member", "role.replication", func(s *Server) { s.Replication, s.RDSReplication = false, true }, OK, ""},
		{"superuser", "role.replication", func(s *Server) { s.Superuser = true }, Warn, "more than the stream needs"},
		{"star", "server.synchronous_standby_names", func(s *Server) { s.SynchronousStandbyNames = "*" }, Fail, "commits would wait"},
		{"star in a list", "server.synchronous_standby_names", func(s *Server) { s.SynchronousStandbyNames = "FIRST 2 (a, *)" }, Fail, "commits would wait"},
		{"our name", "server.synchronous_standby_names", func(s *Server) { s.SynchronousStandbyNames = `ANY 1 (a, "Our App")` }, Fail, "lists our application_name"},
		{"others", "server.synchronous_standby_names", func(s *Server) { s.SynchronousStandbyNames = "2 (s1, s2)" }, OK, ""},
		{"no limit", "server.wal_limit", func(s *Server) { s.MaxSlotWALKeepSize = "-1" }, Warn, "until the disk is full"},
		{"limit", "server.wal_limit", func(*Server) {}, OK, "10GB"},
	} {
		t.Run(tc.title, func(t *testing.T) {
			s := healthy()
			tc.change(&s)
			var fs findings
			judgeServer(&fs, s, Want{ApplicationName: "our app"})
			expect(t, get(t, &Report{Findings: fs}, tc.name, ""), tc.want, tc.part)
			for _, f := range fs {
				if f.Name != tc.name && f.Status != OK {
					t.Errorf("besides: %s", f)
				}
			}
		})
	}
}

func TestStandbyNames(t *testing.T) {
	for setting, want := range map[string][]string{
		"": nil, "*": {"*"}, "a, b": {"a", "b"}, "2 (a,b)": {"a", "b"}, `ANY 1 ("x y" , z)`: {"x y", "z"}, "FIRST 1 (*)": {"*"},
	} {
		if got := standbyNames(setting); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", setting, got, want)
		}
	}
}

func TestJudgeRoom(t *testing.T) {
	full := healthy()
	full.Slots, full.Senders = 10, 10
	for _, tc := range []struct {
		title          string
		server         Server
		slot           *Slot
		slots, senders Status
	}{
		{"room", healthy(), nil, OK, OK},
		{"full", full, nil, Fail, Fail},
		{"full, ours is there", full, &Slot{}, OK, Fail},
		{"full, ours streams", full, &Slot{Active: true}, OK, OK},
	} {
		var fs findings
		judgeRoom(&fs, tc.server, tc.slot)
		if fs[0].Status != tc.slots || fs[1].Status != tc.senders {
			t.Errorf("%s: %s, %s", tc.title, fs[0], fs[1])
		}
	}
}

func TestJudgeSlot(t *testing.T) {
	good := Slot{Name: "s", Plugin: Plugin, Database: "app", Logical: true, WALStatus: "reserved", ConfirmedFlush: 90}
	for _, tc := range []struct {
		title  string
		change func(*Slot)
		want   []string
		part   string
	}{
		{"good", func(*Slot) {}, nil, ""},
		{"in use", func(s *Slot) { s.Active, s.ActivePID = true, 7 }, nil, "pid 7"},
		{"physical", func(s *Slot) { s.Logical, s.Plugin, s.Database = false, "", "" }, []string{"slot.plugin"}, "somebody else's"},
		{"other plugin", func(s *Slot) { s.Plugin = "wal2json" }, []string{"slot.plugin"}, `"wal2json"`},
		{"other database", func(s *Slot) { s.Database = "x" }, []string{"slot.database"}, `belongs to database "x"`},
		{"temporary", func(s *Slot) { s.Temporary = true }, []string{"slot.temporary"}, "goes with its session"},
		{"two-phase", func(s *Slot) { s.TwoPhase = true }, []string{"slot.two_phase"}, "before they are committed"},
		{"lost", func(s *Slot) { s.WALStatus = "lost" }, []string{"slot.wal_status"}, "is lost (wal_removed)"},
		{"invalidated", func(s *Slot) { s.InvalidationReason = "idle_timeout" }, []string{"slot.wal_status"}, "is lost (idle_timeout)"},
		{"above the server", func(s *Slot) { s.ConfirmedFlush = 101 }, []string{"slot.position"}, "stands at 0/65, above the server's end of WAL 0/64"},
		{"at the server's end", func(s *Slot) { s.ConfirmedFlush = 100 }, nil, ""},
		{
			"everything", func(s *Slot) {
				*s = Slot{Plugin: "x", Logical: true, Temporary: true, TwoPhase: true, WALStatus: "lost", ConfirmedFlush: 200}
			},
			[]string{"slot.plugin", "slot.database", "slot.temporary", "slot.two_phase", "slot.wal_status", "slot.position"},
			"",
		},
	} {
		t.Run(tc.title, func(t *testing.T) {
			s := good
			tc.change(&s)
			r := &Report{}
			judgeSlot((*findings)(&r.Findings), &s, healthy(), Want{Slot: "s"})
			onlyFailures(t, r, tc.want...)
			if !strings.Contains(text(r), tc.part) {
				t.Errorf("%q is not in\n%s", tc.part, text(r))
			}
		})
	}
	r := &Report{}
	judgeSlot((*findings)(&r.Findings), nil, healthy(), Want{Slot: "it's", Failover: FailoverOff})
	expect(t, get(t, r, "slot.exists", "it's"), Fail, "SELECT pg_create_logical_replication_slot('it''s', 'pgoutput');")
	s := good
	s.WALStatus = "unreserved"
	r = &Report{}
	judgeSlot((*findings)(&r.Findings), &s, healthy(), Want{})
	expect(t, get(t, r, "slot.wal_status", ""), Warn, "the next checkpoint")
}
