package filesource

import (
	"log/slog"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// utf16Text returns a text in UTF-16 with a byte-order mark, the low byte first.
func utf16Text(text string) string {
	b := []byte("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

// TestAnOfficesFolder serves the files that the programs of an office write. Each is
// read as it is meant, or left out by name with a cure, and nothing of it is guessed.
func TestAnOfficesFolder(t *testing.T) {
	const choose = "; state which is the separator, or quote the names that have another; the file is left out"
	for _, c := range []struct {
		why, file, content, sidecar string
		columns                     string // names and types
		rows, warnings              []string
	}{
		{"the platform's own kind", "orders.csv", "no,total\n1,10.50\n", "", "no number, total decimal",
			[]string{`{"no":1,"total":"10.50"}`}, nil},
		{"Excel in Germany, saved as CSV UTF-8", "umsatz.csv",
			"\ufeff\"Datum\";\"Betrag\";\"Anteil\"\r\n31.12.2024;1234,50;12\r\n1.2.2024;-0,5;7,5\r\n",
			`{"decimalComma": true, "dateFormat": "D.M.YYYY"}`, "Datum date, Betrag decimal, Anteil decimal",
			[]string{`{"Datum":"2024-12-31","Betrag":"1234.50","Anteil":"12"}`, `{"Datum":"2024-02-01","Betrag":"-0.5","Anteil":"7.5"}`},
			[]string{"umsatz.csv is read as separated by semicolons, which alone are in its header"}},
		{"without a word of its author it is text, and nothing of it is changed", "umsatz.csv",
			"Datum;Betrag\n01/02/2024;1,50\n02/01/2024;2\n", "",
			"Datum string, Betrag string",
			[]string{`{"Datum":"01/02/2024","Betrag":"1,50"}`, `{"Datum":"02/01/2024","Betrag":"2"}`},
			[]string{"umsatz.csv is read as separated by semicolons, which alone are in its header"}},
		{"a dot could mean thousands where a comma is decimal", "konto.csv", "a;b\n1.500;-21.419,06\n1,5;-53,9\n",
			`{"decimalComma": true, "separator": ";"}`,
			"a string, b string", []string{`{"a":"1.500","b":"-21.419,06"}`, `{"a":"1,5","b":"-53,9"}`}, nil},
		{"commas of decimals in every row are no separators (CSV.jl 1186, PapaParse 290)", "konto.csv", "Tag;Wert\n1;2,5\n2;3,5\n",
			`{"decimalComma": true}`, "Tag number, Wert decimal", []string{`{"Tag":1,"Wert":"2.5"}`, `{"Tag":2,"Wert":"3.5"}`},
			[]string{"konto.csv is read as separated by semicolons, which alone are in its header"}},
		{"decimal commas between commas are quoted", "konto.csv", "a,b\n\"1,5\",x\n", `{"decimalComma": true}`,
			"a decimal, b string", []string{`{"a":"1.5","b":"x"}`}, nil},
		{"Excel's plain CSV in Windows (hugo 1383)", "kunden.csv", "Name;Preis\nM\xfcller;\x8010\n", `{"encoding": "windows-1252",
			"separator": ";"}`,
			"Name string, Preis string", []string{`{"Name":"Müller","Preis":"€10"}`}, nil},
		{"unless it is said, a euro of Windows is not UTF-8", "kunden.csv", "Name;Preis\nMeier;\x8010\n", "", "", nil,
			[]string{"kunden.csv line 2: cell 2 is not valid UTF-8; save the file as UTF-8, or state its encoding; the file is left out"}},
		{"and none of Latin-1, which would hide it (erpnext_datev 32)", "kunden.csv", "Name;Preis\nM\xfcller;\x8010\n",
			`{"encoding": "latin-1"}`, "", nil,
			[]string{"kunden.csv line 2: cell 2 has the byte 0x80, which is no character in iso-8859-1; " +
				"state the encoding that the file has; the file is left out"}},
		{"Excel's Unicode text", "export.csv", utf16Text("Nr\tOrt\r\n1\tKöln\r\n"), "",
			"Nr number, Ort string", []string{`{"Nr":1,"Ort":"Köln"}`},
			[]string{"export.csv is read as utf-16le, by its byte-order mark",
				"export.csv is read as separated by tabs, which alone are in its header"}},
		{"PowerShell's redirected output (filesql 148)", "events.jsonl", utf16Text(`{"id":1,"text":"für"}` + "\r\n"), "",
			"id number, text string",
			[]string{`{"id":1,"text":"für"}`}, []string{"events.jsonl is read as utf-16le, by its byte-order mark"}},
		{"NDJSON has no separator", "events.ndjson", `{"id":1}`, `{"separator": ";", "decimalComma": true}`, "id number", []string{`{"id":1}`},
			[]string{`events.table.json: "separator": events.ndjson has none`}},
		{"a byte-order mark before a quoted name (csvlint 37)", "bom.csv", "\ufeff\"first\",second\nHello,1\n", "",
			"first string, second number",
			[]string{`{"first":"Hello","second":1}`}, nil},
		{"Excel's first line (csvtk 13), in DOS's code page", "preise.csv", "sep=;\r\nArtikel;Preis\r\nT\x81r;1\r\n", `{"encoding": "cp850"}`,
			"Artikel string, Preis number", []string{`{"Artikel":"Tür","Preis":1}`},
			[]string{`preise.csv is read as separated by ";", as its first line says`}},
		{"quoted, and in capital letters (csv 68)", "preise.csv", "\"SEP=,\"\na,b\n1,2\n", "", "a number, b number", []string{`{"a":1,"b":2}`},
			[]string{`preise.csv is read as separated by ",", as its first line says`}},
		{"tabs by the file's extension", "lager.tsv", "Teil\tMenge, St.\nA;B\t3\n", "", "Teil string, Menge, St. number",
			[]string{`{"Teil":"A;B","Menge, St.":3}`}, nil},
		{"a header whose names have commas (PapaParse 600)", "formular.csv", "SKU (alta, obligatorio);Precio (obligatorio)\n1;2\n", "", "", nil,
			[]string{"formular.csv line 1: the header has commas and semicolons" + choose}},
		{"whose author says more", "formular.csv", "SKU (alta, obligatorio);Precio (obligatorio)\n1;2\n", `{"separator": ";"}`,
			"SKU (alta, obligatorio) number, Precio (obligatorio) number", []string{`{"SKU (alta, obligatorio)":1,"Precio (obligatorio)":2}`}, nil},
		{"bars of the rows separate nothing (pysdmx 460)", "estat.csv", "freq,obs\nA|M,1\n\"a|b,c\",2\n", "", "freq string, obs number",
			[]string{`{"freq":"A|M","obs":1}`, `{"freq":"a|b,c","obs":2}`}, nil},
		{"a spreadsheet, and its lock", "haushalt.xlsx", "PK\x03\x04", "", "", nil,
			[]string{"haushalt.xlsx is not served: save each sheet of a spreadsheet as a file of its own, as CSV UTF-8"}},
		{"Parquet", "werte.parquet", "PAR1", "", "", nil,
			[]string{"werte.parquet is not served: the package connector/sqlsource/duckdb serves Parquet, JSON and compressed files"}},
		{"a letter", "bericht.pdf", "%PDF", "", "", nil,
			[]string{"bericht.pdf is not served: what is served has the extension .csv, .jsonl, .ndjson or .tsv"}},
		{"declared types hold as they are written", "plz.csv", "plz;summe\n00501;+1,5\n",
			`{"decimalComma": true, "columns": {"plz": {"type": "number"}, "summe": {"type": "decimal"}}}`,
			"plz number, summe decimal", []string{`{"plz":501,"summe":"1.5"}`},
			[]string{"plz.csv is read as separated by semicolons, which alone are in its header"}},
		{"a date with its time", "zeit.csv", "von,bis\n31.12.2024 10:00,2024-12-31T11:30:00+01:00\n31.12.2024,2024-12-31\n",
			`{"dateFormat": "DD.MM.YYYY"}`,
			"von datetime, bis datetime", []string{`{"von":"2024-12-31T10:00:00Z","bis":"2024-12-31T10:30:00Z"}`,
				`{"von":"2024-12-31T00:00:00Z","bis":"2024-12-31T00:00:00Z"}`}, nil},
		{"no such day", "zeit.csv", "von,x\n31.02.2024,1\n", `{"dateFormat": "DD.MM.YYYY"}`, "von string, x number",
			[]string{`{"von":"31.02.2024","x":1}`}, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			files := map[string]string{"acme/" + c.file: c.content, "acme/~$" + c.file: "\x05lock", "acme/.~lock." + c.file + "#": "lock"}
			table, _, _ := strings.Cut(c.file, ".")
			if c.sidecar != "" {
				files["acme/"+table+".table.json"] = c.sidecar
			}
			s, _ := inMemory(t, files)
			d := discovered(t, s, "acme")
			assert.Equal(t, c.warnings, d.Warnings)
			if c.columns == "" {
				require.Empty(t, d.Tables)
				return
			}
			require.Len(t, d.Tables, 1)
			var columns, names []string
			for _, f := range d.Tables[0].Fields {
				columns = append(columns, f.Name+" "+string(f.Type))
				names = append(names, `"`+f.Name+`"`)
			}
			assert.Equal(t, c.columns, strings.Join(columns, ", "))
			assert.Equal(t, c.rows, rowsOf(t, s, "acme", `"table":"`+table+`","and":[],"sort":[],"fields":[`+strings.Join(names, ",")+`]`))
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
	s := connectortest.Start(t, definition, src, nil)
	d := discovered(t, s, "acme")
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
