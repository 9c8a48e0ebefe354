package filesource

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/infer"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// classify returns what a cell could be, and the digits of a datetime's
// fraction. It takes for text whatever a guess could damage, unless a sidecar
// says otherwise: digits with a leading zero may be a code, digits with a plus
// sign a telephone number, and an exponent outside of JSON a part number.
func classify(c raw) (kind infer.Kinds, digits int) {
	switch c.kind {
	case rawBool:
		return infer.Bool, 0
	case rawNumber:
		kind = infer.Number(c.text)
		if kind == infer.Float {
			if _, ok := number(c); !ok {
				kind = infer.Text // beyond the doubles
			}
		}
		return kind, 0
	case rawArray:
		return infer.Array, 0
	case rawObject:
		return infer.Object, 0
	}
	s := c.text
	if at, ok := parseInstant(s); ok {
		if at.bare {
			return infer.Date, 0
		}
		return infer.Datetime, at.digits
	}
	if c.kind == rawText {
		return infer.Text, 0
	}
	switch s[0] {
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		whole := strings.TrimPrefix(s, "-")
		switch {
		case !wire.IsDecimal(s) || len(whole) > 1 && whole[0] == '0' && whole[1] != '.':
		case strings.Contains(s, "."):
			return infer.Decimal, 0
		default:
			return infer.Integer, 0
		}
	case 't', 'T', 'f', 'F':
		switch s {
		case "true", "false", "TRUE", "FALSE", "True", "False":
			return infer.Bool, 0
		}
	case '[':
		if strictJSON(s) {
			return infer.Array, 0
		}
	case '{':
		if strictJSON(s) {
			return infer.Object, 0
		}
	}
	return infer.Text, 0
}

// evidence is what the first reading of a file found out about one column.
type evidence struct {
	seen   infer.Kinds // of every cell
	digits int         // the widest fraction of a datetime
	nulls  int64
	misfit int // the first line that does not fit the declared type; 0: none
}

// note takes one cell into account.
func (e *evidence) note(c raw, declared wire.Type, line int) {
	if c.kind == rawNull {
		e.nulls++
		return
	}
	// A column that holds text is text, whatever else it holds.
	if e.seen&infer.Text == 0 || declared != "" {
		kind, digits := classify(c)
		e.seen |= kind
		e.digits = max(e.digits, digits)
	}
	if declared != "" && e.misfit == 0 {
		if _, ok := (shape{declared, 9}).value(c); !ok {
			e.misfit = line
		}
	}
}

// shape returns the shape of a column of the given type. The protocol writes
// fractions of a second with 3, 6 or 9 digits; the column takes the narrowest
// that holds all.
func (e *evidence) shape(t wire.Type) shape {
	if t != wire.TypeDatetime {
		return shape{typ: t}
	}
	return shape{t, (e.digits + 2) / 3 * 3}
}

// column is one column of a table, as it is served.
type column struct {
	shape
	header   string // its name in the file
	name     string // its name as a field
	nullable bool
	describe string
	quiet    bool // no samples, no min and max
	profile  profile
}

// inferColumns reads a whole file once and returns its columns and number of rows. It
// ignores what the file contradicts in the sidecar, and warns of it.
func inferColumns(file string, all records, side *sidecar) (columns []column, rows int64, warnings []string, err error) {
	var found []evidence
	var declared []wire.Type
	for {
		cells, err := all.next()
		for _, name := range all.names()[len(found):] {
			// A column that appears late was null before.
			found = append(found, evidence{nulls: rows})
			declared = append(declared, side.column(name).Type)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, nil, err
		}
		rows++
		for i, c := range cells {
			found[i].note(c, declared[i], all.line())
		}
	}
	names := side.rename(all.names(), &warnings)
	for i, header := range all.names() {
		stated := side.column(header)
		typ := found[i].seen.Type()
		switch {
		case stated.Type == "":
		case found[i].misfit > 0:
			warnings = append(warnings, fmt.Sprintf("%s: column %q is served as %s and not as %s: %s line %d does not fit",
				side.file, header, typ, stated.Type, file, found[i].misfit))
		default:
			typ = stated.Type
		}
		columns = append(columns, column{
			shape:    found[i].shape(typ),
			header:   header,
			name:     names[i],
			nullable: found[i].nulls > 0 || rows == 0,
			describe: stated.Description,
			quiet:    stated.NoSamples,
		})
	}
	if len(columns) == 0 {
		return nil, 0, nil, &fault{file, 0, "empty: no line names a column"}
	}
	side.warnUnknownColumns(all.names(), &warnings)
	return columns, rows, warnings, nil
}
