package pgfake

import (
	"cmp"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// serve runs one connection from its startup message to its end.
func (s *Server) serve(nc net.Conn) {
	defer func() { _ = nc.Close() }()
	b := pgproto3.NewBackend(nc, nc)
	if !startup(b, nc) {
		return
	}
	for {
		msg, err := b.Receive()
		if err != nil {
			return
		}
		q, ok := msg.(*pgproto3.Query)
		if !ok {
			return
		}
		switch {
		case strings.HasPrefix(q.String, "IDENTIFY_SYSTEM"):
			answer(b, []string{"systemid", "timeline", "xlogpos", "dbname"}, []string{
				cmp.Or(s.opts.SystemID, "7000000000000000001"), strconv.Itoa(int(max(s.opts.Timeline, 1))),
				"0/1000", cmp.Or(s.opts.Database, "db"),
			})
		case strings.HasPrefix(q.String, "TIMELINE_HISTORY") && s.opts.History != "":
			answer(b, []string{"filename", "content"}, []string{"history", s.opts.History})
		case strings.HasPrefix(q.String, "TIMELINE_HISTORY"):
			refuse(b, "58P01", "pgfake has no such file")
		case strings.Contains(q.String, "wal_sender_timeout"):
			answer(b, []string{"setting"}, []string{strconv.FormatInt(s.opts.SenderTimeout.Milliseconds(), 10)})
		case strings.Contains(q.String, "transaction_timeout"):
			answer(b, []string{"set_config"}, []string{"0"})
		case strings.Contains(q.String, "pg_replication_slots") && s.opts.Slot != 0:
			answer(b, []string{"confirmed_flush_lsn", "restart_lsn", "active"}, []string{s.opts.Slot.String(), s.opts.Slot.String(), "f"})
		case strings.Contains(q.String, "pg_replication_slots"):
			b.Send(&pgproto3.RowDescription{})
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 0")})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case strings.HasPrefix(q.String, "START_REPLICATION") && s.opts.StartError == nil:
			s.stream(b, nc, q.String)
			return
		case strings.HasPrefix(q.String, "START_REPLICATION"):
			b.Send(s.opts.StartError)
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		default:
			refuse(b, "42601", "pgfake does not know "+q.String)
		}
		if b.Flush() != nil {
			return
		}
	}
}

// startup refuses encryption and trusts everybody.
func startup(b *pgproto3.Backend, nc net.Conn) bool {
	for {
		msg, err := b.ReceiveStartupMessage()
		if err != nil {
			return false
		}
		switch msg.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := nc.Write([]byte{'N'}); err != nil {
				return false
			}
		case *pgproto3.StartupMessage:
			b.Send(&pgproto3.AuthenticationOk{})
			b.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: "17.0"})
			b.Send(&pgproto3.BackendKeyData{ProcessID: 4711, SecretKey: []byte{0, 0, 0, 1}})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			return b.Flush() == nil
		default: // a cancel request
			return false
		}
	}
}

// refuse answers a command with an error.
func refuse(b *pgproto3.Backend, code, message string) {
	b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code, Message: message})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
}

// answer sends a result of one row of text.
func answer(b *pgproto3.Backend, names, values []string) {
	fields := make([]pgproto3.FieldDescription, len(names))
	row := make([][]byte, len(values))
	for i := range names {
		fields[i] = pgproto3.FieldDescription{Name: []byte(names[i]), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1}
		row[i] = []byte(values[i])
	}
	b.Send(&pgproto3.RowDescription{Fields: fields})
	b.Send(&pgproto3.DataRow{Values: row})
	b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
}
