package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// kind is how the files of a table are written.
type kind string

const (
	kindParquet kind = "Parquet"
	kindCSV     kind = "CSV"
	kindJSON    kind = "JSON"
)

// kinds are the kinds of files that are served, by their extensions.
var kinds = map[string]kind{
	".parquet": kindParquet,
	".csv":     kindCSV, ".tsv": kindCSV, ".csv.gz": kindCSV, ".tsv.gz": kindCSV,
	".json": kindJSON, ".ndjson": kindJSON, ".jsonl": kindJSON, ".json.gz": kindJSON, ".ndjson.gz": kindJSON, ".jsonl.gz": kindJSON,
}

// kindOf returns the kind of a file, and the file's name without its extension; both are
// empty for a file that is not served.
func kindOf(file string) (table string, k kind) {
	ext := path.Ext(file)
	if strings.EqualFold(ext, ".gz") {
		ext = path.Ext(strings.TrimSuffix(file, ext)) + ext
	}
	return strings.TrimSuffix(file, ext), kinds[strings.ToLower(ext)]
}

// listing is what a folder has.
type listing struct {
	dir      string
	tables   []folderTable
	files    fingerprints // of all tables
	others   []string     // files of kinds that are not served
	warnings []string
}

// folderTable is a table of one or more files.
type folderTable struct {
	name    string
	kind    kind
	root    string   // the folder that its files lie in, or below
	files   []string // sorted
	above   []string // the partitions that the table lies in, which are not its columns
	sidecar string   // the text of its sidecar; empty: it has none
}

// listFolder finds the tables of a folder.
func listFolder(dir string) (*listing, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	l := &listing{dir: dir, files: fingerprints{}}
	var sidecars []string
	for _, e := range entries {
		name := e.Name()
		switch table, ok := strings.CutSuffix(name, textfile.SidecarExtension); {
		case textfile.Hidden(name):
		case e.IsDir():
			if err := l.addFolder(dir, name); err != nil {
				return nil, err
			}
		case ok:
			sidecars = append(sidecars, table)
		default:
			if table, k := kindOf(name); !mayRead(e, k) {
				l.others = append(l.others, name)
			} else if l.usable(dir, name, e) {
				l.add(folderTable{name: table, kind: k, root: dir, files: []string{filepath.Join(dir, name)}}, name)
			}
		}
	}
	for _, table := range sidecars {
		if err := l.addSidecar(dir, table); err != nil {
			return nil, err
		}
	}
	l.warnings = append(l.warnings, textfile.NotServed(l.others, slices.Sorted(maps.Keys(kinds))...)...)
	return l, nil
}

// addSidecar adds what the host states about a table.
func (l *listing) addSidecar(dir, table string) error {
	name := table + textfile.SidecarExtension
	at := slices.IndexFunc(l.tables, func(t folderTable) bool { return t.name == table })
	info, err := os.Lstat(filepath.Join(dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case at < 0:
		l.leaveOut(name, "it describes no table that is served")
	case l.tables[at].kind == kindParquet:
		l.leaveOut(name, "it is for CSV and JSON; a Parquet file says by itself what it has")
	case !info.Mode().IsRegular() || info.Size() > textfile.MaxSidecar:
		l.leaveOut(name, fmt.Sprintf("it is no file, or larger than %d bytes", textfile.MaxSidecar))
	default:
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if l.tables[at].sidecar = string(text); len(text) == 0 {
			l.leaveOut(name, "it is empty; write a JSON object into it or remove it")
		}
	}
	return nil
}

// mayRead reports whether an entry of a folder is a file of a known format, or a link,
// which is left out whatever it leads to.
func mayRead(e fs.DirEntry, k kind) bool { return k != "" || e.Type()&fs.ModeSymlink != 0 }

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
	t := folderTable{name: name, root: filepath.Join(dir, name)}
	found := map[kind]bool{}
	var own []partition
	err := filepath.WalkDir(t.root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if textfile.Hidden(e.Name()) || strings.HasPrefix(e.Name(), "_") && file != t.root {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil // of the program that wrote the files, such as _SUCCESS
		}
		_, k := kindOf(e.Name())
		below, _ := filepath.Rel(dir, file)
		switch {
		case e.IsDir():
		case !mayRead(e, k), strings.HasSuffix(e.Name(), textfile.SidecarExtension):
			l.others = append(l.others, filepath.ToSlash(below))
		case l.usable(dir, below, e):
			t.files, t.kind, found[k] = append(t.files, file), k, true
			own = append(own, partitionsOf(filepath.Dir(strings.TrimPrefix(file, t.root)))...)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(found) > 1:
		l.leaveOut(name, "its files have several formats")
	case len(t.files) > 0:
		slices.Sort(t.files)
		for _, p := range partitionsOf(t.root) {
			if !slices.ContainsFunc(own, func(o partition) bool { return strings.EqualFold(o.name, p.name) }) {
				t.above = append(t.above, strings.ToLower(p.name))
			}
		}
		l.add(t, name)
	}
	return nil
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

// ofFolder returns the flavor of folders. Files have no transactions and no macros: a view that a
// request has made stays for as long as its connection, and is no other's. The settings of a
// connection are stated when it is opened, and locked.
func ofFolder() sqlengine.Flavor {
	own, f := Flavor(), folderFlavor{}
	own.Table, own.Catalog, own.Column = f.Table, f.Catalog, f.Column
	own.NoTx, own.OwnCatalog, own.Session, own.Restore = true, true, nil, ""
	return own
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
	for i := range conn.listing.tables {
		found := &conn.listing.tables[i]
		if names != nil && !slices.Contains(names, found.name) {
			continue
		}
		conn.use(found)
		t, notes, err := f.describe(ctx, q, conn, found)
		if err != nil {
			why, err := conn.whyLeftOut(ctx, err)
			if err != nil {
				return nil, nil, err
			}
			if names != nil {
				return nil, nil, connector.UnknownEntity("there is no table %s: %s", terms.QuoteName(found.name), why)
			}
			warnings = append(warnings, found.name+" is left out: "+why)
			continue
		}
		tables = append(tables, t)
		for _, note := range notes {
			warnings = append(warnings, found.name+": "+note)
		}
	}
	if names == nil {
		conn.known.forget(conn.listing)
		warnings = append(warnings, conn.listing.warnings...)
		if len(conn.listing.tables) == 0 {
			warnings = append(warnings, "The folder has no file that is served.")
		}
	}
	return tables, warnings, nil
}

// describe creates the view of a table, and returns what its files say of it.
func (f folderFlavor) describe(ctx context.Context, q sqlengine.Queryer, conn *folderConn, found *folderTable) (
	*sqlengine.Table, []string, error) {
	read := f.textLayout
	if found.kind == kindParquet {
		read = f.parquetLayout
	}
	l, err := read(ctx, q, conn, found)
	if err != nil {
		return nil, nil, err
	}
	view := "CREATE OR REPLACE TEMP VIEW " + f.Table("", found.name) + " AS " + l.statement
	if _, err := q.ExecContext(ctx, view); err != nil {
		return nil, nil, err
	}
	return &sqlengine.Table{Name: found.name, Comment: l.comment, Ordered: true, Columns: l.columns, RowID: l.rowID}, l.warnings, nil
}
