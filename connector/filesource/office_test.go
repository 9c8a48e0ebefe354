package filesource

import (
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestAnOfficesFolder serves the files that the programs of an office write. Each is
// read as it is meant, or left out by name with a cure, and nothing of it is guessed.
func TestAnOfficesFolder(t *testing.T) {
	for _, c := range testkit.Cases[struct {
		Why, File, Content string
		Encoded            string // in UTF-16, or with a byte for each letter; by default in UTF-8
		Sidecar            json.RawMessage
		Columns            string // names and types
		Rows               json.RawMessage
		Warnings           []string
	}](t, "testdata/office.json") {
		t.Run(c.Why, func(t *testing.T) {
			content := []byte(c.Content)
			switch c.Encoded {
			case "utf-16le":
				content = testkit.Must(binary.Append(nil, binary.LittleEndian, utf16.Encode([]rune("\ufeff"+c.Content))))(t)
			case "bytes":
				content = content[:0]
				for _, letter := range c.Content {
					content = append(content, byte(letter))
				}
			default:
				require.Empty(t, c.Encoded)
			}
			files := map[string]string{
				"acme/" + c.File: string(content), "acme/~$" + c.File: "\x05lock", "acme/.~lock." + c.File + "#": "lock",
			}
			table, _, _ := strings.Cut(c.File, ".")
			if c.Sidecar != nil {
				files["acme/"+table+".table.json"] = string(c.Sidecar)
			}
			s, _ := inMemory(t, files)
			d := discovered(t, s, "acme")
			assert.Equal(t, c.Warnings, d.Warnings)
			if c.Columns == "" {
				require.Empty(t, d.Tables)
				return
			}
			require.Len(t, d.Tables, 1)
			var columns, names []string
			for _, f := range d.Tables[0].Fields {
				columns = append(columns, f.Name+" "+string(f.Type))
				names = append(names, `"`+f.Name+`"`)
			}
			assert.Equal(t, c.Columns, strings.Join(columns, ", "))
			rows := rowsOf(t, s, "acme", `"table":"`+table+`","and":[],"sort":[],"fields":[`+strings.Join(names, ",")+`]`)
			assert.Equal(t, compact(t, c.Rows), "["+strings.Join(rows, ",")+"]")
		})
	}
}

// TestTheFolderStatesTheFormat takes what is stated of a whole folder for every file,
// unless the file's own sidecar states something else.
func TestTheFolderStatesTheFormat(t *testing.T) {
	src, err := FS(mapFS(map[string]string{
		"acme/a.csv": "plz;wert;tag\n1;1,5;31.12.2024\n", "acme/b.csv": "plz,wert\n01,1.5\n",
		"acme/c.tsv": "plz\twert\n1\t\xfc\n", "acme/d.csv": "plz,wert\n1,2\n",
		"acme/b.table.json": `{"separator": ",", "decimalComma": false, "columns": {"plz": {"type": "number"}}}`,
	}), &Options{Logger: slog.New(slog.DiscardHandler), Format: Format{
		Separator: ";", Encoding: "cp1252", DecimalComma: true, DateFormat: "DD.MM.YYYY",
		Types: map[string]wire.Type{"plz": wire.TypeString, "wert": wire.TypeDecimal},
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, src.Close()) }()
	d := discovered(t, connectortest.Start(t, definition, src, nil), "acme")
	var tables []string
	for _, table := range d.Tables {
		for _, f := range table.Fields {
			tables = append(tables, table.Name+"."+f.Name+" "+string(f.Type))
		}
	}
	assert.Equal(t, []string{"a.plz string", "a.wert decimal", "a.tag date", "b.plz number", "b.wert decimal",
		"c.plz string", "c.wert string"}, tables)
	assert.Equal(t, []string{
		`d.csv line 1: the header has commas, and none of the stated separator ";"; state the separator of this file; the file is left out`,
		`c.tsv: column "wert" is served as string and not as decimal: c.tsv line 2 does not fit`,
	}, d.Warnings)
	_, err = FS(mapFS(nil), &Options{Format: Format{Encoding: "ansi"}})
	assert.ErrorContains(t, err, "filesource: format: Encoding must be one of utf-8, ")
	_, err = Open(t.TempDir(), &Options{Format: Format{Separator: "::"}})
	assert.ErrorContains(t, err, "filesource: format: Separator must be one character")
	_, err = Admit(t.TempDir(), &Options{Format: Format{DateFormat: "DD.MM"}})
	assert.ErrorContains(t, err, "filesource: format: DateFormat must name a day")
}
