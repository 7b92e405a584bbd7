package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// relation is a row of pg_class that a configured table may mean.
type relation struct {
	decoder.Relation

	// kind is pg_class.relkind, persistence relpersistence.
	kind, persistence string
	// root is the topmost partitioned table above a partition; zero for none.
	root tableKey
	// partitionColumns are the columns of the partition key; expressions
	// count as "".
	partitionColumns []string
	canSelect        bool
	rowSecurity      bool
	// estimate is pg_class.reltuples, -1 when it was never counted.
	estimate float64
}

func (r *relation) key() tableKey { return tableKey{r.Namespace, r.Name} }

func (r *relation) partitioned() bool { return r.kind == "p" }

const relationQuery = `
SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text, c.relreplident::text,
       coalesce(rn.nspname, '')::text, coalesce(rc.relname, '')::text,
       coalesce((SELECT array_agg(coalesce(a.attname, '')::text)
          FROM pg_partitioned_table p, unnest(p.partattrs::int2[]) AS k (attnum)
          LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
         WHERE p.partrelid = c.oid), '{}'),
       has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), c.relrowsecurity, c.reltuples::float8
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_class rc ON c.relispartition AND rc.oid = pg_partition_root(c.oid)
  LEFT JOIN pg_namespace rn ON rn.oid = rc.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND lower(n.nspname) = ANY ($1) AND lower(c.relname) = ANY ($2)
 ORDER BY n.nspname, c.relname`

// A domain counts as its base type, as it does for the decoder.
const columnQuery = `
WITH RECURSIVE base (oid, typ) AS (
  SELECT t.oid, t.oid FROM pg_type t WHERE t.oid IN (SELECT atttypid FROM pg_attribute WHERE attrelid = ANY ($1))
  UNION ALL
  SELECT b.oid, t.typbasetype FROM base b JOIN pg_type t ON t.oid = b.typ WHERE t.typtype = 'd'
)
SELECT a.attrelid, a.attname::text, b.typ, a.atttypmod, a.attgenerated <> ''
  FROM pg_attribute a
  JOIN base b ON b.oid = a.atttypid
  JOIN pg_type t ON t.oid = b.typ AND t.typtype <> 'd'
 WHERE a.attrelid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attrelid, a.attnum`

// readRelations reads all that the names may mean, with the columns that the
// publication sends (all of them where it does not have the table).
func readRelations(ctx context.Context, conn *pgx.Conn, names []decoder.TableName, pub *publication, s Server) ([]*relation, error) {
	schemas, tables := make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		schemas[i], tables[i] = strings.ToLower(n.Schema), strings.ToLower(n.Name)
	}
	rows, err := conn.Query(ctx, relationQuery, schemas, tables)
	if err != nil {
		return nil, wrap("the outbox tables", err)
	}
	rels, err := pgx.CollectRows(rows, scanRelation)
	if err != nil {
		return nil, wrap("the outbox tables", err)
	}
	return rels, wrap("the columns of the outbox tables", readColumns(ctx, conn, rels, pub, s))
}

func scanRelation(row pgx.CollectableRow) (*relation, error) {
	r := new(relation)
	var identity string
	err := row.Scan(&r.ID, &r.Namespace, &r.Name, &r.kind, &r.persistence, &identity,
		&r.root.schema, &r.root.name, &r.partitionColumns, &r.canSelect, &r.rowSecurity, &r.estimate)
	if identity != "" {
		r.ReplicaIdentity = identity[0]
	}
	return r, err
}

func readColumns(ctx context.Context, conn *pgx.Conn, rels []*relation, pub *publication, s Server) error {
	byID := make(map[uint32]*relation, len(rels))
	ids := make([]uint32, 0, len(rels))
	for _, r := range rels {
		byID[r.ID] = r
		ids = append(ids, r.ID)
	}
	rows, err := conn.Query(ctx, columnQuery, ids)
	if err != nil {
		return err
	}
	var id uint32
	var col decoder.Column
	var generated bool
	_, err = pgx.ForEachRow(rows, []any{&id, &col.Name, &col.TypeOID, &col.TypeMod, &generated}, func() error {
		r := byID[id]
		if sent(r, col.Name, generated, pub, s) {
			r.Columns = append(r.Columns, col)
		}
		return nil
	})
	return err
}

// sent tells whether the walsender sends a column: those of the column list;
// generated ones from 18 on, if the publication says so (then the view lists
// them).
func sent(r *relation, column string, generated bool, pub *publication, s Server) bool {
	if pub != nil {
		if t, ok := pub.tables[r.key()]; ok && t.columns != nil {
			return slices.Contains(t.columns, column) && (!generated || s.Major() >= 18)
		}
	}
	return !generated
}
