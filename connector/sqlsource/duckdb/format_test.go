package duckdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestFormats serves files of offices: how they are written is said by an option or a
// sidecar, and is never guessed.
func TestFormats(t *testing.T) {
	office := &duckdb.FolderOptions{Format: filesource.Format{
		Separator: ";", Encoding: "windows-1252", DecimalComma: true, DateFormat: "DD.MM.YYYY",
		Types: map[string]wire.Type{"zip": wire.TypeString, "open": wire.TypeBoolean},
	}}
	for name, c := range map[string]lakeCase{
		"by the option": {
			why:     "an office's folder: all of it is stated once",
			files:   map[string]string{"t.csv": "zip;a;b;c;open\n12345;\x80 M\xfcller;1234,50;31.12.2024;1\n1;x;2;1.1.2025;0\n"},
			options: office,
			fields:  "zip string, a string, b decimal, c string, open boolean",
			rows:    "12345|€ Müller|1234.50|31.12.2024|true\n1|x|2.00|1.1.2025|false",
		},
		"dates by the option": {
			why:     "dates of one form are dates",
			files:   map[string]string{"t.csv": "c\n31.12.2024\n01.02.2025\n"},
			options: office, fields: "c date", rows: "2024-12-31\n2025-02-01",
		},
		"by a sidecar": {
			why: "a sidecar goes before the folder, and describes",
			files: map[string]string{
				"t.csv": "n,d\n+49,2\n007,1e3\n",
				"t.table.json": `{"description":"Calls.","separator":",","columns":{"n":{"type":"number","description":"Whom."},` +
					`"d":{"type":"decimal"}}}`,
			},
			options: office, fields: "n number, d decimal", rows: "49|2\n7|1000",
		},
		"of a sub-folder": {
			why: "a sidecar beside a sub-folder is of all its files",
			files: map[string]string{
				"t/1.csv": "n|d\n1|x\n", "t/2.csv": "n|d\n2|y\n", "t.table.json": `{"separator":"|","columns":{"n":{"type":"reference"}}}`,
			},
			fields: "n reference, d string", rows: "1|x\n2|y",
		},
		"a cell that does not fit": {
			why: "the author is told where, and nothing is cast",
			files: map[string]string{
				"t.csv": "n\n1\nn/a\n3\n", "t.table.json": `{"columns":{"n":{"type":"number"}}}`,
			},
			fields: "n string", rows: "1\nn/a\n3", warns: []string{`column "n" is not served as number: t.csv line 3 does not fit`},
		},
		"keys": {
			why:    "what a sidecar says beyond, is said not to count",
			files:  map[string]string{"t.csv": "n\n1\n", "t.table.json": `{"primaryKey":["n"],"columns":{"n":{"name":"m"}}}`},
			fields: "n number", warns: []string{"t.table.json: keys are not declared", `column "n": name and samples are not applied`},
		},
		"a sidecar that is wrong": {
			why:    "nothing of it is applied, and its line is named",
			files:  map[string]string{"t.csv": "n\n1\n", "t.table.json": "{\n\"separater\":\";\"}"},
			fields: "n number", rows: "1", warns: []string{`t.table.json line 2: "separater": no such member`},
		},
		"a sidecar of nothing": {
			why:    "is named",
			files:  map[string]string{"t.csv": "n\n1\n", "u.table.json": "{}"},
			fields: "n number", warns: []string{"u.table.json is left out: it describes no table that is served"},
		},
		"beyond the budget": {
			why:     "columns of a file that is not read for its types are strings, and discovery says so",
			files:   map[string]string{"t.csv": "n,d\n1,2024-01-31\n#2,\n"},
			options: &duckdb.FolderOptions{TypeBudget: 20},
			fields:  "n string, d string", rows: "1|2024-01-31\n#2|~",
			warns: []string{"t: its columns are strings: its files have more than the 20 bytes", "t.table.json"},
		},
		"beyond the budget, declared": {
			why: "who declares a type wants it, whatever it costs",
			files: map[string]string{
				"t.csv": "n,d\n1,2024-01-31\n2,\n", "t.table.json": `{"columns":{"n":{"type":"number"}}}`,
			},
			options: &duckdb.FolderOptions{TypeBudget: -1},
			fields:  "n number, d date", rows: "1|2024-01-31\n2|~",
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
	_, err := duckdb.Folder(t.TempDir(), &duckdb.FolderOptions{Format: filesource.Format{Encoding: "latin"}})
	require.ErrorContains(t, err, "duckdb: format: Encoding must be one of")
}

// TestLongCells reads cells that are longer than what the engine takes for a line.
func TestLongCells(t *testing.T) {
	for _, size := range []int{100, 2_100_000, 9_000_000} {
		c := lakeCase{files: map[string]string{"t.csv": "n,s\n1," + strings.Repeat("x", size) + "\n2,y\n"}}
		tenant := serve(t, c.write(t), nil).As(nil).In(t)
		rows := rowsOf(t, tenant, []string{"n", "s"})
		require.Equal(t, "1|"+strings.Repeat("x", size)+"\n2|y", rows)
	}
}

// TestUnread asks for tables that cannot be read: the answer names the file, the line and
// the cure, and quotes no cell.
func TestUnread(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		options *duckdb.FolderOptions
		says    []string
	}{
		"Latin-1":               {"a,b\n1,x\n2,M\xfcller\n", nil, []string{"t.csv line 3: cell 2 is not valid UTF-8", "state its encoding"}},
		"a short line":          {"a,b\n1,secret\nsecret\n", nil, []string{"t.csv line 3: 1 cells where the header has 2"}},
		"a short line, unread":  {"a,b\n1,secret\nsecret\n", &duckdb.FolderOptions{TypeBudget: -1}, []string{"t.csv line 3"}},
		"Latin-1, unread":       {"a,b\n1,x\n2,M\xfcsecret\n", &duckdb.FolderOptions{TypeBudget: -1}, []string{"t.csv line 3", "UTF-8"}},
		"a quote, unread":       {"a,b\n1,x\n2,\"secret\n", &duckdb.FolderOptions{TypeBudget: -1}, []string{"t.csv line 3"}},
		"semicolons, unread":    {"a;b\n1;x\nsecret\n", &duckdb.FolderOptions{TypeBudget: -1}, []string{"t.csv line 3"}},
		"another code, unread":  {"a,b\n1,x\n2,\x81secret\n", &duckdb.FolderOptions{TypeBudget: -1, Format: filesource.Format{Encoding: "windows-1252"}}, []string{"t.csv line 3"}},
		"a short line, encoded": {"a,b\n1,x\nsecret\n", &duckdb.FolderOptions{TypeBudget: -1, Format: filesource.Format{Encoding: "windows-1252"}}, []string{"t.csv line 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tenant := serve(t, (&lakeCase{files: map[string]string{"t.csv": c.content}}).write(t), c.options).As(nil).In(t).Unverified()
			_, err := tenant.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"a", "b"}})
			require.Error(t, err)
			for _, text := range c.says {
				require.ErrorContains(t, err, text)
			}
			require.NotContains(t, err.Error(), "secret")
			d, err := tenant.Discover()
			require.NoError(t, err)
			for _, text := range c.says {
				require.Contains(t, fmt.Sprint(d.Warnings), text)
			}
			require.NotContains(t, fmt.Sprint(d.Warnings), "secret")
		})
	}
}

// TestFresh replaces a file again and again by one of the same size, at once: its types
// are those of what is there.
func TestFresh(t *testing.T) {
	dir := t.TempDir()
	tenant := serve(t, dir, nil).As(nil).In(t).Unverified()
	for i, content := range []string{"n\n1.5\n", "n\n007\n", "n\n1e5\n", "n\n1.7\n", "n\nabc\n"} {
		file := filepath.Join(dir, "t.csv")
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		now := time.Now().Truncate(time.Second)
		require.NoError(t, os.Chtimes(file, now, now))
		answer, err := tenant.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"n"}})
		require.NoError(t, err, i)
		require.Len(t, answer.Rows, 1)
		require.Equal(t, content[2:5], string(answer.Rows[0][0].AppendText(nil)))
	}
	_, err := tenant.Query(wire.QueryRequest{Table: "u", Sort: []wire.SortKey{}, Fields: []string{"n"}})
	require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
}
