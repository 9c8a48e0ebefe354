package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// progress is how far the export of one table has come. It is kept in a file beside that of
// the rows.
type progress struct {
	URL     string   `json:"url"`           // of the connector
	Columns []string `json:"columns"`       // names and types
	Key     []string `json:"key,omitempty"` // in whose order the rows are
	// Last is the key of the last row. Its texts are told from numbers by the types of the
	// table. It is empty if no key orders the rows, so that a cut begins anew.
	Last  []string `json:"last,omitempty"`
	Rows  int64    `json:"rows"`
	Bytes int64    `json:"bytes"`
	Done  bool     `json:"done"`
}

const progressSuffix = ".progress"

// restart lets the export begin with the first row.
func (p *progress) restart() { p.Last, p.Rows, p.Bytes, p.Done = nil, 0, 0, false }

// progress returns how far the export of a table into a file has come, and the size of the
// file. An export of a table that was described in another way begins anew.
func (e *export) progress(name string, t *wire.Table, order []wire.SortKey) (p *progress, size int64, err error) {
	p = &progress{URL: strings.TrimSuffix(e.url, "/")}
	for _, f := range t.Fields {
		p.Columns = append(p.Columns, f.Name+" "+string(f.Type))
	}
	for _, k := range order {
		p.Key = append(p.Key, k.Field)
	}
	body, err := os.ReadFile(name + progressSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return p, 0, nil
	}
	var before progress
	if err == nil {
		err = json.Unmarshal(body, &before)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s cannot be read, delete it to begin anew: %w", name+progressSuffix, err)
	}
	if before.URL != p.URL {
		return nil, 0, fmt.Errorf("%s is of the connector at %s; export into another folder", name, before.URL)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, 0, nil
	case err != nil:
		return nil, 0, err
	}
	if slices.Equal(before.Columns, p.Columns) && slices.Equal(before.Key, p.Key) {
		p = &before
	}
	return p, info.Size(), nil
}

// writeProgress replaces the file of a progress at once, so that no cut leaves half of it.
func writeProgress(name string, p *progress) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", body, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
