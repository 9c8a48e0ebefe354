package duckdb_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// spellings are cells that some reader takes for something else.
var spellings = [][]string{
	{"0", "1", "-1", "42", "1000000"},
	{"9223372036854775807", "-9223372036854775808", "9223372036854775808", "12345678901234567890123456789012345678"},
	{strings.Repeat("9", 39), strings.Repeat("8", 50)},
	{"1.5", "-0.25", "10.250", "0.00", "-0.0", "12345678901234567.89"},
	{"0." + strings.Repeat("0", 30) + "1", strings.Repeat("7", 20) + ".5"},
	{"007", "+49", "1e3", "1_000", "1,000", " 1", "1 ", ".5", "5.", "0x10", "1d", "∞", "NaN", "inf", "-", "--1", "1-1"},
	{"true", "false", "TRUE", "False"}, {"t", "yes", "1", "0", "T"},
	{"2024-02-29", "0001-01-01", "9999-12-31", "1969-12-31"}, {"0000-01-01", "2023-02-29", "2024-2-9", "20240229", "01/02/2024"},
	{"2024-02-29T10:00:00", "2024-02-29 10:00:00Z", "2024-02-29T10:00:00.5", "1677-01-01T00:00:00"},
	{"2024-02-29T10:00:00.123456", "2024-02-29T10:00:00.123456789", "2024-02-29T10:00", "2024-02-29 10:00+02:00"},
	{"2024-02-29T10:00:00+05:30", "2024-02-29T23:59:59.25-12:00", "2024-02-29T24:00:00", "2024-02-29T10:00:60Z"},
	{"12:30", "12:30:00", "25:00"}, {"[1, 2.50]", "[]", `["a"]`}, {`{"a":1.50}`, "{}"}, {"{a:1}", "[1", "null", "NULL"},
	{"a", "Ä", "😀", "a\"b", "'", "\\", "\\N", "a,b", "a;b", "x\ny", "x\r\ny", "#1", "-- x", "\t", "a\x00b", "\u2028"},
	{"00000000-0000-0000-0000-000000000001", "BBD05AE7000000000000000000000000"},
}

// TestAgreesWithFilesource writes generated cells as CSV and as NDJSON, in one file and in
// several, and reads them by the lake and by filesource: each table has the same columns,
// and each cell the same value. A column whose spellings the engine cannot hold is a
// string to the lake, with the same text.
func TestAgreesWithFilesource(t *testing.T) {
	folders, _ := strconv.Atoi(os.Getenv("LAKE_FOLDERS"))
	seed, _ := strconv.ParseUint(os.Getenv("LAKE_SEED"), 10, 64)
	folders, compared := max(folders, 20), 0
	for n := range folders {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		columns, rows := 1+r.IntN(5), 1+r.IntN(40)
		cells := make([][]string, rows)
		kinds := make([][]string, columns)
		for i := range kinds {
			for range 1 + r.IntN(2)*r.IntN(3) {
				kinds[i] = append(kinds[i], spellings[r.IntN(len(spellings))]...)
			}
		}
		for i := range cells {
			for _, kind := range kinds {
				cell := kind[r.IntN(len(kind))]
				if r.IntN(8) == 0 {
					cell = ""
				}
				cells[i] = append(cells[i], cell)
			}
		}
		compared += compareReaders(t, fmt.Sprintf("LAKE_SEED=%d, folder %d", seed, n), r, cells)
	}
	require.Greater(t, compared, folders, "too few tables are served")
}

// compareReaders returns how many of the two tables are served.
func compareReaders(t *testing.T, name string, r *rand.Rand, cells [][]string) (compared int) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	require.NoError(t, os.MkdirAll(own, 0o755))
	csv := func(rows [][]string) string { return csvText(len(cells[0]), rows) }
	objects := ndjsonText(r, cells)
	cut := r.IntN(len(cells) + 1)
	lines := strings.SplitAfter(objects, "\n")
	for file, content := range map[string]string{
		"own/c.csv": csv(cells), "own/j.ndjson": objects,
		"own/cs/1.csv": csv(cells[:cut]), "own/cs/2.csv": csv(cells[cut:]),
		"own/js/1.json": strings.Join(lines[:cut], ""), "own/js/2.json": strings.Join(lines[cut:], ""),
		"files/x/c.csv": csv(cells), "files/x/j.ndjson": objects,
	} {
		file = filepath.Join(dir, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	source := testkit.Must(filesource.Open(filepath.Join(dir, "files"), nil))(t)
	defer func() { _ = source.Close() }()
	files := connectortest.Start(t, connector.Definition{Slug: "files", Credentials: filesource.Credentials()}, source, nil).
		As(map[string]string{"tenant": "x"}).In(t)
	lake := serve(t, own, nil).As(nil).In(t)
	theirs := testkit.Must(files.Discover())(t, name)
	ours := testkit.Must(lake.Discover())(t, name)
	for table, same := range map[string][]string{"c": {"c", "cs"}, "j": {"j", "js"}} {
		want := contentOf(t, files, theirs, table, name)
		for _, table := range same {
			compareContent(t, name+", table "+table, want, contentOf(t, lake, ours, table, name))
		}
		if want != nil {
			compared++
		}
	}
	return compared
}

// content is a table as it is served.
type content struct {
	table *wire.Table
	rows  [][]wire.Value
}

func contentOf(t *testing.T, tenant *connectortest.Tenant, d *wire.Discovery, table, name string) *content {
	for i := range d.Tables {
		if d.Tables[i].Name != table {
			continue
		}
		var fields []string
		for _, f := range d.Tables[i].Fields {
			fields = append(fields, f.Name)
		}
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: table, Sort: []wire.SortKey{}, Fields: fields}))(t, name)
		return &content{&d.Tables[i], answer.Rows}
	}
	return nil
}

func compareContent(t *testing.T, name string, want, got *content) {
	t.Helper()
	if want == nil {
		require.Nil(t, got, "%s is served, and not by filesource", name)
		return
	}
	require.NotNil(t, got, "%s is not served, but by filesource", name)
	require.Len(t, got.rows, len(want.rows), name)
	for c, f := range want.table.Fields {
		at := -1
		for i := range got.table.Fields {
			if got.table.Fields[i].Name == f.Name {
				at = i
			}
		}
		require.GreaterOrEqual(t, at, 0, "%s: column %s", name, f.Name)
		typ := got.table.Fields[at].Type
		for i := range want.rows {
			a, b := want.rows[i][c], got.rows[i][at]
			require.Equal(t, a.IsNull(), b.IsNull(), "%s: column %s, row %d", name, f.Name, i)
			wanted, found := a.String(), b.String()
			if typ != wire.TypeString {
				require.Equal(t, normal(wanted), normal(found), "%s: column %s, %s to filesource and %s to the lake, row %d", name, f.Name, f.Type, typ, i)
			} else if f.Type == wire.TypeString {
				require.Equal(t, wanted, found, "%s: column %s, row %d", name, f.Name, i)
			}
		}
	}
}

// normal returns a number without what does not count, and any other text as it is.
func normal(text string) string {
	if !terms.IsDecimal(text) {
		return text
	}
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

func csvText(columns int, rows [][]string) string {
	var b strings.Builder
	for c := range columns {
		if c > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "c%d", c)
	}
	b.WriteByte('\n')
	for _, row := range rows {
		for c, cell := range row {
			if c > 0 {
				b.WriteByte(',')
			}
			if strings.ContainsAny(cell, "\",\r\n\x00") || cell == "" && columns == 1 {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			b.WriteString(cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ndjsonText writes cells as JSON: those that are JSON as it, sometimes, and others as
// texts.
func ndjsonText(r *rand.Rand, rows [][]string) string {
	var b strings.Builder
	quotedColumns := r.IntN(4)
	for _, row := range rows {
		b.WriteByte('{')
		first := true
		for c, cell := range row {
			if cell == "" && r.IntN(2) == 0 {
				continue
			}
			value := cell
			if !json.Valid([]byte(cell)) || c == quotedColumns {
				text, _ := json.Marshal(cell)
				value = string(text)
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			fmt.Fprintf(&b, `"c%d":%s`, c, value)
		}
		b.WriteString("}\n")
	}
	return b.String()
}
