package decoder

// OIDs of built-in types that matter here and to formats. They are fixed; from
// PostgreSQL's pg_type.dat.
const (
	OIDBool        uint32 = 16
	OIDBytea       uint32 = 17
	OIDInt8        uint32 = 20
	OIDInt2        uint32 = 21
	OIDInt4        uint32 = 23
	OIDText        uint32 = 25
	OIDJSON        uint32 = 114
	OIDVarchar     uint32 = 1043
	OIDTimestamp   uint32 = 1114
	OIDTimestamptz uint32 = 1184
	OIDNumeric     uint32 = 1700
	OIDUUID        uint32 = 2950
	OIDJSONB       uint32 = 3802
)

// builtinOID is the inverse, for names as a Type message has them; 0 for others.
func builtinOID(name []byte) uint32 {
	switch string(name) {
	case "bool":
		return OIDBool
	case "bytea":
		return OIDBytea
	case "int8":
		return OIDInt8
	case "int2":
		return OIDInt2
	case "int4":
		return OIDInt4
	case "text":
		return OIDText
	case "json":
		return OIDJSON
	case "varchar":
		return OIDVarchar
	case "timestamp":
		return OIDTimestamp
	case "timestamptz":
		return OIDTimestamptz
	case "numeric":
		return OIDNumeric
	case "uuid":
		return OIDUUID
	case "jsonb":
		return OIDJSONB
	}
	return 0
}
