package exam

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestOrderSettled(t *testing.T) {
	tests := []struct {
		kind  wire.Type
		cells []string
		want  bool
		why   string
	}{
		{wire.TypeDate, []string{"2024-02-29", "1999-12-31"}, true, "one spelling, so that bytes are time"},
		{wire.TypeDatetime, []string{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.5Z"}, false, "a dot sorts before Z"},
		{wire.TypeDatetime, []string{"2024-02-29T00:00:00+02:00", "2024-02-29T00:00:00+01:00"}, false, "offsets"},
		{wire.TypeDate, []string{"29.02.2024"}, false, "no instant"},
		{wire.TypeString, []string{"a", "2024"}, true, "texts are bytes in any reading"},
	}
	for _, test := range tests {
		table := &oracle.Table{Name: "t", Columns: []wire.Column{{Name: "c", Type: test.kind}}, Rows: [][]wire.Value{{wire.Null()}}}
		for _, cell := range test.cells {
			table.Rows = append(table.Rows, []wire.Value{wire.Text(cell)})
		}
		require.Equal(t, test.want, OrderSettled(table, 0), "%s %q: %s", test.kind, test.cells, test.why)
	}
}

// TestOrderTells counts the careless orders that the values of a column differ from: those columns
// are worth a sort first.
func TestOrderTells(t *testing.T) {
	text := func(values ...string) (list []wire.Value) {
		for _, v := range values {
			list = append(list, wire.Text(v))
		}
		return list
	}
	tests := []struct {
		why    string
		kind   wire.Type
		values []wire.Value
		points int
	}{
		{"one value", wire.TypeString, text("a", "a"), 0},
		{"no value", wire.TypeString, []wire.Value{wire.Null()}, 0},
		{"an order that nobody misses", wire.TypeString, text("b", "a", "c"), 1},
		{"a null", wire.TypeString, append(text("b", "a"), wire.Null()), 2},
		{"capitals: without case, and in a collation", wire.TypeString, text("a", "B"), 3},
		{"an accent: in a collation", wire.TypeString, text("é", "f"), 2},
		{"a character beyond 16 bits: by UTF-16 units", wire.TypeString, text("😀", "\uff21"), 2},
		{"a blank before it: without blanks", wire.TypeString, text(" b", "a"), 2},
		{"digits: as numbers", wire.TypeString, text("9", "10"), 2},
		{"numbers: as texts", wire.TypeNumber, []wire.Value{wire.Int(9), wire.Int(10)}, 2},
		{"numbers of one length", wire.TypeNumber, []wire.Value{wire.Int(8), wire.Int(9)}, 1},
		{"fractions of one number: by their whole parts", wire.TypeDecimal, []wire.Value{wire.Decimal("8.25"), wire.Decimal("8.5")}, 2},
		{"instants of one day: by days", wire.TypeDatetime, text("2024-05-01T08:00:00Z", "2024-05-01T09:00:00Z"), 2},
		{"one value beside null", wire.TypeString, append(text("a", "a"), wire.Null()), 2},
	}
	for _, test := range tests {
		table := &oracle.Table{Columns: []wire.Column{{Name: "c", Type: test.kind}}}
		for _, v := range test.values {
			table.Rows = append(table.Rows, []wire.Value{v})
		}
		require.Equal(t, test.points, OrderTells(table, 0), test.why)
	}
}

// TestLaterOrderTells counts the same where the first key ties.
func TestLaterOrderTells(t *testing.T) {
	table := &oracle.Table{Columns: []wire.Column{{Name: "first", Type: wire.TypeString}, {Name: "c", Type: wire.TypeNumber}}}
	add := func(first string, v wire.Value) { table.Rows = append(table.Rows, []wire.Value{wire.Text(first), v}) }
	add("a", wire.Int(9))
	add("b", wire.Int(10))
	require.Zero(t, LaterOrderTells(table, []int{0}, 1), "no two rows tie")
	add("b", wire.Null())
	require.Equal(t, 2, LaterOrderTells(table, []int{0}, 1), "a null ties with a value")
	add("a", wire.Int(10))
	require.Equal(t, 3, LaterOrderTells(table, []int{0}, 1), "and 9 with 10")
}

// TestGroupTells counts the careless keys that merge values of a column: those columns are worth a group first.
func TestGroupTells(t *testing.T) {
	for _, test := range []struct {
		why    string
		cells  []string // "-" is null
		points int
	}{
		{"one value", []string{"a", "a"}, 0},
		{"one value and a null", []string{"a", "-"}, 2},
		{"values that nobody merges", []string{"a", "b"}, 1},
		{"a blank at the end", []string{"a", "a "}, 2},
		{"case: without it, and in a collation", []string{"a", "A"}, 3},
		{"an accent: in a collation", []string{"e", "é"}, 2},
		{"a zero in front: as numbers", []string{"1", "01"}, 2},
		{"fractions: by the whole part", []string{"1.5", "1.25"}, 2},
		{"hours of one day: by the day", []string{"2024-02-29T10:00:00Z", "2024-02-29T11:00:00Z"}, 2},
	} {
		var rows [][]string
		for _, cell := range test.cells {
			rows = append(rows, []string{cell})
		}
		table := tableOfTexts(rows...)
		require.Equal(t, test.points, GroupTells(table, 0), test.why)
	}
}
