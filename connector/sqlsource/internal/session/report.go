package session

import (
	"context"
	"database/sql"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// Report is how one call was answered. sqlsource.Plan explains it.
type Report struct {
	Call       connector.Call
	Statements []string
	Pushed     []string
	Left       []string
}

// Pushed notes a part of the request that the engine does.
func (x *Session) Pushed(part string) {
	if x.Report != nil {
		x.Report.Pushed = append(x.Report.Pushed, part)
	}
}

// Left notes what the engine does not do, and why.
func (x *Session) Left(sentence string) {
	if x.Report != nil {
		x.Report.Left = append(x.Report.Left, sentence)
	}
}

// reading is a transaction that only reads, or a connection without one. It notes its
// statements in the report of the call that uses the session.
type reading struct {
	sqlengine.Queryer // for statements that read the catalog, which are not noted
	end               func()
	session           *Session
}

// note adds a statement to the report.
func (r *reading) note(statement string) {
	if report := r.session.Report; report != nil {
		report.Statements = append(report.Statements, statement)
	}
}

// QueryContext notes the statement and runs it.
func (r *reading) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	r.note(statement)
	return r.Queryer.QueryContext(ctx, statement, args...)
}

// QueryRowContext notes the statement and runs it.
func (r *reading) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	r.note(statement)
	return r.Queryer.QueryRowContext(ctx, statement, args...)
}
