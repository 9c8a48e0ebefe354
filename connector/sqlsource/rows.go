package sqlsource

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reader turns a driver's value into a cell, without a copy between.
type reader struct {
	column *column // nil: the value is not wanted
	value  wire.Value
}

var _ sql.Scanner = (*reader)(nil)

// Scan implements sql.Scanner.
func (r *reader) Scan(driver any) error {
	if driver == nil || r.column == nil {
		r.value = wire.Value{}
		return nil
	}
	var err error
	if r.value, err = r.column.Decode(driver); err != nil {
		return fmt.Errorf("sqlsource: column %q: %w", r.column.name, err)
	}
	return nil
}

// drainRows is how many rows that nobody wants are read to keep the connection.
const drainRows = 500

// cells runs a statement that selects these columns, and yields its rows as they
// come. The slice is reused.
func (x *session) cells(ctx context.Context, table, statement string, args []any, columns []*column) memsource.RowSeq {
	if read := x.database.capabilities.ReadRows; read != nil {
		own := make([]*sqlengine.Column, len(columns))
		for i, c := range columns {
			own[i] = &c.Column
		}
		return x.failing(ctx, table, read(ctx, x.conn, statement, args, own))
	}
	return func(yield func([]wire.Value, error) bool) {
		statementCtx, cancel := context.WithCancel(ctx)
		defer cancel()
		rows, err := x.tx.QueryContext(statementCtx, statement, args...)
		if err != nil {
			yield(nil, x.database.failure(ctx, err, table))
			return
		}
		defer func() { _ = rows.Close() }()
		readers := make([]reader, len(columns))
		targets := make([]any, len(columns))
		for i, c := range columns {
			readers[i].column = c
			targets[i] = &readers[i]
		}
		if len(targets) == 0 {
			targets = append(targets, new(reader)) // a row without cells still has a 1
		}
		values := make([]wire.Value, len(columns))
		for rows.Next() {
			if err := rows.Scan(targets...); err != nil {
				yield(nil, x.database.failure(ctx, err, table))
				return
			}
			for i := range readers {
				values[i] = readers[i].value
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
			yield(nil, x.database.failure(ctx, err, table))
		}
	}
}

// failing returns rows with the driver's errors as the library takes them.
func (x *session) failing(ctx context.Context, table string, rows memsource.RowSeq) memsource.RowSeq {
	return func(yield func([]wire.Value, error) bool) {
		for values, err := range rows {
			if !yield(values, x.database.failure(ctx, err, table)) {
				return
			}
		}
	}
}

// row runs a statement that answers one row, and scans it.
func (x *session) row(ctx context.Context, table, statement string, args []any, into ...any) error {
	err := x.tx.QueryRowContext(ctx, statement, args...).Scan(into...)
	return x.database.failure(ctx, err, table)
}

// emit writes rows to out. If the statement fails before its first row, emit
// returns before Begin, so that the failure has its own status.
func emit(out *connector.Rows, columns []wire.Column, rows memsource.RowSeq) error {
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
