package duckdb

/*
// The driver's module links the engine, and has no function for this one.
int duckdb_pending_prepared_streaming(void *prepared, void **pending);
*/
import "C"

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"unsafe"

	"github.com/duckdb/duckdb-go/mapping"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// readRows implements [sqlengine.Flavor].ReadRows. The driver computes an answer
// as a whole before its first row, and makes a Go value of each cell. Here the rows
// come as the engine computes them, in chunks of columns.
func readRows(
	ctx context.Context, conn *sql.Conn, statement string, args []any, columns []*sqlengine.Column,
) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		more, wrapped := true, false
		err := conn.Raw(func(own any) (err error) {
			c, judge, ok := connectionOf(own)
			if wrapped = !ok; wrapped {
				return nil
			}
			more, err = stream(ctx, c, statement, args, columns, yield)
			return judge(err)
		})
		if wrapped && err == nil {
			more, err = scan(ctx, conn, statement, args, columns, yield)
		}
		if err != nil && more {
			yield(nil, err)
		}
	}
}

// errEnough ends an answer of which nobody wants more.
var errEnough = errors.New("duckdb: enough")

// scan yields the rows that the driver returns. It reports whether more would have been
// taken.
func scan(
	ctx context.Context, conn *sql.Conn, statement string, args []any, columns []*sqlengine.Column,
	yield func([]wire.Value, error) bool,
) (more bool, err error) {
	raw := make([]any, max(1, len(columns))) // a row without cells still has a 1
	targets := make([]any, len(raw))
	for i := range raw {
		targets[i] = &raw[i]
	}
	values := make([]wire.Value, len(columns))
	err = sqlengine.Each(ctx, conn, statement, args, func(scan func(...any) error) error {
		if err := scan(targets...); err != nil {
			return err
		}
		for i, c := range columns {
			values[i] = wire.Value{}
			if raw[i] == nil || c == nil {
				continue
			}
			var err error
			if values[i], err = c.Decode(raw[i]); err != nil {
				return fmt.Errorf("duckdb: column %d: %w", i+1, err)
			}
		}
		if !yield(values, nil) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return false, nil
	}
	return true, err
}

// stream yields the rows of a statement. It reports whether more would have been taken.
func stream(
	ctx context.Context, c mapping.Connection, statement string, args []any, columns []*sqlengine.Column, yield func([]wire.Value, error) bool,
) (more bool, err error) {
	var prepared mapping.PreparedStatement
	defer mapping.DestroyPrepare(&prepared)
	if mapping.Prepare(c, statement, &prepared) == mapping.StateError {
		return true, failure(mapping.PrepareError(prepared))
	}
	for i, arg := range args {
		if err := bind(prepared, mapping.IdxT(i+1), arg); err != nil {
			return true, err
		}
	}
	var pending mapping.PendingResult
	defer mapping.DestroyPending(&pending)
	if C.duckdb_pending_prepared_streaming(prepared.Ptr, (*unsafe.Pointer)(&pending.Ptr)) != 0 {
		return true, failure(mapping.PendingError(pending))
	}
	defer interruptWith(ctx, c)()
	var result mapping.Result
	defer mapping.DestroyResult(&result)
	if mapping.ExecutePending(pending, &result) == mapping.StateError {
		return true, failure(mapping.ResultError(&result))
	}
	r := newReader(&result, columns)
	f := startFetching(&result)
	defer f.stop(c)
	for chunk := range f.chunks {
		more, err := r.read(chunk, yield)
		mapping.DestroyDataChunk(&chunk)
		if err != nil || !more {
			return more || err != nil, err
		}
	}
	return true, f.err
}

// interruptWith interrupts the connection's statement when the context ends. The
// function that it returns ends that, and returns when no interruption can come late.
func interruptWith(ctx context.Context, c mapping.Connection) (stop func()) {
	interrupted := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		mapping.Interrupt(c)
	})
	return func() {
		if !cancel() {
			<-interrupted
		}
	}
}

// bind binds an argument of one of the types that an operand or a window has.
func bind(prepared mapping.PreparedStatement, at mapping.IdxT, arg any) error {
	var state mapping.State
	switch v := arg.(type) {
	case int64:
		state = mapping.BindInt64(prepared, at, v)
	case float64:
		state = mapping.BindDouble(prepared, at, v)
	case string:
		state = mapping.BindVarchar(prepared, at, v)
	default:
		return fmt.Errorf("duckdb: a %T cannot be bound", arg)
	}
	if state == mapping.StateError {
		return failure(mapping.PrepareError(prepared))
	}
	return nil
}
