package decoder

// Role is what a column of an outbox table means to us.
type Role uint8

// The roles. RoleID, RoleType, RoleKey and RolePayload are required of every
// table; the others are taken where a column with their name exists.
const (
	RoleID Role = iota + 1
	RoleType
	RoleKey
	RolePayload
	RoleAggregateType
	RoleAggregateID
	RoleSequence
	RoleSchemaVersion
	RoleTenant
	RoleCorrelationID
	RoleTrace
	RoleHeaders
	RoleCreatedAt
	RoleOrder

	// NumRoles bounds arrays indexed by Role; index 0 is unused.
	NumRoles = iota + 1
)

var roleNames = [NumRoles]string{
	RoleID: "id", RoleType: "type", RoleKey: "key", RolePayload: "payload",
	RoleAggregateType: "aggregate_type", RoleAggregateID: "aggregate_id",
	RoleSequence: "sequence", RoleSchemaVersion: "schema_version",
	RoleTenant: "tenant", RoleCorrelationID: "correlation_id", RoleTrace: "trace",
	RoleHeaders: "headers", RoleCreatedAt: "created_at", RoleOrder: "order",
}

// String is the role's name in configuration, rules and errors.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return ""
}

// Required tells whether every outbox table must have a column of this role.
func (r Role) Required() bool { return r >= RoleID && r <= RolePayload }

// ParseRole is the inverse of String; ok is false for a name that is no role.
func ParseRole(name string) (r Role, ok bool) {
	for i := RoleID; i < NumRoles; i++ {
		if roleNames[i] == name {
			return i, true
		}
	}
	return 0, false
}

// Roles lists all roles in their order.
func Roles() []Role {
	all := make([]Role, 0, NumRoles-1)
	for r := RoleID; r < NumRoles; r++ {
		all = append(all, r)
	}
	return all
}
