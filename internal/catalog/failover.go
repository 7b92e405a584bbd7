package catalog

// Failover is whether the slot shall be one that standbys keep in step
// (PostgreSQL 17 and later; "Logical Replication Failover" in its manual). Such a
// slot costs nothing on a server without standbys.
type Failover string

// The choices. The zero value counts as FailoverAuto.
const (
	// FailoverAuto is a failover slot wherever the server knows them.
	FailoverAuto Failover = "auto"
	FailoverOn   Failover = "true"
	FailoverOff  Failover = "false"
)

// failoverMajor is the first major version with failover slots.
const failoverMajor = 17

// makes tells whether a slot that is made on the server is a failover slot.
func (f Failover) makes(s Server) bool { return f != FailoverOff && s.Major() >= failoverMajor }

// judgeFailover warns of a slot that a failover would leave behind. It stops
// nothing: today's events do not depend on it.
func judgeFailover(fs *findings, s *Slot, server Server, want Want) {
	const name = "slot.failover"
	switch {
	case want.Failover == FailoverOn && server.Major() < failoverMajor:
		fs.add(name, Warn, want.Slot, "set OUTBOX_CDC_SLOT_FAILOVER=auto, and make the slot again after each failover",
			"PostgreSQL %s has no failover slots: a promoted standby will not have this slot", clip(server.Version))
	case s == nil || s.Failover:
	case want.Failover == FailoverOn, want.Failover.makes(server) && server.PhysicalSlots > 0:
		fs.add(name, Warn, s.Name, `while the connector is stopped: psql "dbname='`+server.Database+`' replication=database" -c 'ALTER_REPLICATION_SLOT `+s.Name+` (FAILOVER)'`,
			"is not a failover slot: a promoted standby will not have it, and what was not confirmed by then is lost to the stream")
	}
}
