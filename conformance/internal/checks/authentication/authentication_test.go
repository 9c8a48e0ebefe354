package authentication

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTablesIn judges which tables a refusal reveals.
func TestTablesIn(t *testing.T) {
	tables := []*wire.Table{
		{Name: "error"}, {Name: "t"}, {Name: "code"}, {Name: "unauthorized"},
		{Name: "orders"}, {Name: "customers"}, {Name: "order_lines"}, {Name: "Kunden"},
	}
	for _, c := range []struct {
		body, asked string
		leaks       bool
		why         string
	}{
		{`{"error":{"code":"unauthorized","message":"no"}}`, "", false, "an ordinary word stands there by chance"},
		{`no token for orders`, "", false, "one ordinary word may"},
		{`no token for error and orders`, "", false, "a word of any refusal tells nothing"},
		{`{"error":{"code":"unauthorized","message":"unauthorized: error t"}}`, "", false, "nor do several"},
		{`no token for customers and orders`, "", true, "two do not"},
		{`no token for order_lines`, "", true, "a name that is no ordinary word does not"},
		{`no token for reorder_lines`, "", false, "names are whole words"},
		{`"Kunden"`, "", true, "a name that is no ordinary word does not"},
		{`no token for order_lines`, "order_lines", false, "who asked for it knows it"},
	} {
		require.Equal(t, c.leaks, tablesIn([]byte(c.body), tables, c.asked) != "", "%s: %s", c.body, c.why)
	}
}
