package tenants

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestChanged tells a change of the data from rows that one tenant is answered of the other.
func TestChanged(t *testing.T) {
	// reading makes the subject from the rows of both tenants, one letter each.
	reading := func(first, second string) *subject {
		s := &subject{name: "t", fields: []string{"id", "text"}}
		for tenant, rows := range []string{first, second} {
			if rows == "-" {
				continue // not known
			}
			table := &oracle.Table{Name: "t", Columns: []wire.Column{{Name: "text", Type: wire.TypeString}, {Name: "id", Type: wire.TypeNumber}}}
			for i, letter := range strings.Split(rows, "") {
				table.Rows = append(table.Rows, []wire.Value{wire.Text(letter), wire.Int(int64(i))})
			}
			s.rows[tenant] = oracle.Tables{"t": table}
		}
		return s
	}
	const moved = `"t"`
	for _, test := range []struct {
		why                    string
		first, second          string // before
		firstAgain, secondThen string
		want                   string
	}{
		{"nothing changed", "abcd", "wxyz", "abcd", "wxyz", ""},
		{"a row of its own changed", "abcd", "wxyz", "abcq", "wxyz", moved},
		{"a row is the other's", "abcd", "wxyz", "abcz", "wxyz", ""},
		{"all rows are the other's", "abcd", "wxyz", "wxyz", "wxyz", ""},
		{"and the other's are this one's", "abcd", "wxyz", "wxyz", "abcd", ""},
		{"the second tenant has a row of the first", "abcd", "wxyz", "abcd", "wxyd", ""},
		{"one row is the other's, and one is new", "abcd", "wxyz", "abqz", "wxyz", moved},
		{"the other's rows went back to the other", "wxyz", "wxyz", "abcd", "wxyz", ""},
		{"both read the same data, which changed between the reads", "abcd", "abcz", "abcz", "abcz", moved},
		{"both read the same data, of which half changed", "abcd", "abyz", "abyz", "abyz", moved},
		{"both were answered alike, and are again", "wxyz", "wxyz", "abcd", "abcd", moved},
		{"rows are gone", "abcd", "wxyz", "abc", "wxyz", moved},
		{"rows are new", "abcd", "wxyz", "abcde", "wxyz", moved},
		{"the rows are not known any more", "abcd", "wxyz", "-", "wxyz", moved},
		{"the rows were not known before", "-", "wxyz", "-", "wxyz", ""},
	} {
		before, now := reading(test.first, test.second), reading(test.firstAgain, test.secondThen)
		require.Equal(t, test.want, changed([]*subject{before}, []*subject{now}), test.why)
	}
	require.Equal(t, moved, changed(nil, []*subject{reading("a", "b")}), "a table that was not asked about before")
	narrow := reading("abcd", "wxyz")
	narrow.only = []wire.Filter{{Field: "text", Op: wire.OpEq, Value: wire.Text("q")}}
	require.Empty(t, changed([]*subject{reading("efgh", "wxyz")}, []*subject{narrow}), "other rows were asked for")
}
