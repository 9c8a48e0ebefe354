package session

import (
	"context"
	"database/sql"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Reader turns a driver's value into a cell, without a copy between.
type Reader struct {
	Column *sqltext.Column // nil: the value is not wanted
	Value  wire.Value
}

var _ sql.Scanner = (*Reader)(nil)

// Scan implements sql.Scanner.
func (r *Reader) Scan(driver any) error {
	if driver == nil || r.Column == nil {
		r.Value = wire.Value{}
		return nil
	}
	var err error
	r.Value, err = r.Column.Decode(driver)
	return err
}

// drainRows is how many rows that nobody wants are read to keep the connection.
const drainRows = 500

// Cells runs a statement that selects these columns, and yields its rows as they
// come. The slice is reused.
func (x *Session) Cells(ctx context.Context, table, statement string, args []any, columns []*sqltext.Column) relation.Rows {
	if read := x.Database.Flavor.ReadRows; read != nil {
		own := make([]*sqlengine.Column, len(columns))
		for i, c := range columns {
			own[i] = &c.Column
		}
		x.Tx.note(statement)
		return x.failing(ctx, table, read(ctx, x.conn, statement, args, own))
	}
	return func(yield func([]wire.Value, error) bool) {
		statementCtx, cancel := context.WithCancel(ctx)
		defer cancel()
		rows, err := x.Tx.QueryContext(statementCtx, statement, args...)
		if err != nil {
			yield(nil, x.Database.Failure(ctx, err, table))
			return
		}
		defer func() { _ = rows.Close() }()
		readers := make([]Reader, len(columns))
		targets := make([]any, len(columns))
		for i, c := range columns {
			readers[i].Column = c
			targets[i] = &readers[i]
		}
		if len(targets) == 0 {
			targets = append(targets, new(Reader)) // a row without cells still has a 1
		}
		values := make([]wire.Value, len(columns))
		for rows.Next() {
			if err := rows.Scan(targets...); err != nil {
				yield(nil, x.Database.Failure(ctx, err, table))
				return
			}
			for i := range readers {
				values[i] = readers[i].Value
			}
			if !yield(values, nil) {
				// Drivers read a result to its end before the connection can be
				// used again. A long rest costs more than the connection.
				for range drainRows {
					if !rows.Next() {
						return
					}
				}
				cancel()
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, x.Database.Failure(ctx, err, table))
		}
	}
}

// failing returns rows with the driver's errors as the library takes them.
func (x *Session) failing(ctx context.Context, table string, rows relation.Rows) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		for values, err := range rows {
			if !yield(values, x.Database.Failure(ctx, err, table)) {
				return
			}
		}
	}
}

// Row runs a statement that answers one row, and scans it.
func (x *Session) Row(ctx context.Context, table, statement string, args []any, into ...any) error {
	err := x.Tx.QueryRowContext(ctx, statement, args...).Scan(into...)
	return x.Database.Failure(ctx, err, table)
}

// Finds reports whether a statement answers a row.
func (x *Session) Finds(ctx context.Context, table, statement string, args []any) (bool, error) {
	rows, err := x.Tx.QueryContext(ctx, statement, args...)
	if err != nil {
		return false, x.Database.Failure(ctx, err, table)
	}
	defer func() { _ = rows.Close() }()
	found := rows.Next()
	return found, x.Database.Failure(ctx, rows.Err(), table)
}

// Emit writes rows to out. If the statement fails before its first row, emit
// returns before Begin, so that the failure has its own status.
func Emit(out *connector.Rows, columns []wire.Column, rows relation.Rows) error {
	var w *connector.RowWriter
	for values, err := range rows {
		if err != nil {
			return err
		}
		if w == nil {
			w = out.Begin(columns)
		}
		if err := w.Row(values...); err != nil {
			return err
		}
	}
	if w == nil {
		out.Begin(columns)
	}
	return nil
}
