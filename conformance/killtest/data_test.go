package killtest

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tablesIn returns the tables of a file of testdata/tables. A table is a paragraph: a line with its name, what it is about
// and its [links]; a line of its fields, as [fieldsOf] reads them; and a line for each row. Tabs separate what stands in a
// line, and \N is null.
func tablesIn(file string) (tables []memsource.Table) {
	text := string(must(os.ReadFile("testdata/tables/" + file + ".tsv")))
	for paragraph := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		head := strings.Split(lines[0], "\t")
		t := tableOf(head[0], head[1], links(head[2:]...), strings.Split(lines[1], "\t")...)
		for _, line := range lines[2:] {
			var row []wire.Value
			for i, cell := range strings.Split(line, "\t") {
				row = append(row, cellOf(t.Fields[i].Type, cell))
			}
			t.Rows = append(t.Rows, row)
		}
		tables = append(tables, t)
	}
	return tables
}

// cellOf returns the cell of a column that a text spells.
func cellOf(column wire.Type, text string) wire.Value {
	if text == `\N` {
		return wire.Null()
	}
	switch column {
	case wire.TypeBoolean:
		return wire.Bool(must(strconv.ParseBool(text)))
	case wire.TypeNumber:
		if strings.Contains(text, ".") {
			return wire.Float(must(strconv.ParseFloat(text, 64)))
		}
		return wire.Int(must(strconv.ParseInt(text, 10, 64)))
	case wire.TypeDecimal:
		return wire.Decimal(text)
	case wire.TypeDate:
		return wire.Date(must(time.Parse(time.DateOnly, text)))
	case wire.TypeDatetime:
		at := must(time.Parse(time.RFC3339Nano, text))
		if _, fraction, found := strings.Cut(text, "."); found {
			return wire.DatetimeWidth(at, len(fraction)-len("Z"))
		}
		return wire.Datetime(at)
	case wire.TypeJSON, wire.TypeArray:
		return wire.JSON(text)
	}
	return wire.Text(text)
}

// ports returns ports, and arrivals that name them in other letters, as an older system did, and declare no key.
func ports() []memsource.Table { return tablesIn("ports") }

// sampledIn returns the tables of such a file, with the samples of [sampledTable].
func sampledIn(file string) []memsource.Table {
	tables := tablesIn(file)
	for i, t := range tables {
		tables[i] = sampledTable(t)
	}
	return tables
}

// sampledTable returns the table with samples of its fields, of which the first is unique.
func sampledTable(t memsource.Table) memsource.Table {
	t.Fields[0].Unique = true
	for i := range t.Fields {
		for _, row := range t.Rows[:3] {
			if !row[i].IsNull() {
				t.Fields[i].Samples = append(t.Fields[i].Samples, row[i])
			}
		}
	}
	return t
}

// hotelTable returns such a table of rows that are made.
func hotelTable(name, about string, n int, keys []wire.ForeignKey, row func(i int) []wire.Value, fields ...string) memsource.Table {
	t := tableOf(name, about, keys, fields...)
	t.Rows = numbered(n, row)
	return sampledTable(t)
}

// links returns foreign keys written as "field table.field".
func links(texts ...string) (keys []wire.ForeignKey) {
	for _, text := range texts {
		field, target, _ := strings.Cut(text, " ")
		table, key, _ := strings.Cut(target, ".")
		keys = append(keys, wire.ForeignKey{Field: field, TargetTable: table, TargetField: key})
	}
	return keys
}

// tableOf returns a table without rows. The first of its fields, which are written as [fieldsOf] reads them, is its key.
func tableOf(name, about string, keys []wire.ForeignKey, fields ...string) memsource.Table {
	t := wire.Table{Name: name, SourceDescription: about, ForeignKeys: keys, Fields: fieldsOf(fields...)}
	t.PrimaryKey = []string{t.Fields[0].Name}
	return memsource.Table{Table: t}
}

// fieldsOf returns fields written as "name type", with a question mark where null may stand, and an exclamation mark
// where no value stands twice.
func fieldsOf(texts ...string) (fields []wire.Field) {
	for _, text := range texts {
		name, kind, _ := strings.Cut(text, " ")
		kind, nullable := strings.CutSuffix(kind, "?")
		kind, unique := strings.CutSuffix(kind, "!")
		fields = append(fields, wire.Field{Name: name, Type: wire.Type(kind), Nullable: nullable, Unique: unique})
	}
	return fields
}
