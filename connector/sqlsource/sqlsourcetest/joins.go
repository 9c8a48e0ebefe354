package sqlsourcetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The tables of largeJoins, and how many rows each has. An engine that compares
// every row with every other does not answer within joinTimeoutMS.
const (
	manyFrom      = "many from"
	manyTo        = "many to"
	manyRows      = 100_000
	joinTimeoutMS = 60_000
)

// manyJoins are joins of manyFrom with manyTo, and how many rows of manyFrom find
// a row. The tables name one thing in row i: manyFrom in another order, and in
// capitals where i is divisible by 4.
var manyJoins = []struct {
	name, from, to string
	found          int
}{
	{"texts", "code", "code", manyRows * 3 / 4},
	{"integers", "number", "number", manyRows},
	{"an integer and a decimal", "number", "amount", manyRows},
	{"an integer and its text", "number", "digits", manyRows},
	{"a text and an integer", "digits", "number", manyRows},
}

func (f *fixture) makeMany(t *testing.T) {
	e := f.engine
	quote := e.Flavor.Quote
	columns := "(" + quote("code") + " VARCHAR(40), " + quote("number") + " " + e.Key + ", " + quote("amount") + " DECIMAL(12,2), " +
		quote("digits") + " VARCHAR(40))" + e.TableOptions
	for _, table := range []string{manyFrom, manyTo} {
		execute(t, e.DB, "CREATE TABLE "+quote(table)+" "+columns)
		const batch = 1000
		for at := 0; at < manyRows; at += batch {
			rows := make([]string, batch)
			for i := range rows {
				n := at + i
				code := fmt.Sprintf("key %d", n)
				if table == manyFrom {
					n = n * 7919 % manyRows
					if code = fmt.Sprintf("key %d", n); n%4 == 0 {
						code = strings.ToUpper(code)
					}
				}
				rows[i] = fmt.Sprintf("('%s', %d, %d, '%d')", code, n, n, n)
			}
			e.insert(t, table, rows)
		}
	}
	for _, column := range []string{"code", "number", "amount", "digits"} {
		execute(t, e.DB, "CREATE INDEX "+quote("many "+column)+" ON "+quote(manyTo)+" ("+quote(column)+")")
	}
}

// largeJoins joins two large tables by indexed keys of each kind, and measures
// the same links.
func (f *fixture) largeJoins(t *testing.T) {
	if testing.Short() {
		t.Skip("fills two large tables; run without -short")
	}
	f.makeMany(t)
	tenant := f.server.As(nil).Unverified().In(t)
	envelope := wire.Envelope{TimeoutMS: joinTimeoutMS}
	for _, join := range manyJoins {
		t.Run(join.name, func(t *testing.T) {
			answer, err := tenant.Query(wire.QueryRequest{
				Table: manyFrom, Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}, Fields: []string{"number"}, Envelope: envelope,
				Joins: []wire.JoinHop{{
					FromTable: manyFrom, ToTable: manyTo, FromField: join.from, ToField: join.to,
					Fields: []wire.JoinField{{Field: "number", As: "joined"}},
				}},
			})
			require.NoError(t, err)
			require.Len(t, answer.Rows, manyRows)
			found := 0
			for _, row := range answer.Rows {
				if row[1].IsNull() {
					continue
				}
				found++
				if row[0] != row[1] {
					t.Fatalf("row %s is joined with row %s", row[0], row[1])
				}
			}
			require.Equal(t, join.found, found)
			rate, err := tenant.LinkHitRate(wire.LinkHitRateRequest{
				FromTable: manyFrom, ToTable: manyTo, FromColumn: join.from, ToColumn: join.to, Envelope: envelope,
			})
			require.NoError(t, err)
			require.EqualValues(t, manyRows, rate.FromNonNull)
			require.EqualValues(t, manyRows-join.found, rate.OrphanCount)
		})
	}
}
