package corpus

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestDigest checks that changed data have a new version.
func TestDigest(t *testing.T) {
	raw := testkit.Must(os.ReadFile("testdata/digests.txt"))(t)
	known := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		version, digest, ok := strings.Cut(strings.TrimSpace(line), " ")
		require.True(t, ok, line)
		require.NotContains(t, known, version, "a version has one digest for ever")
		known[version] = digest
	}
	manifest := whole()[0].Rows[0]
	version, stated := manifest[1].Text(), manifest[2].Text()
	require.Equal(t, stated, digest(whole()[1:]), "the data differ from those of version %s: "+
		"write another version and their digest into data/conformance_manifest.json, and add both to testdata/digests.txt", version)
	require.Equal(t, known[version], stated, "the manifest states the digest of its version")
}

// TestTablesAreFresh checks that a caller cannot change the corpus.
func TestTablesAreFresh(t *testing.T) {
	before := digest(whole()[1:])
	tables := Tables()
	for i := range tables {
		for _, row := range tables[i].Rows {
			clear(row)
		}
		clear(tables[i].Fields)
	}
	require.Equal(t, before, digest(whole()[1:]))
	for _, table := range Tables() {
		require.NotEqual(t, "slow", table.Name, "the slow table is no part of the corpus")
	}
	require.Equal(t, "slow", Slow().Name)
}

// TestWrittenJSON reads the JSON files back: the description and every cell.
func TestWrittenJSON(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir))
	for _, table := range Tables() {
		raw := testkit.Must(os.ReadFile(filepath.Join(dir, "json", table.Name+".json")))(t)
		var file struct {
			Table json.RawMessage         `json:"table"`
			Rows  []map[string]wire.Value `json:"rows"`
		}
		require.NoError(t, json.Unmarshal(raw, &file), table.Name)
		var discovery wire.Discovery
		require.NoError(t, wire.Decode([]byte(`{"tables":[`+string(file.Table)+`]}`), &discovery), table.Name)
		require.Equal(t, table.PrimaryKey, discovery.Tables[0].PrimaryKey)
		require.Equal(t, table.Columns(), discovery.Tables[0].Columns())
		require.Len(t, file.Rows, len(table.Rows))
		for n, row := range table.Rows {
			for i, v := range row {
				require.Equal(t, v.String(), file.Rows[n][table.Fields[i].Name].String(), "%s, rows[%d], %s", table.Name, n, table.Fields[i].Name)
				require.Equal(t, v.IsNull(), file.Rows[n][table.Fields[i].Name].IsNull())
			}
		}
	}
}

// TestWrittenCSV reads the CSV files back.
func TestWrittenCSV(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir))
	for _, table := range Tables() {
		raw, err := os.ReadFile(filepath.Join(dir, "csv", table.Name+".csv"))
		require.NoError(t, err)
		// The reader changes \r\n to \n even inside quotes.
		const crlf = "\ue000"
		records, err := csv.NewReader(strings.NewReader(strings.ReplaceAll(string(raw), "\r\n", crlf))).ReadAll()
		require.NoError(t, err, table.Name)
		require.Len(t, records, len(table.Rows)+1, table.Name)
		for n, row := range table.Rows {
			for i, v := range row {
				got := strings.ReplaceAll(records[n+1][i], crlf, "\r\n")
				if v.IsNull() {
					require.Empty(t, got)
					continue
				}
				require.Equal(t, v.String(), got, "%s, rows[%d], %s", table.Name, n, table.Fields[i].Name)
			}
		}
	}
	raw := testkit.Must(os.ReadFile(filepath.Join(dir, "csv", "customers.csv")))(t)
	require.Contains(t, string(raw), "\n10,\"Ink\",\"ink@example.com\",,false,7,2021-05-05\n", "a null is nothing")
	require.Contains(t, string(raw), "\n12,\"Kiosk\",\"kiosk@example.com\",\"\",false,,2021-09-30\n", "an empty text is not")
}

// TestReadme checks that every table and every column is explained.
func TestReadme(t *testing.T) {
	readme := string(asReadme(Tables()))
	for _, table := range append(Tables(), Slow()) {
		assert.Contains(t, readme, "\n### "+table.Name)
		for _, f := range table.Fields {
			assert.Contains(t, readme, "\n| "+f.Name+" | "+string(f.Type)+" | ", table.Name)
			assert.Contains(t, readme, f.SourceDescription)
		}
	}
	for _, d := range dialects {
		assert.Contains(t, readme, d.load)
	}
}

// TestWriteSaysWhatIsWrong checks that the error names a folder that cannot be
// created.
func TestWriteSaysWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, Write(file), file)
}

// digest returns the SHA-256 of the content of tables in hexadecimal digits, as in the
// manifest. Two corpora with one digest have the same tables with the same descriptions
// and the same rows in the same order.
//
// The hash is over lines, each followed by a line feed: for every table except
// the manifest, its description as discovery answers it, then each row as a JSON
// array of its cells as on the wire. The cases are not part of it.
func digest(tables []Table) string {
	sum := sha256.New()
	rows := json.NewEncoder(sum)
	for _, t := range tables {
		description, err := wire.EncodeAnswer(&wire.Discovery{Tables: []wire.Table{t.Table}})
		sum.Write(append(description, '\n'))
		for _, row := range t.Rows {
			err = errors.Join(err, rows.Encode(row))
		}
		if err != nil {
			panic(fmt.Errorf("corpus: table %s: %w", t.Name, err))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
