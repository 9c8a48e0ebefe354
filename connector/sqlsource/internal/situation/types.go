package situation

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Types returns the columns of a file, those of the names only if there are some. An object of the file is
// a type, the arrays behind it are its values: each in SQL, and as it is sent.
func Types(t testing.TB, path string, only ...string) (all []sqlsourcetest.Type) {
	t.Helper()
	file, err := os.Open(path)
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
		literal := sqlsourcetest.Literal{Cell: Values(t, string(pair[1]))[0]}
		require.NoError(t, json.Unmarshal(pair[0], &literal.SQL))
		last := &all[len(all)-1]
		last.Literals = append(last.Literals, literal)
	}
	if only == nil {
		return all
	}
	some := slices.DeleteFunc(all, func(own sqlsourcetest.Type) bool { return !slices.Contains(only, own.Name) })
	require.Len(t, some, len(only))
	return some
}

// Values reads values in JSON, which commas separate.
func Values(t testing.TB, values string) []wire.Value {
	t.Helper()
	m := Request{"count", `{"table": "t", "and": [{"field": "f", "op": "in", "values": [` + values + `]}]}`}.Decode(t)
	return m.(*wire.CountRequest).And[0].Values
}
