package pgrepl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// History is where each older timeline of the server ended: at the position
// where the next one was branched off. What was written beyond it on the old
// timeline never happened on this server.
type History map[int32]decoder.LSN

var errHistory = errors.New("not a timeline history file")

// ParseHistory reads a timeline history file: a line a timeline, "id, switch
// point, reason", with comments and empty lines in between.
// (Manual: Continuous Archiving, Timelines; src/backend/access/transam/timeline.c.)
func ParseHistory(content []byte) (History, error) {
	h := History{}
	for line := range bytes.Lines(content) {
		fields := bytes.Fields(line)
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if len(fields) < 2 {
			return nil, errHistory
		}
		id, err := strconv.ParseInt(string(fields[0]), 10, 32)
		if err != nil || id < 1 {
			return nil, errHistory
		}
		end, err := decoder.ParseLSN(string(fields[1]))
		if err != nil {
			return nil, errHistory
		}
		h[int32(id)] = end
	}
	return h, nil
}

// undefinedFile is the SQLSTATE for a history file that is gone.
const undefinedFile = "58P01"

// readHistory asks for the history of the server's timeline. It is nil for the
// first timeline, which has none, and where the file is gone.
// (Manual: Streaming Replication Protocol, TIMELINE_HISTORY.)
func (s *Session) readHistory(ctx context.Context) (History, error) {
	if s.Identity.Timeline <= 1 {
		return nil, nil
	}
	res, err := pglogrepl.TimelineHistory(ctx, s.conn, s.Identity.Timeline)
	var server *pgconn.PgError
	if errors.As(err, &server) && server.Code == undefinedFile {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the history of timeline %d: %w", s.Identity.Timeline, err)
	}
	h, err := ParseHistory(res.Content)
	if err != nil {
		return nil, fmt.Errorf("read the history of timeline %d: %w", s.Identity.Timeline, err)
	}
	return h, nil
}
