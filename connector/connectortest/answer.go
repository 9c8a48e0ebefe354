package connectortest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// An Answer is the complete answer to a query.
type Answer struct {
	// Served is what the stream claims to have done. It is zero if the stream
	// has no served line.
	Served wire.Served
	// Names are the members of the rows in the order of the request: its
	// fields, then those of its joins. For SQL they are in the order of the
	// first row, and nil if there are no rows.
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

// errTooMany is the error for an answer with too many rows.
var errTooMany = errors.New("more rows than are read")

// readAnswer reads a stream. It returns an error line as a *wire.Error together
// with the rows before it, and a mistake for a row with other members.
func readAnswer(r io.Reader, names []string, most int64) (*Answer, error) {
	a := &Answer{Names: names}
	reader := ndjson.NewReader(r)
	for line, err := range reader.Lines() {
		if err != nil {
			return nil, err
		}
		switch line.Kind {
		case ndjson.KindServed:
			a.Served = line.Served
		case ndjson.KindPing:
			a.Pings++
		case ndjson.KindError:
			return a, line.Error
		}
		for _, row := range line.Rows {
			if err := a.add(row); err != nil {
				return nil, err
			}
		}
		if int64(len(a.Rows)) > most {
			return nil, errTooMany
		}
	}
	return a, nil
}

// add appends a row with its cells in the order of Names.
func (a *Answer) add(row ndjson.Row) error {
	if a.Names == nil {
		a.Names = slices.Clone(row.Names())
	}
	cells := make([]wire.Value, len(a.Names))
	ok := len(row.Names()) == len(a.Names)
	for i, name := range a.Names {
		v, has := row.Get(name)
		cells[i] = v
		ok = ok && has
	}
	if !ok {
		return wrong(fmt.Sprintf("row %d has other members than were asked for", len(a.Rows)),
			fmt.Sprintf("%q", a.Names), fmt.Sprintf("%q", row.Names()))
	}
	a.Rows = append(a.Rows, cells)
	return nil
}
