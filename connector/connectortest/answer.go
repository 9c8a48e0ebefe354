package connectortest

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// An Answer is the complete answer to a query.
type Answer struct {
	// Served is what the stream claims to have done. It is zero if the stream
	// has no served line.
	Served wire.Served
	// Names are the members of the rows in the order of the request: its
	// fields, then those of its joins.
	Names []string
	// Rows are the cells, in the order of Names. A cell read from the wire is
	// text, a number, a boolean or null: a decimal and a date are text.
	Rows [][]wire.Value
	// Pings is the number of heartbeats among the lines.
	Pings int
}

// JSON returns the rows as a JSON array of objects, one row a line, with their
// members in the order of Names. Compare it with assert.JSONEq, or print it.
func (a *Answer) JSON() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, row := range a.Rows {
		if i > 0 {
			b.WriteString(",\n ")
		}
		b.WriteString(spellRow(a.Names, row))
	}
	b.WriteByte(']')
	return b.String()
}

// Column returns one member of every row, or nil if the rows have no such
// member.
func (a *Answer) Column(name string) []wire.Value {
	at := slices.Index(a.Names, name)
	if at < 0 {
		return nil
	}
	cells := make([]wire.Value, len(a.Rows))
	for i, row := range a.Rows {
		cells[i] = row[at]
	}
	return cells
}

// spellRow returns a row as JSON.
func spellRow(names []string, row []wire.Value) string {
	b := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendString(b, strings.ToValidUTF8(name, "\ufffd"))
		b = append(b, ':')
		b = append(b, spell(row[i])...)
	}
	return string(append(b, '}'))
}

// spell returns a cell as JSON.
func spell(v wire.Value) string {
	b, err := v.AppendJSON(nil)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(b)
}

// readAll reads rows to their end. It returns an error beside the rows before it.
func readAll(rows *platform.Rows) (*Answer, error) {
	a := &Answer{Served: rows.Served()}
	var err error
	for row, e := range rows.All() {
		if err = e; err == nil {
			a.Rows = append(a.Rows, slices.Clone(row))
		}
	}
	for _, c := range rows.Columns() {
		a.Names = append(a.Names, c.Name)
	}
	return a, err
}
