// Package catalog asks a PostgreSQL server, over an ordinary connection,
// whether the stream can work: version, settings, role, publication, tables,
// columns, slot. It also holds the SQL that makes publication and slot.
//
// Reading (the query functions) and judging (the judge functions, which are
// pure) are apart, so that every verdict can be tested without a server that is
// in that state. Each verdict is one Finding with the SQL or setting that mends
// it, and all of them are reported at once.
package catalog
