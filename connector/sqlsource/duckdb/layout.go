package duckdb

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A layout is how the rows of a table are read: the columns that all its files make
// together, and the statement that selects them.
type layout struct {
	columns   []sqlengine.CatalogColumn
	rowID     []sqlengine.CatalogColumn
	statement string
	comment   string
	warnings  []string
}

func (l *layout) warn(format string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

// leftOutError says why a table cannot be served, and names no value of it.
type leftOutError struct{ why string }

func (e *leftOutError) Error() string { return e.why }

func leftOut(format string, args ...any) error { return &leftOutError{fmt.Sprintf(format, args...)} }

// catalogColumn returns a column of an engine's type.
func catalogColumn(name, dataType string) sqlengine.CatalogColumn {
	c := sqlengine.CatalogColumn{Name: name, DataType: dataType, Nullable: true}
	if _, err := fmt.Sscanf(dataType, "DECIMAL(%d,%d)", &c.Precision, &c.Scale); err != nil {
		c.Precision, c.Scale = 0, 0
	}
	return c
}

// literals returns a list of texts in SQL.
func literals(texts []string) string {
	list := make([]string, len(texts))
	for i, s := range texts {
		list[i] = literal(s)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// maxRuns is how many times the shape of a table's files may change, in the order of
// their names. Beyond, files of one shape come together.
const maxRuns = 64

// runs returns the files of a table in runs of one shape, as their numbers.
func runs[K comparable](shapes []K) [][]int {
	var list [][]int
	for i, s := range shapes {
		if i == 0 || s != shapes[i-1] {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], i)
	}
	if len(list) <= maxRuns {
		return list
	}
	list = nil
	at := map[K]int{}
	for i, s := range shapes {
		n, known := at[s]
		if !known {
			n = len(list)
			at[s], list = n, append(list, nil)
		}
		list[n] = append(list[n], i)
	}
	return list
}

// shown returns the path of a file below the folder of its table.
func (t *folderTable) shown(file string) string {
	below, err := filepath.Rel(t.root, file)
	if err != nil {
		below = filepath.Base(file)
	}
	return strings.ToValidUTF8(filepath.ToSlash(below), "\ufffd")
}

// without names the files that has does not report.
func (t *folderTable) without(has func(i int) bool) (names string) {
	n := 0
	for i, file := range t.files {
		if has(i) {
			continue
		}
		if n++; n == 1 {
			names = t.shown(file)
		}
	}
	switch {
	case n > 2:
		names += fmt.Sprintf(" and %d other files", n-1)
	case n == 2:
		names += " and one other file"
	}
	return names
}

// pick returns the files of these numbers.
func (t *folderTable) pick(numbers []int) []string {
	files := make([]string, len(numbers))
	for i, n := range numbers {
		files[i] = t.files[n]
	}
	return files
}

// parquetLayout returns the layout of a table of Parquet files.
func (f folderFlavor) parquetLayout(ctx context.Context, q sqlengine.Queryer, conn *folderConn, t *folderTable) (*layout, error) {
	shapes, err := conn.known.footers.of(ctx, q, t, conn.listing.files)
	if err != nil {
		return nil, err
	}
	parts, err := partitionsOfTable(t)
	if err != nil {
		return nil, leftOut("%s", err)
	}
	m, err := t.mergeShapes(ctx, q, shapes)
	if err != nil {
		return nil, err
	}
	l := &layout{warnings: m.warnings}
	m.columns = slices.DeleteFunc(m.columns, func(c parquetColumn) bool {
		switch {
		case parts.has(c.name):
			parts.constant = true
			l.warn("column %q of the files is left out: folders named %s= have the values of a column of that name", c.name, c.name)
		case c.left != "":
			l.warn("column %q is left out: %s; write it as a text, or with fewer digits", c.name, c.left)
		default:
			if c.cut {
				l.warn("column %q is stored to the nanosecond, and the engine reads it to the microsecond: further digits are cut", c.name)
			}
			parts.constant = parts.constant || slices.Contains(t.above, strings.ToLower(c.name))
			return false
		}
		return true
	})
	for _, c := range m.columns {
		l.columns = append(l.columns, catalogColumn(c.name, c.typ.String()))
	}
	parts.addTo(l)
	if len(l.columns) == 0 {
		return nil, leftOut("none of its columns can be served")
	}
	numbered := !slices.ContainsFunc(m.columns, func(c parquetColumn) bool {
		return strings.EqualFold(c.name, engineFile) || strings.EqualFold(c.name, engineRow) // which would be the file's own
	})
	if numbered {
		l.rowID = []sqlengine.CatalogColumn{catalogColumn(fileColumn, "BIGINT"), catalogColumn(rowColumn, "BIGINT")}
	}
	var branches []string
	first := 0
	keys := make([]string, len(shapes))
	for i, s := range shapes {
		keys[i] = fmt.Sprintf("%p %s", s, parts.key(i))
	}
	for _, run := range runs(keys) {
		s := shapes[run[0]]
		var list []string
		for _, c := range m.columns {
			expr := "CAST(NULL AS " + c.typ.String() + ")"
			for _, own := range s.columns {
				if strings.EqualFold(own.name, c.name) {
					expr = own.typ.as(c.typ, quote(own.name), 0)
				}
			}
			list = append(list, expr+" AS "+quote(c.name))
		}
		list = append(list, parts.selected(run[0])...)
		if numbered {
			list = append(list, fmt.Sprintf("CAST(%d + %s AS BIGINT) AS %s", first, engineFile, quote(fileColumn)),
				engineRow+" AS "+quote(rowColumn))
		}
		first += len(run)
		branches = append(branches, "SELECT "+strings.Join(list, ", ")+" FROM read_parquet("+literals(t.pick(run))+
			stated(parquetOptions, parts.options())+")")
	}
	l.statement = strings.Join(branches, " UNION ALL ")
	return l, nil
}

// has reports whether a column is a partition.
func (p *partitions) has(name string) bool {
	return slices.ContainsFunc(p.columns, func(c textColumn) bool { return strings.EqualFold(c.name, name) })
}

// addTo adds the columns to a layout.
func (p *partitions) addTo(l *layout) {
	for _, c := range p.columns {
		l.columns = append(l.columns, c.catalogColumn())
	}
}

// catalogColumn returns the column as the catalog has it.
func (c *textColumn) catalogColumn() sqlengine.CatalogColumn {
	column := catalogColumn(c.name, c.catalog)
	column.Note = c.typ
	return column
}

// Column implements [sqlengine.Flavor]. A column of a text file may be of a type that
// the engine does not have.
func (f folderFlavor) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := f.flavor.Column(ref, c)
	if typ, ok := c.Note.(wire.Type); ok && (typ == wire.TypeArray || typ == wire.TypeReference) {
		column.Type = typ
	}
	return column
}

// sidecarOf returns what the host states about a table of text files; nil: nothing.
func (t *folderTable) sidecarOf(l *layout) *textfile.Sidecar {
	if t.sidecar == "" {
		return nil
	}
	side, err := textfile.ParseSidecar(t.name+textfile.SidecarExtension, []byte(t.sidecar))
	if err != nil {
		l.warn("%s; nothing of the file is applied", err)
		return nil
	}
	if len(side.PrimaryKey)+len(side.Unique)+len(side.ForeignKeys) > 0 {
		l.warn("%s: keys are not declared: nothing keeps the files to them", side.File)
	}
	for _, header := range slices.Sorted(maps.Keys(side.Columns)) {
		if c := side.Columns[header]; c.Name != "" || c.Samples != nil {
			l.warn("%s: column %q: name and samples are not applied; use FolderOptions.Source", side.File, header)
		}
	}
	return side
}
