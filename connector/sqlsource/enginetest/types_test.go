package enginetest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// types returns the columns of testdata/types_NAME.jsonl, those of the names only if there are some. An
// object of the file is a type, the arrays behind it are its values: each in SQL, and as it is sent.
func types(t testing.TB, engine string, only ...string) (all []sqlsourcetest.Type) {
	t.Helper()
	file, err := os.Open("testdata/types_" + engine + ".jsonl")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	lines := json.NewDecoder(file)
	for {
		var line json.RawMessage
		err := lines.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if line[0] == '{' {
			var own sqlsourcetest.Type
			require.NoError(t, json.Unmarshal(line, &own), "%s", line)
			all = append(all, own)
			continue
		}
		var pair []json.RawMessage
		require.NoError(t, json.Unmarshal(line, &pair), "%s", line)
		literal := sqlsourcetest.Literal{Cell: operands(t, string(pair[1]))[0]}
		require.NoError(t, json.Unmarshal(pair[0], &literal.SQL))
		last := &all[len(all)-1]
		last.Literals = append(last.Literals, literal)
	}
	if only == nil {
		return all
	}
	var some []sqlsourcetest.Type
	for _, name := range only {
		for _, own := range all {
			if own.Name == name {
				some = append(some, own)
			}
		}
	}
	require.Len(t, some, len(only))
	return some
}

// operands reads values in JSON, which commas separate.
func operands(t testing.TB, values string) []wire.Value {
	t.Helper()
	var list wire.CountRequest
	request{body: `{"table": "t", "and": [{"field": "f", "op": "in", "values": [` + values + `]}]}`}.decode(t, &list, "")
	return list.And[0].Values
}
