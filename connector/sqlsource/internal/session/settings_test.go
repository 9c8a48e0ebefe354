package session

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNames finds the table that a request names, and no table that is not
// served.
func TestNames(t *testing.T) {
	o := Settings{
		Only:   []string{"tbl_orders", "customers", "x"},
		Tables: map[string]TableSettings{"tbl_orders": {Name: "orders"}, "orders": {Name: "old orders"}, "x": {Hidden: true}},
	}
	o.index()
	for _, n := range []struct {
		why, name, own string
		served         bool
	}{
		{"by its own name", "customers", "customers", true},
		{"by the name it is given", "orders", "tbl_orders", true},
		{"not by the name it has in the database", "tbl_orders", "", false},
		{"not one that is not listed", "old orders", "", false},
		{"not one that is hidden", "x", "", false},
		{"not one that the options do not name", "secrets", "", false},
	} {
		own, served := o.InDatabase(n.name)
		assert.Equal(t, n.served, served, n.why)
		if n.served {
			assert.Equal(t, n.own, own, n.why)
		}
	}
}
