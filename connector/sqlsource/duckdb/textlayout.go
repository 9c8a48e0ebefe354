package duckdb

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// textTable is a table of CSV or JSON files while its layout is made.
type textTable struct {
	*folderTable
	*layout
	side  *textfile.Sidecar
	types map[string]wire.Type // that are declared, by the names in the files
	parts *partitions

	files    []textFile
	scans    []*fileScan
	evidence []evidence   // of the columns of all files together
	served   []textColumn // those that are not partitions, and then these
	rows     int64
}

// textLayout returns the layout of a table of CSV or JSON files.
func (f folderFlavor) textLayout(ctx context.Context, q sqlengine.Queryer, conn *folderConn, found *folderTable) (*layout, error) {
	t := &textTable{folderTable: found, layout: &layout{}}
	t.side = found.sidecarOf(t.layout)
	t.types = conn.known.format.Of("", t.side).Types
	var err error
	if t.parts, err = partitionsOfTable(found); err != nil {
		return nil, leftOut("%s", err)
	}
	if err := t.scan(ctx, conn); err != nil {
		return nil, err
	}
	if err := t.merge(); err != nil {
		return nil, err
	}
	own := len(t.served) - len(t.parts.columns)
	for i := range t.served {
		c := t.served[i].catalogColumn()
		if i < own {
			c.Comment = t.side.Column(c.Name).Description
		}
		t.columns = append(t.columns, c)
	}
	if t.side != nil {
		t.comment = t.side.Description
	}
	if engine, err := t.engineReads(ctx, q); err != nil || !engine {
		t.readHere(conn)
		return t.layout, err
	}
	t.readByEngine()
	return t.layout, nil
}

// zippedBytes is how many bytes a byte of a compressed file is taken for.
const zippedBytes = 8

// scan reads the files, or takes what is known of them. Files beyond the budget are not
// read, unless somebody has declared a type or the rows are JSON, whose columns only all
// of it names.
func (t *textTable) scan(ctx context.Context, conn *folderConn) error {
	size := int64(0)
	for _, file := range t.folderTable.files {
		info := conn.listing.files[file]
		format := conn.known.format.Of(unzippedName(file), t.side)
		t.files = append(t.files, textFile{path: file, shown: t.shown(file), info: info, format: format})
		switch {
		case info == nil:
		case unzippedName(file) != file:
			size += zippedBytes * info.Size()
		default:
			size += info.Size()
		}
	}
	typed := size <= conn.known.budget || t.kind == kindJSON || len(t.types) > 0
	if !typed {
		t.warn("its columns are strings: its files have more than the %d bytes that are read to find out their types; "+
			"declare types in %s%s, or raise FolderOptions.TypeBudget", conn.known.budget, t.name, textfile.SidecarExtension)
	}
	for i := range t.files {
		file := &t.files[i]
		if file.info == nil {
			return errChanged
		}
		if file.info.Size() == 0 && len(t.files) > 1 {
			t.warn("%s is empty", file.shown)
			t.scans = append(t.scans, &fileScan{})
			continue
		}
		version := textVersion{file.info, formatKey(file.format), typed, time.Now()}
		s, err := conn.known.scans.Get(ctx, file.path, version, func() (*fileScan, error) { return file.scan(typed) })
		if err != nil {
			return err
		}
		if s.fault != nil {
			return leftOut("%s", s.fault)
		}
		t.scans = append(t.scans, s)
		t.rows += s.rows
		t.warnings = append(t.warnings, s.notes...)
	}
	return nil
}

// merge decides the columns by all files together.
func (t *textTable) merge() error {
	for i, s := range t.scans {
		for j, e := range s.columns {
			if twin := index(s.columns[:j], e.name); twin >= 0 {
				return leftOut("%s: columns %q and %q have names that differ in capital letters alone; rename one",
					t.files[i].shown, s.columns[twin].name, e.name)
			}
			at := index(t.evidence, e.name)
			if at < 0 {
				t.evidence = append(t.evidence, e)
				continue
			}
			if have := t.evidence[at].name; have != e.name {
				t.warn("column %q is %q in %s", have, e.name, t.files[i].shown)
			}
			t.evidence[at].merge(e)
		}
	}
	for _, e := range t.evidence {
		if files := t.without(func(i int) bool { return index(t.scans[i].columns, e.name) >= 0 || t.scans[i].columns == nil }); files != "" {
			t.warn("column %q is not in %s: it is null there", e.name, files)
		}
		if t.parts.has(e.name) {
			t.parts.constant = true
			t.warn("column %q of the files is left out: folders named %s= have the values of a column of that name", e.name, e.name)
			continue
		}
		declared := t.types[e.name]
		for i, s := range t.scans {
			if at := index(s.columns, e.name); declared != "" && at >= 0 && s.columns[at].misfit > 0 {
				t.warn("column %q is not served as %s: %s line %d does not fit", e.name, declared, t.files[i].shown, s.columns[at].misfit)
				declared = ""
			}
		}
		c := decide(e, declared)
		if c.why != "" {
			t.warn("column %q is served as string: %s", e.name, c.why)
		}
		t.served = append(t.served, c)
	}
	if len(t.served) == 0 {
		return leftOut("no file of it has a column")
	}
	t.served = append(t.served, t.parts.columns...)
	return nil
}

// index returns the place of a column, or -1. The engine does not tell capital letters
// from small ones.
func index(columns []evidence, name string) int {
	return slices.IndexFunc(columns, func(e evidence) bool { return strings.EqualFold(e.name, name) })
}

// readHere selects the rows that this package reads.
func (t *textTable) readHere(conn *folderConn) {
	r := &reading{columns: t.served, rows: t.rows}
	own := len(t.served) - len(t.parts.columns)
	for i, file := range t.files {
		if t.scans[i].columns == nil {
			continue
		}
		f := readingFile{textFile: file}
		for _, e := range t.scans[i].columns {
			f.names = append(f.names, e.name)
			f.to = append(f.to, slices.IndexFunc(t.served[:own], func(c textColumn) bool { return strings.EqualFold(c.name, e.name) }))
		}
		for _, p := range t.parts.of[i] {
			p.column += own
			f.partitions = append(f.partitions, p)
		}
		r.files = append(r.files, f)
	}
	list := make([]string, len(t.served))
	for i := range t.served {
		list[i] = t.served[i].selected(quote(columnName(i)), true) + " AS " + quote(t.served[i].name)
	}
	t.statement = fmt.Sprintf("SELECT %s FROM %s(%d)", strings.Join(list, ", "), rowsFunction, conn.read(r))
}

// engineReads reports whether the engine's CSV reader reads all files as they were
// scanned: every column has only cells that it reads as they are meant, and it was seen
// to find the same cells.
func (t *textTable) engineReads(ctx context.Context, q sqlengine.Queryer) (bool, error) {
	if t.kind != kindCSV {
		return false, nil
	}
	for i := range t.served[:len(t.served)-len(t.parts.columns)] {
		if c := &t.served[i]; !c.engineReads(t.evidence[index(t.evidence, c.name)]) {
			return false, nil
		}
	}
	for i, s := range t.scans {
		switch {
		case s.columns == nil:
			continue
		case s.separator == "":
			return false, nil
		}
		agrees, err := s.agrees(ctx, q, &t.files[i])
		if err != nil || !agrees {
			return false, err
		}
	}
	return true, nil
}

// agrees reports whether the engine finds as many rows, cells and bytes in a file as were
// found in it. It asks once.
func (s *fileScan) agrees(ctx context.Context, q sqlengine.Queryer, file *textFile) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compared || s.partial {
		return s.agreed || s.partial, nil
	}
	sums := make([]string, len(s.columns))
	texts := make([]string, len(s.columns))
	for i := range s.columns {
		ref := quote(columnName(i))
		texts[i] = literal(columnName(i)) + ": 'VARCHAR'"
		sums[i] = fmt.Sprintf("count(%s) = %d AND coalesce(sum(strlen(%s)), 0) = %d", ref, s.columns[i].values, ref, s.columns[i].bytes)
	}
	own := map[string]string{
		"columns": "{" + strings.Join(texts, ", ") + "}", "delim": literal(s.separator), "compression": compression(file.path),
		"hive_partitioning": "false",
	}
	err := q.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*) = %d AND %s FROM read_csv(%s%s)", s.rows, strings.Join(sums, " AND "),
		literals([]string{file.path}), stated(csvOptions, own))).Scan(&s.agreed)
	var ofEngine *driver.Error
	refused := wire.CodeOf(err) == wire.CodeUnsupported || // which judge has made of the engine's error
		errors.As(err, &ofEngine) && ofEngine.Type != driver.ErrorTypeOutOfMemory && ofEngine.Type != driver.ErrorTypeInterrupt && !isBroken(err)
	if err != nil && (ctx.Err() != nil || !refused) {
		return false, err
	}
	s.compared = true // an engine that refuses a file does not agree
	return s.agreed && err == nil, nil
}

// compression returns how a file is compressed, as the engine says it.
func compression(file string) string {
	if strings.EqualFold(path.Ext(file), ".gz") {
		return "'gzip'"
	}
	return "'none'"
}

// readByEngine selects the rows that the engine reads.
func (t *textTable) readByEngine() {
	keys := make([]string, len(t.scans))
	for i, s := range t.scans {
		names := make([]string, len(s.columns))
		for j, e := range s.columns {
			names[j] = e.name
		}
		keys[i] = fmt.Sprintf("%q %q %s %s", names, s.separator, compression(t.files[i].path), t.parts.key(i))
	}
	own := len(t.served) - len(t.parts.columns)
	var branches []string
	for _, run := range runs(keys) {
		s := t.scans[run[0]]
		if s.columns == nil {
			continue
		}
		var columns, list []string
		for i, e := range s.columns {
			read := "VARCHAR"
			if at := t.place(e.name); at >= 0 {
				read = t.served[at].read
			}
			columns = append(columns, literal(columnName(i))+": "+literal(read))
		}
		for i := range t.served[:own] {
			c := &t.served[i]
			expr := "CAST(NULL AS " + c.viewType() + ")"
			if at := index(s.columns, c.name); at >= 0 {
				expr = c.selected(quote(columnName(at)), false)
			}
			list = append(list, expr+" AS "+quote(c.name))
		}
		list = append(list, t.parts.selected(run[0])...)
		options := t.parts.options()
		options["columns"] = "{" + strings.Join(columns, ", ") + "}"
		options["delim"] = literal(s.separator)
		options["compression"] = compression(t.files[run[0]].path)
		branches = append(branches, "SELECT "+strings.Join(list, ", ")+" FROM read_csv("+literals(t.pick(run))+
			stated(csvOptions, options)+")")
	}
	t.statement = strings.Join(branches, " UNION ALL ")
}

// place returns the place of a served column of the files, or -1.
func (t *textTable) place(name string) int {
	return slices.IndexFunc(t.served[:len(t.served)-len(t.parts.columns)], func(c textColumn) bool { return strings.EqualFold(c.name, name) })
}
