// Package request plans and runs what a request asks of tables: rows, joins, counts,
// aggregates and measures. What the engine cannot do exactly it leaves to the library.
package request

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Request is a session that answers one request.
type Request struct{ *session.Session }

// open returns the session of a request.
func open(ctx context.Context, s *session.Database, creds wire.Credentials, call connector.Call) (Request, error) {
	x, err := s.Open(ctx, creds, call)
	return Request{x}, err
}

// openTable opens a session for a request about one table, and finds the table.
func openTable(ctx context.Context, s *session.Database, creds wire.Credentials, call connector.Call) (Request, *session.Relation, error) {
	x, r, err := s.OpenTable(ctx, creds, call)
	return Request{x}, r, err
}

// fromNoTable returns what follows the list of a SELECT that reads no table.
func (x Request) fromNoTable() string {
	if dual := x.Database.Flavor.Dual; dual != "" {
		return " " + dual
	}
	return ""
}
