package connectortest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// checkTable compares the rows of a table with what discovery says about its
// fields and keys.
func checkTable(r *reading) error {
	for at := range r.table.Fields {
		if err := checkField(r, at); err != nil {
			return err
		}
	}
	if len(r.table.PrimaryKey) == 0 {
		return nil
	}
	var places []int
	for _, name := range r.table.PrimaryKey {
		places = append(places, r.place(0, name))
	}
	for i, row := range r.rows {
		for _, at := range places {
			if row[at].IsNull() {
				return &violation{"discovery-10", fmt.Sprintf("primaryKey: row %d has a null in it", i),
					"no null", spellRow(r.table.PrimaryKey, project(row, places))}
			}
		}
	}
	return checkUnique(r, places, "primaryKey")
}

// checkUnique returns a violation if two rows have the same key. Null keys are
// not duplicates.
func checkUnique(r *reading, places []int, what string) error {
	seen := map[string]bool{}
	for i, row := range r.rows {
		if slices.ContainsFunc(places, func(at int) bool { return row[at].IsNull() }) {
			continue
		}
		key := r.rowKey(row, places)
		if seen[key] {
			var names []string
			for _, at := range places {
				names = append(names, r.columns[at].Name)
			}
			return &violation{"discovery-10", fmt.Sprintf("%s: row %d repeats the key of an earlier one, which breaks joins", what, i),
				"a real constraint of the source", spellRow(names, project(row, places))}
		}
		seen[key] = true
	}
	return nil
}

func checkField(r *reading, at int) error {
	f := &r.table.Fields[at]
	for i, row := range r.rows {
		cell := row[at]
		if cell.IsNull() {
			if !f.Nullable {
				return &violation{"discovery-7", fmt.Sprintf("field %q is not nullable, and row %d has a null in it", f.Name, i),
					"nullable: true", "null"}
			}
			continue
		}
		if rule, expected := spelling(cell, f.Type); rule != "" {
			return &violation{rule, fmt.Sprintf("field %q is a %s, and row %d has something else in it", f.Name, f.Type, i),
				expected, spell(cell)}
		}
	}
	if f.Unique {
		return checkUnique(r, []int{at}, fmt.Sprintf("unique field %q", f.Name))
	}
	return nil
}

// spelling returns the rule that a cell of a type breaks, and what the rule asks
// for, or nothing if the cell is spelled right.
func spelling(cell wire.Value, t wire.Type) (rule, expected string) {
	text := cell.Kind() == wire.KindText
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		if cell.Kind() == wire.KindBool || text && !wire.IsDecimal(cell.Text()) {
			return "cell-1", "a number, or plain decimal digits in a string"
		}
	case wire.TypeBoolean:
		if cell.Kind() != wire.KindBool {
			return "cell-5", "true or false, as JSON"
		}
	case wire.TypeDate:
		if _, err := time.Parse(time.DateOnly, cell.Text()); err != nil {
			return "cell-2a", "YYYY-MM-DD"
		}
	case wire.TypeDatetime:
		if _, err := time.Parse(time.RFC3339Nano, cell.Text()); err != nil || !strings.HasSuffix(cell.Text(), "Z") {
			return "cell-2", "ISO 8601 in UTC with a trailing Z"
		}
	case wire.TypeJSON, wire.TypeArray:
		var compact bytes.Buffer
		err := json.Compact(&compact, []byte(cell.Text()))
		if err != nil || compact.String() != cell.Text() || t == wire.TypeArray && cell.Text()[0] != '[' {
			return "cell-3", "compact JSON text in a string"
		}
	}
	return "", ""
}
