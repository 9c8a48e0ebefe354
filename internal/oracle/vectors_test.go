package oracle_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/semantics"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestFilterVectors runs the vectors of package filter against the oracle. They
// are data, not code; the README beside them describes their format.
func TestFilterVectors(t *testing.T) {
	ran := 0
	for name, cases := range semantics.Read(t, "../../filter/testdata/semantics") {
		for _, c := range cases {
			vector{c}.run(t, name)
			ran++
		}
	}
	require.GreaterOrEqual(t, ran, 1000)
}

type vector struct{ semantics.Case }

func (c vector) run(t *testing.T, file string) {
	what := file + ": " + c.Rule + ": " + c.Why
	req, err := c.Request()
	if err != nil {
		require.Equal(t, wire.CodeBadRequest, c.Error, "%s: %v", what, err)
		return
	}
	table := &oracle.Table{Name: "t"}
	var row []wire.Value
	table.Columns, row = c.Table()
	table.Rows = [][]wire.Value{append(row, make([]wire.Value, len(table.Columns)-len(row))...)}

	n, err := oracle.Count(oracle.Tables{"t": table}, req)
	var unknown *oracle.UnknownField
	var malformed *oracle.Malformed
	switch {
	case errors.As(err, &unknown):
		require.Equal(t, wire.CodeUnsupported, c.Error, what)
	case errors.As(err, &malformed):
		require.Equal(t, wire.CodeBadRequest, c.Error, what)
	default:
		require.NoError(t, err, what)
		require.Empty(t, c.Error, what)
		require.NotNil(t, c.Match, what)
		require.Equal(t, *c.Match, n == 1, what)
		if len(req.And) == 1 && req.Or == nil {
			c.runOnCells(t, what, table, req)
		}
	}
}

// runOnCells judges the cell of a case's one filter by [oracle.Cells], beside others.
func (c vector) runOnCells(t *testing.T, what string, table *oracle.Table, req *wire.CountRequest) {
	f := req.And[0]
	at := table.Index(f.Field)
	typ, cell := table.Columns[at].Type, table.Rows[0][at]
	if typ == "" {
		typ = req.FieldTypes[f.Field]
	}
	matches := oracle.NewCells(list(null, cell, cell, txt("another cell")), typ).Matcher(f)
	require.Equal(t, []bool{*c.Match, *c.Match}, []bool{matches(1), matches(2)}, "%s, parsed once", what)
}
