package relation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Short spellings for tables of cases.
var (
	null = wire.Null()
	num  = wire.Int
	dec  = wire.Decimal
	text = wire.Text
)

func row(cells ...wire.Value) []wire.Value { return cells }

// column returns a relation of one column.
func column(name string, t wire.Type, cells ...wire.Value) relation.Relation {
	rows := make([][]wire.Value, len(cells))
	for i, c := range cells {
		rows[i] = row(c)
	}
	return relation.Relation{Columns: []wire.Column{{Name: name, Type: t}}, Rows: reused(rows)}
}

// table returns a table that package cells reads, or one of testdata/tables.tsv by its name.
func table(t testing.TB, text string) relation.Relation {
	t.Helper()
	for _, named := range testkit.Table(t, "testdata/tables.tsv", 2) {
		if text == named[0] {
			text = named[1]
		}
	}
	columns, rows := cells.Table(t, text)
	return relation.Relation{Columns: columns, Rows: reused(rows)}
}

// listed splits a text of a file, in which - is an empty list.
func listed(text, by string) []string {
	if text == "-" || text == "" {
		return []string{}
	}
	return strings.Split(text, by)
}

// reused returns rows whose producer overwrites its one buffer between iterations,
// as it is allowed to: what was not copied turns into garbage.
func reused(rows [][]wire.Value) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		var buffer []wire.Value
		var bytes []byte
		for _, r := range rows {
			buffer, bytes = append(buffer[:0], r...), bytes[:0]
			for _, v := range r {
				bytes = append(bytes, v.Text()...)
			}
			rest := unsafe.String(unsafe.SliceData(bytes), len(bytes)) // it shares the bytes, as a producer may
			for i, v := range r {
				n := len(v.Text())
				switch v.Kind() {
				case wire.KindText:
					buffer[i] = wire.Text(rest[:n])
				case wire.KindDecimal:
					buffer[i] = wire.Decimal(rest[:n])
				}
				rest = rest[n:]
			}
			more := yield(buffer, nil)
			for i := range bytes {
				bytes[i] = '#'
			}
			for i := range buffer {
				buffer[i] = wire.Text("garbage")
			}
			if !more {
				return
			}
		}
	}
}

// failing returns rows that end with an error.
func failing(rows [][]wire.Value, err error) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
		yield(nil, err)
	}
}

var errUpstream = errors.New("the upstream hung up")

// refused asserts a deliberate error.
func refused(t *testing.T, err error, code wire.Code, mentions string) {
	t.Helper()
	var e *wire.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code)
	assert.Contains(t, e.Message, mentions)
}

// over asserts an exceeded budget.
func over(t *testing.T, err error, limit int64, what string) {
	t.Helper()
	var e *relation.BudgetError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, limit, e.Limit)
	assert.Contains(t, e.What, what)
	assert.Equal(t, fmt.Sprintf("%s need more than the budget of %d bytes", e.What, limit), err.Error())
}

// unlimited returns a budget that nothing exceeds.
func unlimited() *relation.Budget { return relation.NewBudget(-1) }

// spellings are cells of which many are equal: few values, spelled variously.
var spellings = []wire.Value{
	null, null, num(1), dec("1.0"), text("01"), wire.Float(1), text("+1.00"),
	num(-2), dec("-2.50"), wire.Float(-2.5), text("-02.5"), num(0), dec("-0"), dec("0.000"),
	num(1 << 53), num(1<<53 + 1), text("9007199254740993.0"), wire.Float(1e21), text("1000000000000000000000"),
	dec("12345678901234567890123456789012345678.91"), text("0.00000000000000000000000000000000000001"),
}

// collect spells rows as they come.
func collect(t *testing.T, rows relation.Rows) []string {
	t.Helper()
	list := []string{}
	for r, err := range rows {
		require.NoError(t, err)
		list = append(list, cells.Spelled(t, r)...)
	}
	return list
}
