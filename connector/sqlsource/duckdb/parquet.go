package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/memo"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// A shape is what the footer of a Parquet file says of its rows.
type shape struct {
	key     string // the same for files with the same footer
	columns []parquetColumn
	fault   string // why files of this shape are not served
}

// parquetColumn is a column of a Parquet file.
type parquetColumn struct {
	name string
	typ  nested
	// cut says that the file has digits of a second which the engine does not read, and
	// left why the column is left out.
	cut  bool
	left string
}

// footers are the shapes of files that were seen, for as long as they are the same
// version.
type footers struct {
	mu     sync.Mutex
	files  map[string]footer
	shapes map[string]*shape
}

type footer struct {
	info  os.FileInfo
	shape *shape
}

func newFooters() *footers { return &footers{files: map[string]footer{}, shapes: map[string]*shape{}} }

// of returns the shapes of a table's files, in their order. It reads the footers of all
// of them, once for each version, or again while a file has just been written to.
func (f *footers) of(ctx context.Context, q sqlengine.Queryer, t *folderTable, versions fingerprints) ([]*shape, error) {
	now, shapes := time.Now(), make([]*shape, len(t.files))
	var unread []string
	f.mu.Lock()
	for i, file := range t.files {
		if known, ok := f.files[file]; ok && memo.SameVersion(known.info, versions[file]) {
			shapes[i] = known.shape
		} else {
			unread = append(unread, file)
		}
	}
	f.mu.Unlock()
	read, err := f.read(ctx, q, t, unread)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.files) > 10*forgotten {
		clear(f.files)
		clear(f.shapes)
	}
	for i, file := range t.files {
		if shapes[i] == nil {
			shapes[i] = read[file]
			if versions[file] != nil && memo.Rested(versions[file], now) {
				f.files[file] = footer{versions[file], read[file]}
			}
		}
	}
	return shapes, nil
}

// element is an element of a footer's schema, as the engine shows it.
type element struct {
	name, physical, logical, converted string
	children                           int
	precision                          int
}

// read reads the footers of files.
func (f *footers) read(ctx context.Context, q sqlengine.Queryer, t *folderTable, files []string) (map[string]*shape, error) {
	read := map[string]*shape{}
	if len(files) == 0 {
		return read, nil
	}
	elements, keys := map[string][]element{}, map[string]*strings.Builder{}
	statement := `SELECT file_name, name, coalesce(type, ''), coalesce(logical_type, ''), coalesce(converted_type, ''),
		coalesce(num_children, 0), coalesce(precision, 0), concat_ws('|', name, type, type_length, repetition_type, num_children,
		converted_type, scale, precision, logical_type, duckdb_type) FROM parquet_schema(` + literals(files) + ")"
	err := sqlengine.Each(ctx, q, statement, nil, func(scan func(...any) error) error {
		var e element
		var file, line string
		if err := scan(&file, &e.name, &e.physical, &e.logical, &e.converted, &e.children, &e.precision, &line); err != nil {
			return err
		}
		if keys[file] == nil {
			keys[file] = &strings.Builder{}
		}
		fmt.Fprintf(keys[file], "%q", line)
		elements[file] = append(elements[file], e)
		return nil
	})
	switch {
	case err != nil && len(files) > 1: // which of them is it?
		for _, file := range files {
			if _, err := f.read(ctx, q, t, []string{file}); err != nil {
				return nil, err
			}
		}
		return f.read(ctx, q, t, files)
	case err != nil && ctx.Err() == nil && flavor{}.State(err) != "":
		return nil, leftOut("%s cannot be read: it is no Parquet file, or it is damaged", t.shown(files[0]))
	case err != nil:
		return nil, err
	}
	for _, file := range files {
		if keys[file] == nil {
			return nil, fmt.Errorf("duckdb: no footer of %s was read", file)
		}
		key := keys[file].String()
		f.mu.Lock()
		known := f.shapes[key]
		f.mu.Unlock()
		if known == nil {
			if known, err = describeParquet(ctx, q, file, elements[file]); err != nil {
				return nil, err
			}
			known.key = key
			f.mu.Lock()
			f.shapes[key] = known
			f.mu.Unlock()
		}
		read[file] = known
	}
	return read, nil
}

// describeParquet returns the shape of a file whose footer has these elements.
func describeParquet(ctx context.Context, q sqlengine.Queryer, file string, elements []element) (*shape, error) {
	s := &shape{}
	statement := "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet(" + literals([]string{file}) +
		stated(parquetOptions, map[string]string{"hive_partitioning": "false"}) + "))"
	err := sqlengine.Each(ctx, q, statement, nil, func(scan func(...any) error) error {
		var name, typ string
		if err := scan(&name, &typ); err != nil {
			return err
		}
		t := parseType(typ)
		t.text = cmp.Or(t.text, typ)
		s.columns = append(s.columns, parquetColumn{name: name, typ: t})
		return nil
	})
	if err != nil {
		return nil, err
	}
	rest := elements[min(1, len(elements)):] // the first is the whole row
	for i := range s.columns {
		if len(rest) == 0 {
			break
		}
		own := rest[:span(rest)]
		rest = rest[len(own):]
		c := &s.columns[i]
		if c.name != own[0].name {
			s.fault = fmt.Sprintf("columns %q and another have names that differ in capital letters alone; rename one", own[0].name)
		}
		for _, e := range own {
			c.inspect(e)
		}
	}
	return s, nil
}

// span returns how many elements the first one is, with those below it.
func span(elements []element) int {
	n := 1
	for range elements[0].children {
		if n >= len(elements) {
			break
		}
		n += span(elements[n:])
	}
	return n
}

// inspect notes what the engine would read otherwise than it is stored.
func (c *parquetColumn) inspect(e element) {
	zoned := strings.Contains(e.logical, "isAdjustedToUTC=1")
	nanos := strings.Contains(e.logical, "NanoSeconds()")
	if e.physical == "INT96" || strings.HasPrefix(e.logical, "TimestampType") && zoned && nanos {
		c.cut = true
	}
	if (e.converted == "DECIMAL" || strings.HasPrefix(e.logical, "DecimalType")) && e.precision > maxDecimal {
		c.left = fmt.Sprintf("its decimals have %d digits, and the engine has %d", e.precision, maxDecimal)
	}
}

// merged is what the files of a table have in common.
type merged struct {
	columns  []parquetColumn
	warnings []string
}

// mergeShapes returns the columns of all files of a table: each of the least type that
// holds the values of all. An error says which two files have no such type.
func (t *folderTable) mergeShapes(ctx context.Context, q sqlengine.Queryer, shapes []*shape) (*merged, error) {
	m := &merged{}
	differing := map[int][]int{} // by column, the first file of each type
	doubtful := map[int]bool{}
	var seen []*shape
	for i, s := range shapes {
		if s.fault != "" {
			return nil, leftOut("%s: %s", t.shown(t.files[i]), s.fault)
		}
		if slices.Contains(seen, s) {
			continue
		}
		seen = append(seen, s)
		for _, c := range s.columns {
			at := m.index(c.name)
			if at < 0 {
				at = len(m.columns)
				m.columns = append(m.columns, c)
				differing[at] = []int{i}
				continue
			}
			have := &m.columns[at]
			if have.name != c.name {
				m.warn("column %q is %q in %s", have.name, c.name, t.shown(t.files[i]))
			}
			have.cut, have.left = have.cut || c.cut, cmp.Or(have.left, c.left)
			wide, unsure, ok := widest(have.typ, c.typ)
			first := t.files[differing[at][0]]
			if !ok {
				return nil, leftOut("column %q is %s in %s and %s in %s, and no type holds both; give the files one type, or put them "+
					"into two folders", have.name, shapes[differing[at][0]].typeOf(c.name), t.shown(first), c.typ, t.shown(t.files[i]))
			}
			if have.typ.String() != c.typ.String() {
				differing[at] = append(differing[at], i)
			}
			have.typ = wide
			doubtful[at] = doubtful[at] || unsure
		}
	}
	for at := range m.columns {
		c := &m.columns[at]
		if doubtful[at] && c.typ.name != "VARCHAR" {
			fits, err := t.fits(ctx, q, c)
			if err != nil {
				return nil, err
			}
			if !fits {
				c.typ = simple("VARCHAR")
			}
		}
		if files := differing[at]; len(files) > 1 {
			m.warn("column %q is %s in %s and %s in %s: it is served as %s", c.name, shapes[files[0]].typeOf(c.name),
				t.shown(t.files[files[0]]), shapes[files[1]].typeOf(c.name), t.shown(t.files[files[1]]), wireNames(c.typ))
		}
	}
	for _, c := range m.columns {
		if files := t.without(func(i int) bool { return shapes[i].typeOf(c.name).name != "" }); files != "" && len(seen) > 1 {
			m.warn("column %q is not in %s: it is null there", c.name, files)
		}
	}
	return m, nil
}

func (m *merged) warn(format string, args ...any) {
	m.warnings = append(m.warnings, fmt.Sprintf(format, args...))
}

// index returns the place of a column, or -1.
func (m *merged) index(name string) int {
	return slices.IndexFunc(m.columns, func(c parquetColumn) bool { return strings.EqualFold(c.name, name) })
}

// typeOf returns the type of a column of a shape.
func (s *shape) typeOf(name string) nested {
	for _, c := range s.columns {
		if strings.EqualFold(c.name, name) {
			return c.typ
		}
	}
	return nested{}
}

// wireNames returns what a type is on the wire, for a message.
func wireNames(t nested) string {
	column := flavor{}.Column("x", catalogColumn("x", t.String()))
	return string(column.Type)
}

// fits reports whether all values of a column have few enough digits for its type, as the
// footers state their least and greatest.
func (t *folderTable) fits(ctx context.Context, q sqlengine.Queryer, c *parquetColumn) (fits bool, err error) {
	within := "TRY_CAST(stats_min_value AS HUGEINT) >= -9007199254740992 AND TRY_CAST(stats_max_value AS HUGEINT) <= 9007199254740992"
	if c.typ.moment() {
		within = "stats_min_value >= '1677-09-22' AND stats_max_value < '2262-04-11' AND stats_max_value SIMILAR TO '[12][0-9]{3}-.*'"
	}
	err = q.QueryRowContext(ctx, "SELECT count(*) = 0 FROM parquet_metadata("+literals(t.files)+") WHERE lower(path_in_schema) = lower("+
		literal(c.name)+") AND type NOT IN ('DOUBLE', 'FLOAT') AND NOT coalesce(stats_null_count = num_values OR "+within+", false)").Scan(&fits)
	return fits, err
}
