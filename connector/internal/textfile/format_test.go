package textfile

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestDecode reads the texts of testdata/encodings.tsv, and long ones.
func TestDecode(t *testing.T) {
	long := strings.Repeat("né,😀\n€,日本\n", 3000) // characters across the ends of the buffers
	units := utf16.Encode([]rune("\ufeff" + long))
	little := testkit.Must(binary.Append(nil, binary.LittleEndian, units))(t)
	big := testkit.Must(binary.Append(nil, binary.BigEndian, units))(t)
	for _, c := range append(testkit.Table(t, "testdata/encodings.tsv", 5),
		[]string{"UTF-16 by its byte-order mark", strconv.Quote(string(little)), "", strconv.Quote(long), "utf-16le"},
		[]string{"with the other order", strconv.Quote(string(big)), "utf-16", strconv.Quote(long), "utf-16be"},
	) {
		why, in, want := c[0], testkit.Must(strconv.Unquote(c[1]))(t), testkit.Must(strconv.Unquote(c[3]))(t)
		for _, from := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)),
			iotest.DataErrReader(strings.NewReader(in))} {
			r, encoding, marked, err := Decode(from, c[2])
			require.NoError(t, err, why)
			require.Equal(t, want, string(testkit.Must(io.ReadAll(r))(t, why)), why)
			require.Equal(t, c[4], encoding, why)
			require.Equal(t, strings.HasPrefix(in, bom) || strings.HasPrefix(in, "\xff\xfe") || strings.HasPrefix(in, "\xfe\xff"),
				marked, why)
		}
	}
}

// TestCodePages holds each table to its size: 128 characters, of which none is there twice.
func TestCodePages(t *testing.T) {
	undefined := map[string]int{"iso-8859-1": 32, "iso-8859-15": 32, "windows-1250": 5, "windows-1251": 1, "windows-1252": 5}
	for name, page := range codePages {
		seen := map[string]bool{}
		for _, c := range page {
			if c != "" {
				assert.False(t, seen[c], "%s: %q", name, c)
				seen[c] = true
			}
		}
		assert.Len(t, seen, 256-undefined[name], name)
	}
}

// TestDecodeFails reads what stands in testdata/undecodable.tsv.
func TestDecodeFails(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/undecodable.tsv", 5) {
		r, _, _, err := Decode(strings.NewReader(testkit.Must(strconv.Unquote(c[1]))(t)), c[2])
		if err == nil {
			_, err = io.ReadAll(r)
		}
		var wrong *Undecodable
		require.ErrorAs(t, err, &wrong, c[0])
		assert.Equal(t, Undecodable{testkit.Must(strconv.Atoi(c[3]))(t), c[4]}, *wrong, c[0])
	}
	_, _, _, err := Decode(strings.NewReader("a"), "ebcdic")
	require.EqualError(t, err, `textfile: unknown encoding "ebcdic"`)
	broken := errors.New("input/output error")
	for _, before := range []string{"", "abc", "abcdef"} {
		for _, stated := range []string{"", "windows-1252", "utf-16le"} {
			r, _, _, err := Decode(io.MultiReader(strings.NewReader(before), iotest.ErrReader(broken)), stated)
			if err == nil {
				_, err = io.ReadAll(r)
			}
			assert.ErrorIs(t, err, broken, "the disk's own errors stay what they are")
		}
	}
}

// formatOf returns the format that a file of testdata states.
func formatOf(t *testing.T, text string) (f Format) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &f))
	return f
}

// TestFormats reads the small files of testdata/formats.tsv.
func TestFormats(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/formats.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			format := testkit.Must(formatOf(t, c[3]).Of(c[1], nil).Checked())(t)
			all := testkit.Must(Open(c[1], strings.NewReader(testkit.Must(strconv.Unquote(c[2]))(t)), format, nil))(t)
			cells := testkit.Must(all.Next())(t)
			assert.Equal(t, []string{"a", "b"}, all.Names())
			assert.Equal(t, []string{"1", "x"}, []string{cells[0].Text, cells[1].Text})
			assert.Equal(t, c[4], strings.Join(all.Notes(), " | "))
			assert.Equal(t, io.EOF, drain(all, nil))
		})
	}
}

// TestDialect tells which files another reader reads alike.
func TestDialect(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/dialects.tsv", 4) {
		in := testkit.Must(strconv.Unquote(c[1]))(t)
		separator, plain := Dialect(testkit.Must(Open(c[0], strings.NewReader(in), Format{}, nil))(t))
		assert.Equal(t, c[2], strings.Trim(string(separator), "\x00"), in)
		assert.Equal(t, c[3], fmt.Sprint(plain), in)
	}
}

// TestFormatFaults reads the files of testdata/misread.tsv.
func TestFormatFaults(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/misread.tsv", 4) {
		in := testkit.Must(strconv.Unquote(c[1]))(t)
		assert.EqualError(t, drain(Open("t.csv", strings.NewReader(in), formatOf(t, c[2]), nil)), c[3], c[0])
	}
	testkit.Must(Open("t.ndjson", strings.NewReader(""), Format{}, nil))(t)
	lines := strings.NewReader("{\"a\":1}\n{\"a\":1}\n{\"a\":\"\x81\"}\n")
	assert.EqualError(t, drain(Open("t.ndjson", lines, Format{Encoding: "windows-1252"}, nil)),
		"t.ndjson line 3: has the byte 0x81, which is no character in windows-1252; state the encoding that the file has")
}

func TestFormatIsChecked(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/unchecked.tsv", 3) {
		_, err := formatOf(t, c[1]).Checked()
		assert.EqualError(t, err, c[2], c[0])
	}
	_, err := Format{Separator: "\xff"}.Checked()
	assert.EqualError(t, err, "format: Separator cannot be this character", "no character")
	_, err = Format{DateFormat: "DD.MM"}.Checked()
	assert.ErrorContains(t, err, "format: DateFormat must name a day")
	checked := testkit.Must(formatOf(t, `{"Types":{"zip":"string"},"DecimalComma":true,"DateFormat":"D.M.YYYY"}`).Checked())(t)
	assert.Equal(t, textvalue.Rules{HandWritten: true, DecimalComma: true, DateFormat: "D.M.YYYY"}, checked.Rules())
	for name, encoding := range map[string]string{"Latin1": "iso-8859-1", "LATIN-1": "iso-8859-1",
		"ISO_8859-1": "iso-8859-1", "CP1252": "windows-1252",
		"UTF8": "utf-8", "UTF-16LE": "utf-16le", "UTF_16_LE": "utf-16le"} {
		f := testkit.Must(Format{Encoding: name, DateFormat: "D.M.YYYY"}.Checked())(t, name)
		assert.Equal(t, encoding, f.Encoding, name)
	}
}

// TestFormatOf lays what a sidecar states over what is stated of the folder.
func TestFormatOf(t *testing.T) {
	folder := Format{Separator: ";", Encoding: "windows-1252", DecimalComma: true, DateFormat: "DD.MM.YYYY",
		Types: map[string]wire.Type{"zip": wire.TypeString, "no": wire.TypeString}}
	assert.Equal(t, folder, folder.Of("t.csv", nil))
	side, err := ParseSidecar("t.table.json", []byte(`{"separator":"|","encoding":"Latin-1","decimalComma":false,"dateFormat":"M/D/YYYY",`+
		`"columns":{"no":{"type":"number"},"zip":{}}}`))
	require.NoError(t, err)
	assert.Equal(t, Format{"|", "iso-8859-1", false, "M/D/YYYY", map[string]wire.Type{"zip": wire.TypeString, "no": wire.TypeNumber}},
		folder.Of("t.csv", side))
	assert.Equal(t, wire.TypeString, folder.Types["no"], "the folder's own stays")
	side = testkit.Must(ParseSidecar("t.table.json", []byte(`{}`)))(t)
	assert.Equal(t, folder, folder.Of("t.csv", side))
}

func TestParseSidecar(t *testing.T) {
	s, err := ParseSidecar("t.table.json", []byte(bom+`{
		"description": "d",
		"columns": {"Cust No": {"name": "customer", "type": "reference", "description": "c", "samples": false}, "b": {}},
		"primaryKey": ["id", "line"],
		"unique": ["b"],
		"foreignKeys": [{"field": "customer", "targetTable": "customers", "targetField": "id"},
			{"field": "b", "targetTable": "customers", "targetField": "id"}]
	}`))
	require.NoError(t, err)
	assert.Equal(t, &Sidecar{
		File: "t.table.json", Description: "d",
		Columns: map[string]SidecarColumn{
			"Cust No": {Name: "customer", Type: wire.TypeReference, Description: "c", Samples: new(bool)},
			"b":       {},
		},
		PrimaryKey: []string{"id", "line"}, Unique: []string{"b"},
		ForeignKeys: []wire.ForeignKey{{Field: "customer", TargetTable: "customers", TargetField: "id"},
			{Field: "b", TargetTable: "customers", TargetField: "id"}},
	}, s)
	s = testkit.Must(ParseSidecar("t.table.json", []byte(`{}`)))(t, "a sidecar may say nothing")
	assert.Empty(t, s.Columns)
}

func FuzzSidecar(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"description":"d","columns":{"a":{"name":"b","type":"number","samples":false}},"primaryKey":["b"],"unique":[],` +
			`"foreignKeys":[{"field":"a","targetTable":"b","targetField":"c"}]}`,
		`{"columns":{"a":{"type":"x"}}}`, "{\n\"a\"", `{"primaryKey":[""]}`, `[`, "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		s, err := ParseSidecar("f", []byte(content))
		if err != nil {
			var fault *Fault
			require.ErrorAs(t, err, &fault)
			require.Positive(t, fault.Line)
			return
		}
		for _, c := range s.Columns {
			require.True(t, c.Type == "" || terms.IsType(c.Type))
		}
	})
}
