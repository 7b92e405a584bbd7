package decoder

// Relation is a table as the server described it ahead of its rows. It holds
// for all rows up to the next Relation message with the same ID.
type Relation struct {
	// ID is the table's OID, which a renaming does not change.
	ID uint32
	// Namespace is the schema; empty on the wire, and here, for pg_catalog.
	Namespace string
	Name      string
	// ReplicaIdentity is pg_class.relreplident: 'd', 'n', 'f' or 'i'.
	ReplicaIdentity byte
	// Columns are the published ones, in the order of each Tuple.
	Columns []Column
}

// Column is a column of a Relation.
type Column struct {
	Name string
	// TypeOID is the type. A Decoder puts the base type for a domain over a
	// built-in type.
	TypeOID uint32
	// TypeMod is pg_attribute.atttypmod; -1 for none.
	TypeMod int32
	// Key tells whether the column belongs to the replica identity.
	Key bool
}

// TableName is the relation's name, with pg_catalog spelled out.
func (r *Relation) TableName() TableName {
	if r.Namespace == "" {
		return TableName{Schema: "pg_catalog", Name: r.Name}
	}
	return TableName{Schema: r.Namespace, Name: r.Name}
}

// minColumn is the length of a column with an empty name: flags, zero byte, type, modifier.
const minColumn = 10

func (r *reader) relation() *Relation {
	rel := &Relation{ID: r.uint32()}
	rel.Namespace = string(r.cstring())
	rel.Name = string(r.cstring())
	rel.ReplicaIdentity = r.uint8()
	n := r.count(uint32(r.uint16()), minColumn)
	rel.Columns = make([]Column, n)
	for i := range rel.Columns {
		c := &rel.Columns[i]
		c.Key = r.flags(1) == 1
		c.Name = string(r.cstring())
		c.TypeOID = r.uint32()
		c.TypeMod = int32(r.uint32()) //nolint:gosec // two's complement on the wire.
	}
	return rel
}
