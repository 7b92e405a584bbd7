package catalog

import (
	"strings"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// candidate is a configured table and what it is in the catalog.
type candidate struct {
	name decoder.TableName
	rel  *relation
	// table is nil when the columns do not fit.
	table *decoder.Table
}

// judgeTables gives the configured tables that exist.
func judgeTables(fs *findings, rels []*relation, pub *publication, want Want) []candidate {
	var found []candidate
	for _, name := range want.Tables.Names() {
		rel := pick(fs, name, rels)
		if rel == nil {
			continue
		}
		c := candidate{name: name, rel: rel}
		if judgeKind(fs, c) {
			judgePublished(fs, c, pub)
			c.table = judgeColumns(fs, c, want)
			judgePartitionKey(fs, c)
		}
		found = append(found, c)
	}
	return found
}

// pick finds the relation that a configured name means: the exact one first.
func pick(fs *findings, name decoder.TableName, rels []*relation) *relation {
	var folded []*relation
	for _, r := range rels {
		exact, ok := name.Matches(r.Namespace, r.Name)
		if exact {
			return r
		}
		if ok {
			folded = append(folded, r)
		}
	}
	switch len(folded) {
	case 1:
		return folded[0]
	case 0:
		remedy := "correct OUTBOX_CDC_TABLES, or create the table"
		if len(rels) > 0 && strings.EqualFold(rels[0].Name, name.Name) && strings.EqualFold(rels[0].Namespace, name.Schema) {
			remedy = "there is " + rels[0].TableName().String() + ": write that, with the quotes, in OUTBOX_CDC_TABLES"
		}
		fs.add("table.exists", Fail, name.String(), remedy, "the table does not exist in this database")
	default:
		fs.add("table.exists", Fail, name.String(), "write one of them with quotes in OUTBOX_CDC_TABLES",
			"could be %s or %s", folded[0].TableName(), folded[1].TableName())
	}
	return nil
}

// judgeKind refuses what never reaches the log.
func judgeKind(fs *findings, c candidate) bool {
	what := ""
	switch c.rel.kind {
	case "v":
		what = "is a view"
	case "m":
		what = "is a materialized view"
	case "f":
		what = "is a foreign table"
	}
	switch c.rel.persistence {
	case "u":
		what = "is unlogged"
	case "t":
		what = "is temporary"
	}
	subject := c.rel.TableName().String()
	if what == "" {
		fs.ok("table.exists", subject, "the table exists")
		return true
	}
	remedy := "name the table behind it in OUTBOX_CDC_TABLES"
	if c.rel.persistence == "u" {
		remedy = "run ALTER TABLE " + subject + " SET LOGGED; (it rewrites the table and blocks it meanwhile)"
	}
	fs.add("table.kind", Fail, subject, remedy, "%s: its inserts are not in the write-ahead log", what)
	return false
}

func judgePublished(fs *findings, c candidate, pub *publication) {
	if pub == nil {
		return // said once already
	}
	subject := c.rel.TableName().String()
	t, ok := pub.tables[c.rel.key()]
	switch {
	case ok:
		fs.ok("publication.tables", subject, "is in publication %s", identifier(pub.name))
	case c.rel.partitioned() && !pub.viaRoot:
		fs.add("publication.partition_root", Fail, subject, "run ALTER PUBLICATION "+identifier(pub.name)+" SET (publish_via_partition_root = true);",
			"is partitioned and its rows come under the names of its partitions")
	case c.rel.root.name != "" && pub.viaRoot:
		root := decoder.TableName{Schema: c.rel.root.schema, Name: c.rel.root.name}
		fs.add("publication.partition_root", Fail, subject, "name "+root.String()+" in OUTBOX_CDC_TABLES instead",
			"is a partition, and its rows come under the name of %s", root)
	default:
		fs.add("publication.tables", Fail, subject, "run ALTER PUBLICATION "+identifier(pub.name)+" ADD TABLE "+subject+";",
			"is not in publication %s: what was inserted so far does not arrive", identifier(pub.name))
	}
	switch {
	case t.filter == "":
	case pub.update:
		fs.add("publication.row_filter", Fail, subject, "run ALTER PUBLICATION "+identifier(pub.name)+" SET (publish = 'insert');",
			"has a row filter and updates are published: an update that moves a row into the filter would arrive as an insert")
	default:
		fs.add("publication.row_filter", Warn, subject, "", "has the row filter %s: what it leaves out, or is NULL for, is never delivered", clip(t.filter))
	}
}

func judgeColumns(fs *findings, c candidate, want Want) *decoder.Table {
	subject := c.rel.TableName().String()
	t, err := want.Tables.Resolve(&c.rel.Relation)
	if err != nil || t == nil {
		message := "the decoder does not take it for a configured table"
		if err != nil {
			message = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		fs.add("table.columns", Fail, subject, "set OUTBOX_CDC_COLUMNS; a column list in the publication must have all of them, and generated columns are not sent before PostgreSQL 18",
			"%s", message)
		return nil
	}
	var roles []string
	for _, r := range decoder.Roles() {
		if name, _, ok := t.Column(r); ok {
			roles = append(roles, r.String()+"="+identifier(clip(name)))
		}
	}
	fs.ok("table.columns", subject, "%s", strings.Join(roles, ", "))
	return t
}

// judgePartitionKey: with publish_via_partition_root an UPDATE that moves a row
// to another partition arrives as an INSERT. Columns that say when or which
// event it was do not change; of others we can't know.
func judgePartitionKey(fs *findings, c candidate) {
	if !c.rel.partitioned() || c.table == nil {
		return
	}
	fixed := map[string]bool{}
	for _, r := range []decoder.Role{decoder.RoleID, decoder.RoleCreatedAt, decoder.RoleOrder, decoder.RoleSequence} {
		if name, _, ok := c.table.Column(r); ok {
			fixed[name] = true
		}
	}
	for _, column := range c.rel.partitionColumns {
		if fixed[column] {
			continue
		}
		what := identifier(clip(column))
		if column == "" {
			what = "an expression"
		}
		fs.add("table.partition_key", Warn, c.rel.TableName().String(), "partition by a column that never changes, such as the creation time",
			"is partitioned by %s: an UPDATE that moves a row to another partition is delivered again, as a new event", what)
		return
	}
}
