package sqlsource

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reader is where a driver's value becomes a cell, without a copy between.
type reader struct {
	column *Column // nil: the value is not wanted
	value  wire.Value
}

// Scan is sql.Scanner.
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

// restRows is how many rows that nobody wants are read for the sake of the
// connection.
const restRows = 500

// cells runs a statement whose columns are read as these, and yields its rows
// as they come. The slice is reused.
func (x *session) cells(ctx context.Context, table, statement string, args []any, columns []*Column) memsource.Rows {
	return func(yield func([]wire.Value, error) bool) {
		statementCtx, cancel := context.WithCancel(ctx)
		defer cancel()
		rows, err := x.tx.QueryContext(statementCtx, statement, args...)
		if err != nil {
			yield(nil, x.source.failure(ctx, err, table))
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
				yield(nil, x.source.failure(ctx, err, table))
				return
			}
			for i := range readers {
				values[i] = readers[i].value
			}
			if !yield(values, nil) {
				// Drivers read a result to its end before the connection can be
				// used again. A long rest costs more than the connection.
				for range restRows {
					if !rows.Next() {
						return
					}
				}
				cancel()
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, x.source.failure(ctx, err, table))
		}
	}
}

// row runs a statement that answers one row, of integers or whatever the driver
// makes of it.
func (x *session) row(ctx context.Context, table, statement string, args []any, into ...any) error {
	err := x.tx.QueryRowContext(ctx, statement, args...).Scan(into...)
	return x.source.failure(ctx, err, table)
}

// emit hands rows out. Those of a failed statement that has not begun fail
// before Begin, so that the failure has its own status (C3).
func emit(out *connector.Rows, columns []wire.Column, rows memsource.Rows) error {
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

var _ sql.Scanner = (*reader)(nil)
