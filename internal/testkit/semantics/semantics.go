// Package semantics reads filter/testdata/semantics for the tests of the packages that
// are held to it. It imports none of them, so that each can be tested without the others.
package semantics

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Case is one request to filter one row, and what comes of it. The README of the folder
// explains the members.
type Case struct {
	Why        string                `json:"why"`
	Rule       string                `json:"rule"`
	Row        string                `json:"row"`
	Columns    map[string]wire.Type  `json:"columns"`
	FieldTypes json.RawMessage       `json:"fieldTypes"`
	And        json.RawMessage       `json:"and"`
	Or         json.RawMessage       `json:"or"`
	Cells      map[string]wire.Value `json:"cells"`
	Match      *bool                 `json:"match"`
	Error      wire.Code             `json:"error"`
}

// Read returns the cases of a folder by the name of their file, without its extension. An
// empty folder ends the test.
func Read(t testing.TB, folder string) map[string][]Case {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no cases (%v)", folder, err)
	}
	files := map[string][]Case{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			About string `json:"about"`
			Cases []Case `json:"cases"`
		}
		d := json.NewDecoder(f)
		d.DisallowUnknownFields()
		err = d.Decode(&file)
		_ = f.Close()
		if err != nil || file.About == "" || len(file.Cases) == 0 {
			t.Fatalf("%s: %d cases about %q, %v", path, len(file.Cases), file.About, err)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".json")] = file.Cases
	}
	return files
}

// Request returns the request as a connector reads it.
func (c Case) Request() (*wire.CountRequest, error) {
	body := map[string]any{"table": "t", "and": c.And, "credentials": map[string]string{}, "timeoutMs": 1000}
	if c.Or != nil {
		body["or"] = c.Or
	}
	if c.FieldTypes != nil {
		body["fieldTypes"] = c.FieldTypes
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	var req wire.CountRequest
	return &req, wire.Decode(raw, &req)
}

// Table returns the columns, and the row. Columns that the row lacks come last, so that
// their cells are left off its end.
func (c Case) Table() (columns []wire.Column, row []wire.Value) {
	var absent []wire.Column
	names := make([]string, 0, len(c.Columns))
	for name := range c.Columns {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		column := wire.Column{Name: name, Type: c.Columns[name]}
		cell, ok := c.Cells[name]
		if !ok {
			absent = append(absent, column)
			continue
		}
		columns, row = append(columns, column), append(row, cell)
	}
	return append(columns, absent...), row
}
