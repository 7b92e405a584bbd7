package catalog

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// publication is a row of pg_publication and what it covers.
type publication struct {
	name                             string
	insert, update, delete, truncate bool
	viaRoot                          bool
	tables                           map[tableKey]published
}

type tableKey struct{ schema, name string }

// published is what a publication sends of one table.
type published struct {
	// columns are the names that are sent; nil where the server can't tell
	// (14), which has no column lists.
	columns []string
	// filter is the row filter as SQL, "" for none.
	filter string
}

const publicationQuery = `
SELECT pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot
  FROM pg_publication WHERE pubname = $1`

// The view resolves FOR ALL TABLES, schemas and partitions as the walsender
// does. 14 has neither column lists nor row filters.
const (
	publishedQuery   = `SELECT schemaname::text, tablename::text, attnames::text[], rowfilter::text FROM pg_publication_tables WHERE pubname = $1`
	publishedQuery14 = `SELECT schemaname::text, tablename::text, NULL::text[], NULL::text FROM pg_publication_tables WHERE pubname = $1`
)

// readPublication gives nil, without an error, for a publication that does not
// exist.
func readPublication(ctx context.Context, conn *pgx.Conn, name string, s Server) (*publication, error) {
	p := &publication{name: name, tables: map[tableKey]published{}}
	err := conn.QueryRow(ctx, publicationQuery, name).Scan(&p.insert, &p.update, &p.delete, &p.truncate, &p.viaRoot)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // both nil is the answer "no such publication".
	}
	if err != nil {
		return nil, wrap("publication "+name, err)
	}
	query := publishedQuery
	if s.Major() < 15 {
		query = publishedQuery14
	}
	rows, err := conn.Query(ctx, query, name)
	if err != nil {
		return nil, wrap("the tables of publication "+name, err)
	}
	var k tableKey
	var columns []string
	var filter *string
	_, err = pgx.ForEachRow(rows, []any{&k.schema, &k.name, &columns, &filter}, func() error {
		t := published{columns: columns}
		if filter != nil {
			t.filter = *filter
		}
		p.tables[k] = t
		columns = nil
		return nil
	})
	return p, wrap("the tables of publication "+name, err)
}

func judgePublication(fs *findings, p *publication, want Want) {
	if p == nil {
		fs.add("publication.exists", Fail, want.Publication, "run outbox-cdc setup, or "+createPublicationSQL(want.Publication, want.Tables.Names())+
			" A slot that is older than its publication misses rows of before it: make it anew afterwards.",
			"the publication does not exist")
		return
	}
	fs.ok("publication.exists", p.name, "the publication exists")
	if !p.insert {
		fs.add("publication.publish", Fail, p.name, "run ALTER PUBLICATION "+identifier(p.name)+" SET (publish = 'insert');",
			"does not publish inserts")
		return
	}
	if p.update || p.delete || p.truncate {
		fs.ok("publication.publish", p.name, "publishes more than inserts; the rest is ignored")
		return
	}
	fs.ok("publication.publish", p.name, "publishes inserts")
}
