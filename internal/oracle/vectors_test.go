package oracle_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestFilterVectors runs the vectors of package filter against the oracle. They
// are data, not code; the README beside them describes their format.
func TestFilterVectors(t *testing.T) {
	files, err := filepath.Glob("../../filter/testdata/semantics/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 14)
	ran := 0
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		var file struct {
			Cases []vector `json:"cases"`
		}
		require.NoError(t, json.Unmarshal(raw, &file))
		require.NotEmpty(t, file.Cases, name)
		for _, c := range file.Cases {
			c.run(t, filepath.Base(name))
			ran++
		}
	}
	require.GreaterOrEqual(t, ran, 1000)
}

type vector struct {
	Why        string                     `json:"why"`
	Rule       string                     `json:"rule"`
	Columns    map[string]wire.Type       `json:"columns"`
	FieldTypes json.RawMessage            `json:"fieldTypes"`
	And        json.RawMessage            `json:"and"`
	Or         json.RawMessage            `json:"or"`
	Cells      map[string]json.RawMessage `json:"cells"`
	Match      *bool                      `json:"match"`
	Error      wire.Code                  `json:"error"`
}

func (c vector) run(t *testing.T, file string) {
	what := file + ": " + c.Rule + ": " + c.Why
	body := map[string]any{"table": "t", "and": c.And, "credentials": map[string]string{}, "timeoutMs": 1000}
	if c.Or != nil {
		body["or"] = c.Or
	}
	if c.FieldTypes != nil {
		body["fieldTypes"] = c.FieldTypes
	}
	raw, err := json.Marshal(body)
	require.NoError(t, err, what)
	var req wire.CountRequest
	if err := wire.Decode(raw, &req); err != nil {
		require.Equal(t, wire.CodeBadRequest, c.Error, "%s: %v", what, err)
		return
	}
	table := &oracle.Table{Name: "t"}
	var row []wire.Value
	for name, typ := range c.Columns {
		table.Columns = append(table.Columns, wire.Column{Name: name, Type: typ})
		var cell wire.Value // stays null where the row lacks the column
		if text, ok := c.Cells[name]; ok {
			require.NoError(t, json.Unmarshal(text, &cell), what)
		}
		row = append(row, cell)
	}
	table.Rows = [][]wire.Value{row}

	n, err := oracle.Count(oracle.Tables{"t": table}, &req)
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
			c.runOnCells(t, what, table, &req)
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
