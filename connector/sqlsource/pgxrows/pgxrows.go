// Package pgxrows makes PostgreSQL's rows cheaper to read: cells are made of the
// bytes that the server has sent, without the values that database/sql would make
// of them first.
//
// It is a module of its own, because it needs pgx, which the library does not.
//
//	db := stdlib.OpenDB(config)
//	source, err := sqlsource.New(db, pgxrows.PostgreSQL(), nil)
package pgxrows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// PostgreSQL returns [sqlsource.PostgreSQL] with rows read as package pgxrows
// does. The databases must be opened by pgx's package stdlib.
func PostgreSQL() sqlengine.Flavor {
	flavor := sqlsource.PostgreSQL()
	flavor.ReadRows = readRows
	return flavor
}

// readRows implements [sqlengine.Flavor].ReadRows.
func readRows(
	ctx context.Context, conn *sql.Conn, statement string, args []any, columns []*sqlengine.Column,
) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		done := false
		err := conn.Raw(func(driver any) error {
			own, ok := driver.(*stdlib.Conn)
			if !ok {
				return errors.New("pgxrows: the database was not opened by pgx's package stdlib")
			}
			var err error
			done, err = read(ctx, own.Conn(), statement, args, columns, yield)
			return err
		})
		if err != nil && !done {
			yield(nil, err)
		}
	}
}

// drainRows is how many rows that nobody wants are read to keep the connection.
const drainRows = 500

// read yields the rows of a statement. It reports done if yield wants no more.
func read(
	ctx context.Context, conn *pgx.Conn, statement string, args []any, columns []*sqlengine.Column,
	yield func([]wire.Value, error) bool,
) (done bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := conn.Query(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	var r *row
	for rows.Next() {
		if r == nil {
			r = newRow(conn, rows.FieldDescriptions(), columns)
		}
		values, err := r.read(rows.RawValues())
		if err != nil {
			return false, err
		}
		if yield(values, nil) {
			continue
		}
		for range drainRows {
			if !rows.Next() {
				return true, nil
			}
		}
		cancel() // a long rest costs more than the connection
		return true, nil
	}
	return false, rows.Err()
}

// row reads rows of one shape.
type row struct {
	columns []*sqlengine.Column
	decode  []decoder
	values  []wire.Value
	texts   []byte // of the row, of which all texts share one string
	ends    []int
}

func newRow(conn *pgx.Conn, fields []pgconn.FieldDescription, columns []*sqlengine.Column) *row {
	r := &row{
		columns: columns,
		decode:  make([]decoder, len(columns)),
		values:  make([]wire.Value, len(columns)),
		ends:    make([]int, len(columns)),
	}
	for i, c := range columns {
		r.decode[i] = decoderOf(conn.TypeMap(), fields[i], c)
	}
	return r
}

// read returns the cells of a row, in a slice that is used again for the next one.
func (r *row) read(raw [][]byte) ([]wire.Value, error) {
	r.texts = r.texts[:0]
	for i := range r.values {
		if raw[i] != nil && r.decode[i].text != nil {
			r.texts = append(r.texts, raw[i]...)
		}
		r.ends[i] = len(r.texts)
	}
	texts := string(r.texts)
	begin := 0
	for i := range r.values {
		var err error
		switch d := &r.decode[i]; {
		case raw[i] == nil:
			r.values[i] = wire.Value{}
		case d.text != nil:
			if r.values[i] = d.text(texts[begin:r.ends[i]]); r.values[i].Kind() == wire.KindInvalid {
				r.values[i], err = r.columns[i].Decode(texts[begin:r.ends[i]]) // whose error names the column, if it is one
			}
		default:
			r.values[i], err = d.raw(raw[i])
		}
		if err != nil {
			return nil, fmt.Errorf("pgxrows: column %d: %w", i+1, err)
		}
		begin = r.ends[i]
	}
	return r.values, nil
}
