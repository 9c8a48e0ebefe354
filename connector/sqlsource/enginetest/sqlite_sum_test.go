package enginetest

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteSums adds numbers, and compares with the sum of their digits.
func TestSQLiteSums(t *testing.T) {
	t.Parallel()
	skipShort(t)
	many := make([]string, 0, 2000)
	for i := range 2000 {
		many = append(many, fmt.Sprintf("%d.%02d", i*7919%100_000-50_000, i*31%100))
	}
	repeat := func(value string, n int) []string { return strings.Split(strings.Repeat(value+" ", n), " ")[:n] }
	for _, c := range []struct {
		why    string
		values []string // numbers, as their digits are spelled
		exact  bool     // false: declined
	}{
		{"no values", nil, true},
		{"integers", []string{"1", "2", "-5"}, true},
		{"integers whose sum passes 64 bits", repeat("9223372036854775807", 3), true},
		{"the least integer", []string{"-9223372036854775808", "-1"}, true},
		{"cents that floats add up wrong", repeat("0.1", 10), true},
		{"money", many, true},
		{"negative money", []string{"-0.01", "-10.25", "0.005"}, true},
		{"rates of six digits", []string{"0.000001", "123456789.123456", "-0.5"}, true},
		{"money and integers", []string{"0.25", "9999999999999", "-1"}, true},
		{"15 digits", []string{"9999999999999.99", "0.01", "-9999999999999.98"}, true},
		{"rows whose scaled sum passes 64 bits", repeat("9999999999999.99", 12_000), true},
		{"a sum that is zero", []string{"10.25", "-10.25"}, true},
		{"16 digits", []string{"99999999999999.99"}, false},
		{"more than six digits of fraction", []string{"0.1234567"}, false},
		{"money and an integer beyond floats", []string{"0.25", "9007199254740993"}, false},
		{"a result of floats", []string{"0.30000000000000004"}, false},
		{"one such value among others", append([]string{"0.30000000000000004"}, many...), false},
		{"large and small", []string{"1000000000.5", "0.000001"}, false},
		{"reals beyond all digits", []string{"1" + strings.Repeat("0", 300) + ".0"}, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			db := newSQLite(t, "CREATE TABLE t (g INTEGER, money NUMERIC, price REAL, loose INTEGER)")
			want := new(big.Rat)
			tx, err := db.Begin()
			require.NoError(t, err)
			for _, v := range c.values {
				_, err := tx.Exec("INSERT INTO t VALUES (1, " + v + ", " + v + ", " + v + ")")
				require.NoError(t, err)
				n, _ := new(big.Rat).SetString(v)
				want.Add(want, n)
			}
			// Another group, and what is null.
			_, err = tx.Exec("INSERT INTO t VALUES (2, 0.75, 0.75, 'n/a'), (2, 1, 1, 9e999), (2, NULL, NULL, x'31')")
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
			// What does not fit decides no type here.
			tenant := db.caller(t, &sqlsource.Options{Tables: map[string]sqlsource.TableOptions{
				"t": {Columns: map[string]sqlsource.ColumnOptions{"loose": {Type: wire.TypeNumber}}},
			}}).Unverified()
			for _, field := range []string{"money", "price", "loose"} {
				if field == "price" && strings.Contains(strings.Join(c.values, " "), "922337203685477580") {
					continue // another number as REAL
				}
				sum := wire.AggregateRequest{
					Table: "t", Where: wire.Where{And: []wire.Filter{{Field: "g", Op: wire.OpEq, Value: wire.Int(1)}}},
					GroupBy: []wire.GroupKey{}, Measures: []wire.Measure{{Fn: wire.AggSum, Field: field, As: "s"}}, Limit: 1001,
				}
				answer, err := tenant.Aggregate(sum)
				if !c.exact {
					require.ErrorIs(t, err, connector.ErrDecline, field)
					continue
				}
				require.NoError(t, err, field)
				if len(c.values) == 0 {
					assert.True(t, answer[0]["s"].IsNull())
					continue
				}
				assertSum(t, want, answer[0]["s"], field)
				sum.And, sum.GroupBy = []wire.Filter{}, []wire.GroupKey{{Field: "g", As: "g"}}
				if answer, err = tenant.Aggregate(sum); !assert.NoError(t, err) {
					continue
				}
				for _, row := range answer {
					switch {
					case row["g"].Int64() == 1:
						assertSum(t, want, row["s"], field)
					case field == "loose":
						assert.True(t, row["s"].IsNull(), "a group of what does not fit")
					default:
						assertSum(t, big.NewRat(7, 4), row["s"], field)
					}
				}
			}
		})
	}
}

// assertSum compares a sum by its value, and its spelling by its length: it has no
// zeros at its end.
func assertSum(t *testing.T, want *big.Rat, got wire.Value, field string) {
	t.Helper()
	n, ok := new(big.Rat).SetString(got.Text())
	if !ok {
		n, ok = new(big.Rat).SetString(string(got.AppendText(nil)))
	}
	require.True(t, ok, "%s: %v", field, got)
	assert.Zero(t, n.Cmp(want), "%s: the sum is %s, expected %s", field, n.FloatString(9), want.FloatString(9))
	if !want.IsInt() {
		assert.False(t, strings.HasSuffix(strconv.Quote(string(got.AppendText(nil))), `0"`), "%s ends in a zero", field)
	}
}

// TestSQLiteSumBesideMisfits declines a measure over values that do not fit, whether or
// not the engine could be asked for a sum before it in another way.
func TestSQLiteSumBesideMisfits(t *testing.T) {
	t.Parallel()
	db := newSQLite(t, `
		CREATE TABLE t (money NUMERIC, at DATETIME);
		INSERT INTO t VALUES (0.25, '2024-02-29 10:00:00'), (1, '2024-02-29T10:00:00Z'), (2, 'n/a'), (3, x'31')`)
	tenant := db.caller(t, &sqlsource.Options{Tables: map[string]sqlsource.TableOptions{
		"t": {Columns: map[string]sqlsource.ColumnOptions{"at": {Type: wire.TypeDatetime}}},
	}}).Unverified()
	for _, fn := range []wire.AggFunc{wire.AggCountDistinct, wire.AggMin, wire.AggMax} {
		_, err := tenant.Aggregate(wire.AggregateRequest{
			Table: "t", Where: wire.Where{And: []wire.Filter{}}, GroupBy: []wire.GroupKey{}, Limit: 1,
			Measures: []wire.Measure{{Fn: wire.AggSum, Field: "money", As: "s"}, {Fn: fn, Field: "at", As: "m"}},
		})
		require.ErrorIs(t, err, connector.ErrDecline, fn)
	}
}
