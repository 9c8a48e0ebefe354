package filesource

import (
	"errors"
	"fmt"
	"io"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A shape is what the cells of a column become: values of one type, with one
// width of datetimes.
type shape struct {
	typ    wire.Type
	digits int // of a datetime's fraction: 0, 3, 6 or 9
	rules  textvalue.Rules
}

// value converts a cell to the column's type. An inferred shape fits every cell of its
// column.
func (s shape) value(c textvalue.Raw) (wire.Value, error) {
	return s.rules.Value(c, s.typ, s.digits)
}

// evidence is what the first reading of a file found out about one column.
type evidence struct {
	seen   textvalue.Class // of every cell
	digits int             // the widest fraction of a datetime
	nulls  int64
	misfit int // the first line that does not fit the declared type; 0: none
}

// note takes one cell into account.
func (e *evidence) note(c textvalue.Raw, rules textvalue.Rules, declared wire.Type, line int) {
	if c.None() {
		e.nulls++
		return
	}
	// A column that holds text is text, whatever else it holds.
	if e.seen&textvalue.ClassText == 0 || declared != "" {
		class, digits := rules.Classify(c)
		e.seen |= class
		e.digits = max(e.digits, digits)
	}
	if declared != "" && e.misfit == 0 {
		if _, err := rules.Value(c, declared, 9); err != nil {
			e.misfit = line
		}
	}
}

// shape returns the shape of a column of the given type. The protocol writes
// fractions of a second with 3, 6 or 9 digits; the column takes the narrowest
// that holds all.
func (e *evidence) shape(t wire.Type, rules textvalue.Rules) shape {
	if t != wire.TypeDatetime {
		return shape{typ: t, rules: rules}
	}
	return shape{t, (e.digits + 2) / 3 * 3, rules}
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
func inferColumns(file string, all textfile.Records, format textfile.Format, side *textfile.Sidecar) (
	columns []column, rows int64, warnings []string, err error) {
	rules := format.Rules()
	var found []evidence
	var declared []wire.Type
	for {
		cells, err := all.Next()
		for _, name := range all.Names()[len(found):] {
			// A column that appears late was null before.
			found = append(found, evidence{nulls: rows})
			declared = append(declared, format.Types[name])
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, nil, err
		}
		rows++
		for i, c := range cells {
			found[i].note(c, rules, declared[i], all.Line())
		}
	}
	warnings = append(warnings, all.Notes()...)
	names := side.Rename(all.Names(), &warnings)
	for i, header := range all.Names() {
		stated, statedBy := side.Column(header), file
		if stated.Type != "" {
			statedBy = side.File
		}
		typ := found[i].seen.Type(wire.TypeString)
		switch {
		case declared[i] == "":
		case found[i].misfit > 0:
			warnings = append(warnings, fmt.Sprintf("%s: column %q is served as %s and not as %s: %s line %d does not fit",
				statedBy, header, typ, declared[i], file, found[i].misfit))
		default:
			typ = declared[i]
		}
		columns = append(columns, column{
			shape:    found[i].shape(typ, rules),
			header:   header,
			name:     names[i],
			nullable: found[i].nulls > 0 || rows == 0,
			describe: stated.Description,
			quiet:    stated.Samples != nil && !*stated.Samples,
		})
	}
	if len(columns) == 0 {
		return nil, 0, nil, &textfile.Fault{File: file, Problem: "empty: no line names a column"}
	}
	side.WarnUnknownColumns(all.Names(), &warnings)
	return columns, rows, warnings, nil
}
