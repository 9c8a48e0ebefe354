package corpus

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

//go:embed data/*.json
var data embed.FS

// file is the form of a table in data. Cells are JSON scalars: numbers by their digits (with a dot or an exponent a
// double, otherwise an integer), decimals as strings of digits, days as YYYY-MM-DD, instants as ISO 8601, arrays and
// documents as JSON text in a string.
type file struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	PrimaryKey  []string          `json:"primaryKey"`
	ForeignKeys []wire.ForeignKey `json:"foreignKeys"`
	Fields      []struct {
		Name        string    `json:"name"`
		Type        wire.Type `json:"type"`
		Nullable    bool      `json:"nullable"`
		Unique      bool      `json:"unique"`
		Description string    `json:"description"`
	} `json:"fields"`
	Rows [][]any `json:"rows"`
}

// readTable reads a table of data and adds the rows that follow from formulas. It panics if the
// file is malformed, because the files are part of the program.
func readTable(name string) Table {
	raw, err := data.ReadFile("data/" + name + ".json")
	if err != nil {
		panic(err)
	}
	var f file
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		panic(fmt.Errorf("corpus: data/%s.json: %w", name, err))
	}
	t := Table{Table: wire.Table{
		Name:              f.Name,
		SourceDescription: f.Description,
		StoresRows:        true,
		PrimaryKey:        f.PrimaryKey,
		ForeignKeys:       f.ForeignKeys,
	}}
	for _, c := range f.Fields {
		t.Fields = append(t.Fields, wire.Field{
			Name: c.Name, SourceColumn: c.Name, Type: c.Type, Nullable: c.Nullable, Unique: c.Unique, SourceDescription: c.Description,
		})
	}
	for n, cells := range f.Rows {
		if len(cells) != len(t.Fields) {
			panic(fmt.Errorf("corpus: data/%s.json: rows[%d] has %d cells for %d fields", name, n, len(cells), len(t.Fields)))
		}
		row := make([]wire.Value, len(cells))
		for i, cell := range cells {
			v, err := readCell(cell, t.Fields[i].Type)
			if err == nil {
				err = v.Err()
			}
			if err != nil {
				panic(fmt.Errorf("corpus: data/%s.json: rows[%d], %s: %w", name, n, t.Fields[i].Name, err))
			}
			row[i] = v
		}
		t.Rows = append(t.Rows, row)
	}
	if add := formulas[name]; add != nil {
		add(&t)
	}
	rows := int64(len(t.Rows))
	t.RowCount = &rows
	return t
}

func readCell(scalar any, columnType wire.Type) (wire.Value, error) {
	switch s := scalar.(type) {
	case nil:
		return wire.Null(), nil
	case bool:
		if columnType == wire.TypeBoolean {
			return wire.Bool(s), nil
		}
	case json.Number:
		if columnType != wire.TypeNumber {
			break
		}
		if strings.ContainsAny(s.String(), ".eE") {
			f, err := s.Float64()
			return wire.Float(f), err
		}
		i, err := strconv.ParseInt(s.String(), 10, 64)
		return wire.Int(i), err
	case string:
		switch columnType {
		case wire.TypeString, wire.TypeReference:
			return wire.Text(s), nil
		case wire.TypeDecimal:
			return wire.Decimal(s), nil
		case wire.TypeDate:
			t, err := time.Parse(time.DateOnly, s)
			return wire.Date(t), err
		case wire.TypeDatetime:
			t, err := time.Parse(time.RFC3339Nano, s)
			return instant(t), err
		case wire.TypeJSON, wire.TypeArray:
			return wire.JSON(s), nil
		}
	}
	return wire.Value{}, fmt.Errorf("a %T does not fit a column of type %s", scalar, columnType)
}

// instant returns a datetime cell. All of them have microseconds, the highest
// precision that every SQL database keeps, so that byte order is time order.
func instant(t time.Time) wire.Value { return wire.DatetimeWidth(t, 6) }
