package textfile

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// utf16Text returns a text in UTF-16.
func utf16Text(text string, bigEndian bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if bigEndian {
			b.Write([]byte{byte(unit >> 8), byte(unit)})
		} else {
			b.Write([]byte{byte(unit), byte(unit >> 8)})
		}
	}
	return b.String()
}

func TestDecode(t *testing.T) {
	const text = "né,😀\n€,日本\n"
	long := strings.Repeat(text, 3000) // characters across the ends of the buffers
	for _, c := range []struct{ why, in, stated, want, encoding string }{
		{"nothing stated is UTF-8", text, "", text, "utf-8"},
		{"its byte-order mark is no text", bom + text, "", text, "utf-8"},
		{"UTF-16 by its byte-order mark", "\xff\xfe" + utf16Text(long, false), "", long, "utf-16le"},
		{"with the other order", "\xfe\xff" + utf16Text(long, true), "utf-16", long, "utf-16be"},
		{"without a mark the order is stated", utf16Text(text, true), "utf-16be", text, "utf-16be"},
		{"a mark goes before what is stated", bom + text, "windows-1252", text, "utf-8"},
		{"Windows has a euro where Latin-1 has none", "caf\xe9 \x80\x99", "windows-1252", "café €™", "windows-1252"},
		{"Latin-1", "caf\xe9 \xa4\xa0", "iso-8859-1", "café ¤\u00a0", "iso-8859-1"},
		{"Latin-9", "\xa4\xa6\xbe\xe9", "iso-8859-15", "€ŠŸé", "iso-8859-15"},
		{"Central Europe", "\x8c\xb3\xf8", "windows-1250", "Śłř", "windows-1250"},
		{"Cyrillic", "\xcf\xf0\xe8\xb9", "windows-1251", "При№", "windows-1251"},
		{"Excel's CSV (MS-DOS)", "\x81\x84\x94\xe1", "ibm850", "üäöß", "ibm850"},
		{"Excel's CSV (Macintosh)", "\x9f\x8a\xdb\xf0", "macintosh", "üä€\uf8ff", "macintosh"},
		{"ASCII and the last of a page", "\x7f\x80\xff", "windows-1252", "\x7f€ÿ", "windows-1252"},
		{"nothing", "", "windows-1252", "", "windows-1252"},
		{"less than a mark", "\xff", "windows-1252", "ÿ", "windows-1252"},
	} {
		for _, from := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)),
			iotest.DataErrReader(strings.NewReader(c.in))} {
			r, encoding, marked, err := Decode(from, c.stated)
			require.NoError(t, err, c.why)
			got := testkit.Must(io.ReadAll(r))(t, c.why)
			require.Equal(t, c.want, string(got), c.why)
			require.Equal(t, c.encoding, encoding, c.why)
			require.Equal(t, strings.HasPrefix(c.in, bom) || strings.HasPrefix(c.in, "\xff\xfe") ||
				strings.HasPrefix(c.in, "\xfe\xff"), marked, c.why)
		}
	}
}

// TestCodePages holds each table to its size: 128 characters, of which none is there
// twice.
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

func TestDecodeFails(t *testing.T) {
	for _, c := range []struct {
		why, in, stated string
		line            int
		want            string
	}{
		{"a byte that is no character", "a\nb\n\x81", "windows-1252", 3,
			"has the byte 0x81, which is no character in windows-1252; state the encoding that the file has"},
		{"a euro of Windows is a control character in Latin-1, which nobody writes", "\x80", "iso-8859-1", 1,
			"has the byte 0x80, which is no character in iso-8859-1; state the encoding that the file has"},
		{"half a character", utf16Text("a\n", false) + "\x3d\xd8a\x00", "utf-16le", 2,
			"has half a character of UTF-16; state the encoding that the file has"},
		{"an odd byte", utf16Text("a\n", false) + "b", "utf-16le", 2, "ends in the middle of a character of UTF-16"},
		{"half a pair at the end", utf16Text("a", false) + "\x3d\xd8", "utf-16le", 1, "ends in the middle of a character of UTF-16"},
		{"no order", utf16Text("a", false), "utf-16", 0, "UTF-16 without a byte-order mark may be read in two ways; " +
			"state the encoding utf-16le, as Windows writes it, or utf-16be"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", "", 0, "the text is UTF-32 by its byte-order mark; save the file as UTF-8"},
	} {
		r, _, _, err := Decode(strings.NewReader(c.in), c.stated)
		if err == nil {
			_, err = io.ReadAll(r)
		}
		var wrong *Undecodable
		require.ErrorAs(t, err, &wrong, c.why)
		assert.Equal(t, Undecodable{c.line, c.want}, *wrong, c.why)
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

// TestFormats reads small files in the formats of offices.
func TestFormats(t *testing.T) {
	header, rows := []string{"a", "b"}, [][]textvalue.Raw{plain("1", "x")}
	for _, c := range []struct {
		why, file, in string
		format        Format
		notes         []string
	}{
		{"semicolons, which alone are in the header", "t.csv", "a;b\n1;x\n", Format{},
			[]string{"t.csv is read as separated by semicolons, which alone are in its header"}},
		{"tabs", "t.csv", "a\tb\n1\tx\n", Format{}, []string{"t.csv is read as separated by tabs, which alone are in its header"}},
		{"bars", "t.csv", "a|b\n1|x\n", Format{}, []string{"t.csv is read as separated by vertical bars, which alone are in its header"}},
		{"blank lines come before the header", "t.csv", "\r\n\na;b\n1;x\n", Format{},
			[]string{"t.csv is read as separated by semicolons, which alone are in its header"}},
		{"what is stated needs no word", "t.csv", "a;b\n1;x\n", Format{Separator: ";"}, nil},
		{"any character may be stated", "t.csv", "a¦b\n1¦x\n", Format{Separator: "¦"}, nil},
		{"in .tsv it is the tab", "t.TSV", "a\tb\n1\tx\n", Format{Separator: ";"}.Of("t.TSV", nil), nil},
		{"Excel's first line", "t.csv", "sep=;\r\na;b\r\n1;x\r\n", Format{},
			[]string{`t.csv is read as separated by ";", as its first line says`}},
		{"in quotes", "t.csv", "\"sep=,\"\na,b\n1,x\n", Format{Separator: ","},
			[]string{`t.csv is read as separated by ",", as its first line says`}},
		{"UTF-16 and tabs, as Excel's Unicode text", "t.csv", "\xff\xfe" + utf16Text("a\tb\r\n1\tx\r\n", false), Format{},
			[]string{"t.csv is read as utf-16le, by its byte-order mark", "t.csv is read as separated by tabs, which alone are in its header"}},
		{"a mark against what is stated", "t.csv", bom + "a,b\n1,x\n", Format{Encoding: "windows-1252"},
			[]string{"t.csv is read as utf-8, by its byte-order mark"}},
		{"utf-16 is either order", "t.ndjson", "\xfe\xff" + utf16Text(`{"a":1,"b":"x"}`, true), Format{Encoding: "utf-16"}, nil},
		{"NDJSON has no separator", "t.jsonl", `{"a":1,"b":"x"}`, Format{Separator: ";"}, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			format := testkit.Must(c.format.Checked())(t)
			all := testkit.Must(Open(c.file, strings.NewReader(c.in), format, nil))(t)
			cells := testkit.Must(all.Next())(t)
			assert.Equal(t, header, all.Names())
			assert.Equal(t, rows[0][0].Text, cells[0].Text)
			assert.Equal(t, rows[0][1].Text, cells[1].Text)
			assert.Equal(t, c.notes, all.Notes())
			_, err := all.Next()
			assert.Equal(t, io.EOF, err)
		})
	}
}

// TestDialect tells which files another reader reads alike.
func TestDialect(t *testing.T) {
	for _, c := range []struct {
		file, in  string
		separator rune
		plain     bool
	}{
		{"t.csv", "a;b\n", ';', true}, {"t.csv", "\na;b\n", ';', false}, {"t.csv", "sep=;\na;b\n", ';', false},
		{"t.csv", "\xff\xfe" + utf16Text("a,b\n", false), ',', false}, {"t.csv", bom + "a,b\n", ',', true}, {"t.ndjson", "{}", 0, false},
	} {
		all := testkit.Must(Open(c.file, strings.NewReader(c.in), Format{}, nil))(t)
		separator, plain := Dialect(all)
		assert.Equal(t, c.separator, separator, c.in)
		assert.Equal(t, c.plain, plain, c.in)
	}
}

// TestFormatFaults reads files that a guess could have read otherwise.
func TestFormatFaults(t *testing.T) {
	const choose = "; state which is the separator, or quote the names that have another"
	for _, c := range []struct {
		why, in string
		format  Format
		want    string
	}{
		{"two separators in the header", "Name;Price, net\n", Format{}, "t.csv line 1: the header has commas and semicolons" + choose},
		{"three, behind blank lines", "\n\na,b\tc|d\n", Format{}, "t.csv line 3: the header has commas and tabs and vertical bars" + choose},
		{"another one than is stated", "a,b\n", Format{Separator: ";"},
			`t.csv line 1: the header has commas, and none of the stated separator ";"; state the separator of this file`},
		{"a first line against what is stated", "sep=,\na,b\n", Format{Separator: ";"},
			"t.csv line 1: names another separator than is stated; correct one of them"},
		{"lines behind the first are counted", "sep=;\na;b\n1;2;3\n", Format{}, "t.csv line 3: 3 cells where the header has 2"},
		{"a quote behind it", "sep=;\na;b\n1;x\"y\n", Format{},
			"t.csv line 3: byte 4: a quote inside a cell that is not quoted; quote the cell and double the quotes in it"},
		{"a byte that is none of the encoding, in its cell", "a,b\n1,x\n1,\x81\n", Format{Encoding: "windows-1252"},
			"t.csv line 3: cell 2 has the byte 0x81, which is no character in windows-1252; state the encoding that the file has"},
		{"in the header", "\x81", Format{Encoding: "windows-1252"},
			"t.csv line 1: cell 1 has the byte 0x81, which is no character in windows-1252; state the encoding that the file has"},
		{"at the beginning of a line", "a,b\n1,x\n\x81", Format{Encoding: "windows-1252"},
			"t.csv line 3: cell 1 has the byte 0x81, which is no character in windows-1252; state the encoding that the file has"},
		{"in a first cell in quotes", "a,b\n\"x\x81", Format{Encoding: "windows-1252"},
			"t.csv line 2: has the byte 0x81, which is no character in windows-1252; state the encoding that the file has"},
		{"the whole", "a,b\n", Format{Encoding: "utf-16"}, "t.csv: UTF-16 without a byte-order mark may be read in two ways; " +
			"state the encoding utf-16le, as Windows writes it, or utf-16be"},
	} {
		all, err := Open("t.csv", strings.NewReader(c.in), c.format, nil)
		for err == nil {
			_, err = all.Next()
		}
		assert.EqualError(t, err, c.want, c.why)
	}
	testkit.Must(Open("t.ndjson", strings.NewReader(""), Format{}, nil))(t)
	all, err := Open("t.ndjson", strings.NewReader("{\"a\":1}\n{\"a\":1}\n{\"a\":\"\x81\"}\n"), Format{Encoding: "windows-1252"}, nil)
	for err == nil {
		_, err = all.Next()
	}
	assert.EqualError(t, err,
		"t.ndjson line 3: has the byte 0x81, which is no character in windows-1252; state the encoding that the file has")
}

func TestFormatIsChecked(t *testing.T) {
	for _, c := range []struct {
		why    string
		format Format
		want   string
	}{
		{"two characters", Format{Separator: ";;"}, `format: Separator must be one character, such as ";"`},
		{"a quote", Format{Separator: `"`}, "format: Separator cannot be this character"},
		{"a line end", Format{Separator: "\n"}, "format: Separator cannot be this character"},
		{"no character", Format{Separator: "\xff"}, "format: Separator cannot be this character"},
		{"no encoding", Format{Encoding: "ansi"}, "format: Encoding must be one of utf-8, utf-16, utf-16le, utf-16be, ibm850, iso-8859-1, " +
			"iso-8859-15, macintosh, windows-1250, windows-1251, windows-1252"},
		{"no type", Format{Types: map[string]wire.Type{"zip": "text"}},
			`format: Types: column "zip" must be string, number, decimal, boolean, date, datetime, json, array or reference`},
	} {
		_, err := c.format.Checked()
		assert.EqualError(t, err, c.want, c.why)
	}
	_, err := Format{DateFormat: "DD.MM"}.Checked()
	assert.ErrorContains(t, err, "format: DateFormat must name a day")
	checked, err := Format{Types: map[string]wire.Type{"zip": wire.TypeString}, DecimalComma: true, DateFormat: "D.M.YYYY"}.Checked()
	require.NoError(t, err)
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
