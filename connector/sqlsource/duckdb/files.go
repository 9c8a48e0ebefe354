package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// readers are the functions that read files, by their extensions.
var readers = map[string]string{
	".parquet": "read_parquet",
	".csv":     "read_csv", ".tsv": "read_csv", ".csv.gz": "read_csv", ".tsv.gz": "read_csv",
	".json": "read_json", ".ndjson": "read_json", ".jsonl": "read_json", ".json.gz": "read_json", ".ndjson.gz": "read_json",
	".jsonl.gz": "read_json",
}

// readerOf returns the reader of a file, and the file's name without its extension;
// empty: the file is none that is served.
func readerOf(file string) (table, reader string) {
	ext := path.Ext(file)
	if strings.EqualFold(ext, ".gz") {
		ext = path.Ext(strings.TrimSuffix(file, ext)) + ext
	}
	return strings.TrimSuffix(file, ext), readers[strings.ToLower(ext)]
}

// listing is what a folder has.
type listing struct {
	tables   []folderTable
	files    fingerprints // of all tables
	warnings []string
}

// folderTable is a table of one or more files.
type folderTable struct {
	name, reader string
	files        []string // sorted
	partitions   []string // the columns that folders below it are; none: it has no partitions
	above        []string // such columns of the folders that it lies in, which are not its own
}

// listFolder finds the tables of a folder.
func listFolder(dir string) (*listing, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	l := &listing{files: fingerprints{}}
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			if err := l.addFolder(dir, name); err != nil {
				return nil, err
			}
		default:
			if table, reader := readerOf(name); mayRead(e, reader) && l.usable(dir, name, e) {
				l.add(folderTable{name: table, reader: reader, files: []string{filepath.Join(dir, name)}}, name)
			}
		}
	}
	return l, nil
}

// mayRead reports whether an entry of a folder is a file of a known format, or a link,
// which is left out whatever it leads to.
func mayRead(e fs.DirEntry, reader string) bool { return reader != "" || e.Type()&fs.ModeSymlink != 0 }

// usable reports whether a file is served, and notes its version. It warns of one that
// is not served, unless it is gone.
func (l *listing) usable(dir, below string, e fs.DirEntry) bool {
	name := filepath.ToSlash(below)
	why := ""
	switch {
	case !utf8.ValidString(name):
		why = "its name is not valid UTF-8"
	case strings.ContainsAny(filepath.Join(dir, below), "*?["):
		why = "its path has a character that stands for others: * ? ["
	case !e.Type().IsRegular():
		why = "it is a link, or no file"
	default:
		info, err := e.Info()
		if err == nil {
			l.files[filepath.Join(dir, below)] = info
		}
		return err == nil
	}
	l.leaveOut(name, why)
	return false
}

func (l *listing) leaveOut(name, why string) {
	l.warnings = append(l.warnings, fmt.Sprintf("%s is left out: %s", strings.ToValidUTF8(name, "\ufffd"), why))
}

// addFolder adds the table of a sub-folder, if it has files.
func (l *listing) addFolder(dir, name string) error {
	t := folderTable{name: name}
	kinds := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(dir, name), func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_") && file != filepath.Join(dir, name) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil // of whoever has written the files, such as _SUCCESS
		}
		_, reader := readerOf(e.Name())
		below, _ := filepath.Rel(dir, file)
		if e.IsDir() || !mayRead(e, reader) || !l.usable(dir, below, e) {
			return nil
		}
		t.files, t.reader, kinds[reader] = append(t.files, file), reader, true
		t.partitions = append(t.partitions, partitionsOf(filepath.Dir(strings.TrimPrefix(below, name)))...)
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(kinds) > 1:
		l.leaveOut(name, "its files have several formats")
	case len(t.files) > 0:
		slices.Sort(t.files)
		for _, column := range partitionsOf(filepath.Join(dir, name)) {
			if !slices.Contains(t.partitions, column) {
				t.above = append(t.above, column)
			}
		}
		l.add(t, name)
	}
	return nil
}

// partitionsOf returns the columns that the folders of a path are, as year=2025 is the
// column year. The engine does not tell capital letters from small ones.
func partitionsOf(path string) []string {
	var columns []string
	for folder := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if column, _, ok := strings.Cut(folder, "="); ok {
			columns = append(columns, strings.ToLower(column))
		}
	}
	return columns
}

// add adds a table, unless another has its view: the engine does not tell capital
// letters from small ones.
func (l *listing) add(t folderTable, entry string) {
	same := func(have folderTable) bool { return strings.EqualFold(viewName(have.name), viewName(t.name)) }
	if slices.ContainsFunc(l.tables, same) {
		l.leaveOut(entry, "another file would be a table of its name")
		return
	}
	l.tables = append(l.tables, t)
}

// folderFlavor makes a view of each table of a folder when it is asked for.
type folderFlavor struct{ flavor }

// Capabilities adds that files have no transactions: a view that a request has made
// stays for as long as its database.
func (f folderFlavor) Capabilities() sqlengine.Capabilities {
	all := f.flavor.Capabilities()
	all.NoTx = true
	return all
}

// The columns that tell the rows of Parquet files apart, and what the engine makes them
// of.
const (
	fileColumn, engineFile = "\x1ffile", "file_index"
	rowColumn, engineRow   = "\x1frow", "file_row_number"
)

// viewName returns the name of a table's view. pragma_table_info finds no name that has
// quotes in it.
func viewName(table string) string { return strings.ReplaceAll(table, `"`, "\x1e") }

// Table returns a view, which is the connection's own: no two requests see each other's.
func (f folderFlavor) Table(schema, name string) string {
	return "temp." + f.flavor.Table(schema, viewName(name))
}

// Catalog implements [sqlengine.Flavor]. A table that cannot be read is left out, with a
// warning.
func (f folderFlavor) Catalog(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table,
	[]string, error) {
	var conn *folderConn
	if _, err := q.ExecContext(ctx, askFolder, &conn); err != nil {
		return nil, nil, err
	}
	if schema != "" {
		return nil, nil, nil
	}
	var tables []*sqlengine.Table
	var warnings []string
	for _, found := range conn.listing.tables {
		if names != nil && !slices.Contains(names, found.name) {
			continue
		}
		conn.use(found)
		t, err := f.describe(ctx, q, found)
		var deliberate *wire.Error
		switch {
		case err == nil:
			tables = append(tables, t)
		case ctx.Err() != nil, errors.As(err, &deliberate), isBroken(err):
			return nil, nil, err
		default:
			warnings = append(warnings, found.name+" is left out: it cannot be read. Its files may be damaged, or of several schemas")
		}
	}
	if names == nil {
		warnings = append(warnings, conn.listing.warnings...)
		if len(conn.listing.tables) == 0 {
			warnings = append(warnings, "The folder has no file that is served.")
		}
	}
	return tables, warnings, nil
}

// describe creates the view of a table, and returns what its files say of it.
func (f folderFlavor) describe(ctx context.Context, q sqlengine.Queryer, found folderTable) (*sqlengine.Table, error) {
	view := f.Table("", found.name)
	if _, err := q.ExecContext(ctx, "CREATE OR REPLACE TEMP VIEW "+view+" AS "+found.selected()); err != nil {
		return nil, err
	}
	t := &sqlengine.Table{Name: found.name, Ordered: true}
	// duckdb_columns() reads all views that the engine comes with.
	statement := "SELECT name, type FROM pragma_table_info(" + literal(view) + ") ORDER BY cid"
	err := sqlengine.Each(ctx, q, statement, nil, func(scan func(...any) error) error {
		c := sqlengine.CatalogColumn{Nullable: true}
		if err := scan(&c.Name, &c.DataType); err != nil {
			return err
		}
		if _, err := fmt.Sscanf(c.DataType, "DECIMAL(%d,%d)", &c.Precision, &c.Scale); err != nil {
			c.Precision, c.Scale = 0, 0
		}
		if c.Name == fileColumn || c.Name == rowColumn {
			t.RowID = append(t.RowID, c)
		} else {
			t.Columns = append(t.Columns, c)
		}
		return nil
	})
	own := func(c sqlengine.CatalogColumn) bool {
		return strings.EqualFold(c.Name, engineFile) || strings.EqualFold(c.Name, engineRow)
	}
	if slices.ContainsFunc(t.Columns, own) { // the engine then means these, which tell nothing apart
		t.RowID = nil
	}
	return t, err
}

// selected returns the statement that selects a table's rows.
func (t *folderTable) selected() string {
	paths := make([]string, len(t.files))
	for i, file := range t.files {
		paths[i] = literal(file)
	}
	list, options := "*", fmt.Sprintf("hive_partitioning = %t", len(t.partitions) > 0)
	if len(t.partitions) > 0 && len(t.above) > 0 {
		above := make([]string, len(t.above))
		for i, column := range t.above {
			above[i] = literal(column)
		}
		list = "COLUMNS(lambda c: lower(c) NOT IN (" + strings.Join(above, ", ") + "))"
	}
	switch t.reader {
	case "read_parquet":
		list += ", " + engineFile + " AS " + quote(fileColumn) + ", " + engineRow + " AS " + quote(rowColumn)
	case "read_csv":
		options += ", skip = 0" // or the engine leaves out the lines that have other columns than most
	}
	return fmt.Sprintf("SELECT %s FROM %s([%s], %s)", list, t.reader, strings.Join(paths, ", "), options)
}
