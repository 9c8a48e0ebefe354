// Package cells reads cells, rows, tables and requests that the files of test cases spell, and
// spells cells. It imports package wire only, so that the packages above it can be tested by it.
package cells

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Row returns the cells of a text, which blanks separate. A cell is spelled as in JSON, or
// as its kind, a colon and a text, such as decimal:1.50 and invalid:"no number". A text is
// a Go string literal where it has to be; "ab"*3 is "ababab".
func Row(t testing.TB, text string) (row []wire.Value) {
	t.Helper()
	for {
		if text = strings.TrimLeft(text, " \t"); text == "" {
			return row
		}
		v, rest, err := next(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		row, text = append(row, v), rest
	}
}

// One returns the one cell of a text.
func One(t testing.TB, text string) wire.Value {
	t.Helper()
	row := Row(t, text)
	if len(row) != 1 {
		t.Fatalf("%d cells instead of 1: %s", len(row), text)
	}
	return row[0]
}

// Rows returns the rows of a text, each of which begins with a bar.
func Rows(t testing.TB, text string) (rows [][]wire.Value) {
	t.Helper()
	for text = strings.TrimSpace(text); text != ""; {
		switch text[0] {
		case '|':
			rows, text = append(rows, []wire.Value{}), text[1:]
		case ' ', '\t', '\n':
			text = text[1:]
		default:
			v, rest, err := next(text)
			if err != nil || rows == nil {
				t.Fatalf("%s: %v", text, err)
			}
			last := len(rows) - 1
			rows[last], text = append(rows[last], v), rest
		}
	}
	return rows
}

// Table returns the columns and the rows of a text, such as
//
//	id:number name:string other@1 | 1 "Ada" null | 2 "Bo" 1.5
//
// A column can have a type, and the number of the hop of a join that produced it.
func Table(t testing.TB, text string) (columns []wire.Column, rows [][]wire.Value) {
	t.Helper()
	header, _, _ := strings.Cut(text, "|")
	for word := range strings.FieldsSeq(header) {
		name, hop, _ := strings.Cut(word, "@")
		name, kind, _ := strings.Cut(name, ":")
		n, _ := strconv.Atoi(hop)
		columns = append(columns, wire.Column{Name: name, Type: wire.Type(kind), Hop: n})
	}
	return columns, Rows(t, text[len(header):])
}

// TableOf returns a table of a text as [Table] reads it, which a memsource.Table can be. A column
// of its key has the mark *, one in which no value stands twice !, and one with nulls ?, as in
// "id:number*! name:string?".
func TableOf(t testing.TB, name, text string) (table struct {
	wire.Table
	Rows [][]wire.Value
}) {
	t.Helper()
	columns, rows := Table(t, text)
	table.Name, table.StoresRows, table.Rows = name, true, rows
	for _, c := range columns {
		kind := strings.TrimRight(string(c.Type), "*!?")
		marks := string(c.Type)[len(kind):]
		if strings.Contains(marks, "*") {
			table.PrimaryKey = append(table.PrimaryKey, c.Name)
		}
		table.Fields = append(table.Fields, wire.Field{Name: c.Name, Type: wire.Type(kind),
			Unique: strings.Contains(marks, "!"), Nullable: strings.Contains(marks, "?")})
	}
	return table
}

// Spelled returns rows as their cells are in JSON, with a blank between them.
func Spelled(t testing.TB, rows ...[]wire.Value) []string {
	t.Helper()
	list := []string{}
	for _, row := range rows {
		var line []byte
		for i, v := range row {
			var err error
			if i > 0 {
				line = append(line, ' ')
			}
			if line, err = v.AppendJSON(line); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, string(line))
	}
	return list
}

// Decode reads a request. The text is an object with the members that differ from the usual ones, or -.
func Decode(t testing.TB, text string, into wire.Request) {
	t.Helper()
	usual := `{"table":"t","and":[],"credentials":{},"timeoutMs":1000}`
	switch into.(type) {
	case *wire.QueryRequest:
		usual = `{"table":"t","and":[],"sort":[],"fields":[],"credentials":{},"timeoutMs":1000}`
	case *wire.AggregateRequest:
		usual = `{"table":"t","and":[],"groupBy":[],"measures":[{"fn":"count","as":"n"}],"limit":1001,"credentials":{},"timeoutMs":1000}`
	}
	members := map[string]json.RawMessage{}
	err := json.Unmarshal([]byte(usual), &members)
	if err == nil && text != "-" {
		err = json.Unmarshal([]byte(text), &members)
	}
	body, _ := json.Marshal(members)
	if err == nil {
		err = wire.Decode(body, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// next reads the first cell of a text.
func next(text string) (v wire.Value, rest string, err error) {
	end := strings.IndexAny(text+" ", " \t\n\"")
	word, rest := text[:end], text[end:]
	kind, said, typed := strings.Cut(word, ":")
	if strings.HasPrefix(rest, `"`) {
		literal, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return v, "", err
		}
		said, err = strconv.Unquote(literal)
		if err != nil {
			return v, "", err
		}
		if rest = rest[len(literal):]; strings.HasPrefix(rest, "*") {
			times, after, _ := strings.Cut(rest[1:]+" ", " ")
			n, err := strconv.Atoi(times)
			if err != nil {
				return v, "", err
			}
			said, rest = strings.Repeat(said, n), after
		}
		if !typed {
			kind = "text"
		}
	} else if !typed {
		err = v.UnmarshalJSON([]byte(word))
		return v, rest, err
	}
	v, err = cell(kind, said)
	return v, rest, err
}

// cell returns a cell of a kind.
func cell(kind, text string) (wire.Value, error) {
	switch kind {
	case "text":
		return wire.Text(text), nil
	case "decimal":
		return wire.Decimal(text), nil
	case "json":
		return wire.JSON(text), nil
	case "bytes":
		return wire.Bytes([]byte(text)), nil
	case "invalid":
		return wire.Invalid(text), nil
	case "int":
		i, err := strconv.ParseInt(text, 0, 64)
		return wire.Int(i), err
	case "uint":
		u, err := strconv.ParseUint(text, 0, 64)
		return wire.Uint(u), err
	case "float":
		f, err := strconv.ParseFloat(text, 64)
		return wire.Float(f), err
	case "float32":
		f, err := strconv.ParseFloat(text, 32)
		return wire.Float32(float32(f)), err
	case "date": // of a day, or the one that an instant shows where it is
		layout := time.RFC3339
		if len(text) == len(time.DateOnly) {
			layout = time.DateOnly
		}
		day, err := time.Parse(layout, text)
		return wire.Date(day), err
	case "at": // a datetime of the least width
		at, err := time.Parse(time.RFC3339Nano, text)
		return wire.Datetime(at), err
	case "datetime": // of the width that is spelled
		at, err := time.Parse(time.RFC3339Nano, text)
		_, fraction, _ := strings.Cut(strings.TrimSuffix(text, "Z"), ".")
		return wire.DatetimeWidth(at, len(fraction)), err
	}
	return wire.Value{}, fmt.Errorf("no kind of cell is named %q", kind)
}

// Filter returns a filter. The operators in and nin take any number of values, the others
// one or none.
func Filter(field string, op wire.Op, values ...wire.Value) wire.Filter {
	f := wire.Filter{Field: field, Op: op}
	if op == wire.OpIn || op == wire.OpNin {
		f.Values = values
	} else if len(values) > 0 {
		f.Value = values[0]
	}
	return f
}
