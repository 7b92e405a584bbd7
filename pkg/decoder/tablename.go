package decoder

import (
	"slices"
	"strings"
)

// TableName is a table's schema and name, as the catalog has them.
//
// A name from ParseTables may hold capital letters that were not quoted: it
// then also stands for the folded name, and differs (==) from a TableName made
// of the same two strings. Compare such names with Matches.
type TableName struct {
	Schema, Name string

	// Set for a part that has capital letters and was not quoted.
	foldSchema, foldName bool
}

// String is the name as SQL takes it, each part quoted if it has to be.
func (n TableName) String() string {
	return quoteIdent(n.Schema) + "." + quoteIdent(n.Name)
}

// Matches tells whether the table of exactly this schema and name is meant:
// exact is the comparison as written, ok also the one with unquoted capital
// letters folded as PostgreSQL folds them. Exact matches go first.
func (n TableName) Matches(schema, name string) (exact, ok bool) {
	exact = n.Schema == schema && n.Name == name
	s := n.Schema == schema || n.foldSchema && foldASCII(n.Schema) == schema
	t := n.Name == name || n.foldName && foldASCII(n.Name) == name
	return exact, s && t
}

// plain is the name without the memory of how it was written.
func (n TableName) plain() TableName { return TableName{Schema: n.Schema, Name: n.Name} }

// foldASCII is how PostgreSQL folds an unquoted identifier in a UTF-8 database.
func foldASCII(s string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, s)
}

// quoteIdent quotes as the server's quote_ident does.
func quoteIdent(s string) string {
	safe := s != "" && (s[0] < '0' || s[0] > '9')
	for i := range len(s) {
		c := s[i]
		safe = safe && (c == '_' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9')
	}
	if _, keyword := slices.BinarySearch(keywords[:], s); safe && !keyword {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// keywords are the key words of PostgreSQL 18 that must be quoted to be a name
// (all but the "non-reserved" ones of the manual's appendix C), in order.
var keywords = [...]string{
	"all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization",
	"between", "bigint", "binary", "bit", "boolean", "both", "case", "cast", "char", "character",
	"check", "coalesce", "collate", "collation", "column", "concurrently", "constraint", "create",
	"cross", "current_catalog", "current_date", "current_role", "current_schema", "current_time",
	"current_timestamp", "current_user", "dec", "decimal", "default", "deferrable", "desc",
	"distinct", "do", "else", "end", "except", "exists", "extract", "false", "fetch", "float",
	"for", "foreign", "freeze", "from", "full", "grant", "greatest", "group", "grouping", "having",
	"ilike", "in", "initially", "inner", "inout", "int", "integer", "intersect", "interval", "into",
	"is", "isnull", "join", "json", "json_array", "json_arrayagg", "json_exists", "json_object",
	"json_objectagg", "json_query", "json_scalar", "json_serialize", "json_table", "json_value",
	"lateral", "leading", "least", "left", "like", "limit", "localtime", "localtimestamp",
	"merge_action", "national", "natural", "nchar", "none", "normalize", "not", "notnull", "null",
	"nullif", "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps",
	"overlay", "placing", "position", "precision", "primary", "real", "references", "returning",
	"right", "row", "select", "session_user", "setof", "similar", "smallint", "some", "substring",
	"symmetric", "system_user", "table", "tablesample", "then", "time", "timestamp", "to",
	"trailing", "treat", "trim", "true", "union", "unique", "user", "using", "values", "varchar",
	"variadic", "verbose", "when", "where", "window", "with", "xmlattributes", "xmlconcat",
	"xmlelement", "xmlexists", "xmlforest", "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot",
	"xmlserialize", "xmltable",
}
