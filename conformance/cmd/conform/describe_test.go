package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// described serves a connector of these tables.
func described(t *testing.T, tables ...memsource.Table) http.Handler {
	t.Helper()
	return connectors.New(token, connector.Definition{Slug: "shop"}, connectors.Tables(tables...), connectors.Quiet())
}

// TestDescribe writes a connector down, and compares it later with what was written.
func TestDescribe(t *testing.T) {
	no := false
	people := memsource.Table{
		Table: wire.Table{Name: "people", SourceDescription: "Who *works*\nhere.", PrimaryKey: []string{"id"}, Fields: []wire.Field{
			{Name: "id", Type: wire.TypeNumber, Unique: true},
			{Name: "boss|of", Type: wire.TypeNumber, Nullable: true, Groupable: &no, Filterable: &no, SourceDescription: "the boss"},
		}, ForeignKeys: []wire.ForeignKey{{Field: "boss|of", TargetTable: "people", TargetField: "id"}}},
		Rows: [][]wire.Value{{wire.Int(4711), wire.Null()}, {wire.Int(4712), wire.Int(4711)}},
	}
	later := people
	later.Fields = append([]wire.Field{}, people.Fields...)
	later.Fields[1].Type = wire.TypeDecimal
	handler := described(t, people)
	url := behindPort(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	dir := t.TempDir()
	text, data := filepath.Join(dir, "tables.md"), filepath.Join(dir, "tables.JSON")

	got := conform(t, withToken, "-describe", text, "-describe", data, url)
	require.Equal(t, result{code: check.ExitPass}, got)
	body := testkit.Must(os.ReadFile(text))(t)
	require.Equal(t, `# shop

## people

Who \*works\* here.

Primary key: id.

- boss\|of refers to id of people

| Field | Type | Null | Unique | Left to the platform | Description |
|---|---|---|---|---|---|
| id | number |  | yes |  |  |
| boss\|of | number | yes |  | filter, group | the boss |
`, string(body))
	body = testkit.Must(os.ReadFile(data))(t)
	require.NotContains(t, string(body), "4711", "no sample and no statistic, which are a tenant's data")

	got = conform(t, withToken, "-diff", data, url)
	require.Equal(t, result{code: check.ExitPass, out: "nothing changed\n"}, got)
	handler = described(t, later, memsource.Table{Table: wire.Table{Name: "new", Fields: people.Fields[:1]}})
	got = conform(t, withToken, "-diff", data, "-describe", data, url)
	require.Equal(t, result{code: check.ExitFail, out: `field "boss|of" of table "people": type was number, is decimal` + "\n" +
		`table "new" is new` + "\n"}, got)
	got = conform(t, withToken, "-diff", data, url)
	require.Equal(t, "nothing changed\n", got.out, "the file was read before it was written anew")
}

// TestDescribeHidesSecrets describes a connector that quotes a credential in its form, and
// turns the text of a label around. A file of it is passed on.
func TestDescribeHidesSecrets(t *testing.T) {
	const secret = "canary-secret-of-a-tenant"
	source := connectors.Tables(memsource.Table{Table: wire.Table{Name: "t", SourceDescription: secret,
		Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}}}})
	handler := connectors.New(token, connector.Definition{Slug: "shop", Credentials: []wire.CredentialField{{
		Key: "apiKey", Type: wire.CredentialPassword, Label: "Key \u202eyek", Placeholder: secret, Help: "Such as `" + secret + "`.",
	}}}, source, connectors.Quiet())
	url := behindPort(t, handler)
	data := filepath.Join(t.TempDir(), "shop.json")
	got := conform(t, withToken, "-credentials", key, "-describe", data, url)
	require.Equal(t, result{code: check.ExitPass}, got)
	body := testkit.Must(os.ReadFile(data))(t)
	require.NotContains(t, string(body), secret)
	require.NotContains(t, string(body), "\u202e")
	require.Contains(t, string(body), `"help": "Such as`)
	got = conform(t, withToken, "-credentials", key, "-diff", data, url)
	require.Equal(t, result{code: check.ExitPass, out: "nothing changed\n"}, got)
}

// TestDescribeRefused asks for what cannot be described.
func TestDescribeRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		name := filepath.Join(dir, "old.json")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	url := behindPort(t, described(t, memsource.Table{Table: wire.Table{Name: "t", Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber}}}}))
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-describe", "tables.txt"}, "-describe tables.txt: the extension tells the form: .md or .json"},
		{[]string{"-describe", filepath.Join(dir, "missing", "a.md")}, "-describe: open"},
		{[]string{"-diff", filepath.Join(dir, "missing.json")}, "-diff: open"},
		{[]string{"-diff", file(`{"tables":[]}`)}, "not a file that -describe wrote as JSON"},
	} {
		got := conform(t, withToken, append(c.args, url)...)
		require.Equal(t, check.ExitNotRun, got.code, c.says)
		require.Contains(t, got.err, c.says)
		require.Empty(t, got.out)
	}
	got := conform(t, withToken, "-diff", file(`{"document":{"slug":1},"discovery":{"tables":[]}}`), url)
	require.Contains(t, got.err, "wrote as JSON: document:")
	got = conform(t, withToken, "-describe", filepath.Join(dir, "a.md"), "http://127.0.0.1:1")
	require.Equal(t, check.ExitNotRun, got.code)
	require.NoFileExists(t, filepath.Join(dir, "a.md"), "nothing is written of a connector that is not reached")
}
