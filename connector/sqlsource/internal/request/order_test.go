package request

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/stretchr/testify/require"
)

// TestTies shows how the ties of a sort are broken. A sort that values may leave to
// the library has them in the library's order.
func TestTies(t *testing.T) {
	id := &sqltext.Column{Name: "id", Column: sqlengine.Column{
		Class: sqlengine.ClassText, Raw: "id", Key: "bytes(id)", Index: sqlengine.Index{Stored: "id"},
	}}
	plain := &sqltext.Column{Name: "n", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "n", Key: "n"}}
	guarded := &sqltext.Column{Name: "g", Column: sqlengine.Column{
		Class: sqlengine.ClassInteger, Raw: "g", Key: "g", Loose: sqlengine.Loose{Guard: "odd(g)"},
	}}
	only := []*sqltext.Column{id}
	r := &session.Relation{Columns: []*sqltext.Column{id, plain, guarded}, Primary: only, Unique: only, Enforced: true}
	for _, c := range []struct {
		why  string
		ties ties
		want []orderTerm
	}{
		{"no sort: as the index has it", ties{unsorted: true}, []orderTerm{{"id", false, false}}},
		{"ascending", ties{used: []*sqltext.Column{plain}}, []orderTerm{{"id", false, false}}},
		{"descending: the index is read backwards", ties{used: []*sqltext.Column{plain}, desc: true}, []orderTerm{{"id", true, false}}},
		{"a sort that the library may have to do", ties{used: []*sqltext.Column{guarded}, desc: true}, []orderTerm{{"bytes(id)", false, false}}},
		{"a sort by the key itself", ties{used: []*sqltext.Column{id}, desc: true}, nil},
	} {
		o := order{total: true}
		o.breakTies(r, c.ties)
		require.Equal(t, c.want, o.terms, c.why)
		require.True(t, o.total, c.why)
	}
}
