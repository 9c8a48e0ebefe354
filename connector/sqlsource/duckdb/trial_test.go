package duckdb_test

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var (
	trialSeed    = flag.Uint64("trial.seed", 1, "the first folder of the trial")
	trialFolders = flag.Uint64("trial.folders", 300, "how many folders the trial makes")
)

// TestTrial holds files to the promise: each cell of an answer is the value that is
// stored, or the answer says which is not. It makes folders of files whose columns
// change their form on the way, stores the same values as CSV, NDJSON and Parquet, in one
// file and in several, and compares what the folder of this package and package
// filesource say with what was stored, cell by cell. A table may be left out by name,
// refused by its place, or told of in a warning; but few may, because a reader who says
// so of all says nothing.
//
// A folder is made of its number alone: -trial.seed 17 -trial.folders 1 makes one again.
func TestTrial(t *testing.T) {
	folders := *trialFolders
	if testing.Short() {
		folders = min(folders, 40)
	}
	drifts, db := drifts(t), open(t, "")
	var readings, equal atomic.Int64
	t.Run("folder", func(t *testing.T) {
		for seed := *trialSeed; seed < *trialSeed+folders; seed++ {
			t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(seed, seed))
				for _, is := range newTable(random, drifts).try(t, random, db) {
					if readings.Add(1); is {
						equal.Add(1)
					}
				}
			})
		}
	})
	assert.Greater(t, equal.Load()*100, readings.Load()*95, "%d of %d tables are what is stored", equal.Load(), readings.Load())
}

// kind is what a stored value is, before any format spells it.
type kind string

const (
	noValue    kind = ""
	aText      kind = "text"       // whatever it looks like
	aNumber    kind = "number"     // as it is spelled in JSON
	aBoolean   kind = "boolean"    // true or false
	aDate      kind = "date"       // of ISO 8601
	aDatetime  kind = "datetime"   // of ISO 8601
	aJSON      kind = "JSON"       // a list or an object
	aPlainText kind = "plain text" // of CSV or the name of a folder: it may be any of them
)

// stored is a value as a file stores it.
type stored struct {
	kind kind
	text string
}

// drift is a column whose values change their form on the way: an ordinary column of somebody's files. A text
// has <01..12> where it has a number of as many digits between the two.
type drift struct {
	Name, Why string
	Of        spellings   // its values
	ByFile    []spellings // in place of Of, those of each file
	Late      spellings   // the last values of a table, behind what a reader samples
	Gaps      int         // once in so many times there is no value
}

// spellings are values by their kind. Beside them, "parquet" has the types of Parquet that hold all of them, or what
// makes a value of a text %s; none: VARCHAR.
type spellings map[kind][]string

// drifts are those of testdata/drifts.jsonl, by name. Of two lists of spellings, which are texts that some
// reader takes for something else, each is a drift, and so is one with the other behind it.
func drifts(t testing.TB) map[string]*drift {
	all := map[string]*drift{}
	var texts []*drift
	for line := range strings.Lines(string(testkit.Must(os.ReadFile("testdata/drifts.jsonl"))(t))) {
		d := &drift{}
		require.NoError(t, json.Unmarshal([]byte(line), d), line)
		require.NotEmpty(t, d.Why, d.Name)
		require.NotContains(t, all, d.Name)
		all[d.Name] = d
		if strings.HasPrefix(d.Name, "spellings") {
			texts = append(texts, d)
		}
	}
	for i, d := range texts {
		all[d.Name+"then"] = &drift{Of: d.Of, Late: texts[(i*7+3)%len(texts)].Of}
	}
	return all
}

// at returns the spellings of a file, of so many, and those of its last values, which may be the same.
func (d *drift) at(file, files int) (most, last spellings) {
	switch {
	case d.ByFile != nil:
		return d.ByFile[file], d.ByFile[file]
	case d.Late != nil && file == files-1:
		return d.Of, d.Late
	}
	return d.Of, d.Of
}

var numberBetween = regexp.MustCompile(`<(-?\d+)\.\.(\d+)>`)

// pick returns one of the values.
func (s spellings) pick(random *rand.Rand) stored {
	var all []stored
	for _, k := range slices.Sorted(maps.Keys(s)) {
		for _, text := range s[k] {
			if k != "parquet" {
				all = append(all, stored{k, text})
			}
		}
	}
	if len(all) == 0 {
		return stored{}
	}
	v := all[random.IntN(len(all))]
	v.text = numberBetween.ReplaceAllStringFunc(v.text, func(span string) string {
		ends := numberBetween.FindStringSubmatch(span)
		low, _ := strconv.Atoi(ends[1])
		high, _ := strconv.Atoi(ends[2])
		width := 1
		if strings.HasPrefix(ends[1], "0") {
			width = len(ends[1])
		}
		return fmt.Sprintf("%0*d", width, low+random.IntN(high-low+1))
	})
	return v
}

// table is a table as it is stored, in one file or more.
type table struct {
	columns   []string // all of them
	partition string   // the name of the column that folders are; empty: none
	files     []*file
}

// file is a file of a table. The column idColumn numbers its rows, as no other row of the table is.
type file struct {
	columns []string // in its order
	rows    []map[string]stored
	folder  string   // of the partition
	types   []string // of Parquet, or what makes a value of a text
}

const idColumn = "rowNo"

// partitions are the names of folders, as Hive and Spark write them.
var partitions = map[string][]string{
	"year": {"2024", "2025", "__HIVE_DEFAULT_PARTITION__"}, "code": {"01", "1", "007"}, "share": {"1.5", "2", "1.50"},
	"region": {"a b", "a%2Fb", "__HIVE_DEFAULT_PARTITION__", "NULL"}, "since": {"2024-01-01", "2024-02-30", "2024-01-02"},
}

// newTable makes a table with some of the drifts.
func newTable(random *rand.Rand, drifts map[string]*drift) *table {
	names := slices.Sorted(maps.Keys(drifts))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	files, rows, wide := 1, 1+random.IntN(12), 3+random.IntN(4)
	if random.IntN(3) > 0 {
		files = 2 + random.IntN(3)
	}
	if random.IntN(40) == 0 { // more than an engine samples
		files, rows, wide = 1, 21_000+random.IntN(2000), 2
		names = slices.DeleteFunc(names, func(name string) bool { return name == "wideObjects" })
	}
	t := &table{columns: append([]string{idColumn}, names[:wide]...), files: make([]*file, files)}
	if files > 1 && random.IntN(4) == 0 {
		all := slices.Sorted(maps.Keys(partitions))
		t.partition = all[random.IntN(len(all))]
	}
	first := random.IntN(2) == 0
	for n := range t.files {
		f := &file{columns: slices.Clone(t.columns)}
		t.files[n] = f
		if files > 1 && random.IntN(4) == 0 { // a file that lacks a column
			lost := 1 + random.IntN(wide)
			f.columns = slices.Delete(f.columns, lost, lost+1)
		}
		if first { // a drift comes first
			f.columns[0], f.columns[1] = f.columns[1], f.columns[0]
		}
		if random.IntN(4) == 0 { // in another order
			random.Shuffle(len(f.columns), func(i, j int) { f.columns[i], f.columns[j] = f.columns[j], f.columns[i] })
		}
		for row := range rows {
			f.rows = append(f.rows, map[string]stored{idColumn: {aNumber, strconv.Itoa(n*rows + row)}})
		}
		for _, c := range f.columns {
			if c == idColumn {
				f.types = append(f.types, "INTEGER")
				continue
			}
			most, last := drifts[c].at(n, files)
			for row, values := range f.rows {
				of := most
				if row >= rows-max(1, rows/8) {
					of = last
				}
				if gaps := drifts[c].Gaps; gaps == 0 || random.IntN(gaps) > 0 {
					values[c] = of.pick(random)
				}
			}
			f.types = append(f.types, cmp.Or(spellings{aText: last["parquet"]}.pick(random).text, "VARCHAR"))
		}
		if t.partition != "" {
			f.folder = partitions[t.partition][n%len(partitions[t.partition])]
			value := stored{aPlainText, f.folder}
			if text, err := url.PathUnescape(f.folder); err != nil || text == "__HIVE_DEFAULT_PARTITION__" {
				value = stored{}
			} else {
				value.text = text
			}
			for _, row := range f.rows {
				row[t.partition] = value
			}
		}
	}
	t.columns = slices.DeleteFunc(t.columns, func(c string) bool {
		return !slices.ContainsFunc(t.files, func(f *file) bool { return slices.Contains(f.columns, c) })
	})
	return t
}

// try writes the table in each format, and reads it: all files of a format at once from the folder of this package, and
// each text by package filesource. It returns which of the answers were what is stored.
func (whole *table) try(t *testing.T, random *rand.Rand, db *sql.DB) (equal []bool) {
	dir := testkit.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	lake, apart := filepath.Join(dir, "lake"), filepath.Join(dir, "files", "tenant")
	require.NoError(t, os.Mkdir(lake, 0o755))
	require.NoError(t, os.MkdirAll(apart, 0o755))
	var together, each []*reading
	for _, format := range []string{"csv", "ndjson", "parquet"} {
		if format == "parquet" && len(whole.files[0].rows) > 1000 {
			continue // Parquet has types, and nobody samples it
		}
		r := &reading{table: whole, format: format, name: format, reader: "the folder"}
		together = append(together, r)
		style := newStyle(random)
		for i, f := range whole.files {
			path, name := lake, fmt.Sprintf("%s%d", format, i)
			if len(whole.files) == 1 {
				r.name = name
			} else if path = filepath.Join(path, format); whole.partition != "" {
				path = filepath.Join(path, whole.partition+"="+f.folder)
			}
			require.NoError(t, os.MkdirAll(path, 0o755))
			path = filepath.Join(path, name+"."+format)
			r.files = append(r.files, name)
			switch format {
			case "parquet":
				f.parquet(t, db, path)
				continue
			case "csv":
				require.NoError(t, os.WriteFile(path, style.csv(f), 0o644))
			default:
				require.NoError(t, os.WriteFile(path, f.ndjson(t), 0o644))
			}
			require.NoError(t, os.Link(path, filepath.Join(apart, name+"."+format)))
			one := &table{columns: f.columns, files: []*file{f}}
			each = append(each, &reading{table: one, format: format, name: name, files: []string{name}, reader: "filesource"})
		}
	}
	folder := testkit.Must(duckdb.Folder(lake, &duckdb.FolderOptions{Threads: 1, Source: &sqlsource.Options{Profile: -1}}))(t)
	tenant := connectortest.Start(t, connector.Definition{Slug: "lake"}, folder, nil).As(nil).Unverified()
	found := testkit.Must(tenant.Discover())(t)
	for _, r := range together {
		equal = append(equal, r.judge(t, tenant, found))
	}
	source := testkit.Must(filesource.Open(filepath.Dir(apart), &filesource.Options{Logger: slog.New(slog.DiscardHandler)}))(t)
	defer func() { require.NoError(t, source.Close()) }()
	definition := connector.Definition{Slug: "files", Credentials: filesource.Credentials()}
	tenant = connectortest.Start(t, definition, source, nil).As(map[string]string{"tenant": "tenant"}).Unverified()
	found = testkit.Must(tenant.Discover())(t)
	for _, r := range each {
		equal = append(equal, r.judge(t, tenant, found))
	}
	return equal
}

// csvStyle is how a program writes CSV.
type csvStyle struct {
	start, separator, end string
	quoted                bool // every cell
	unended               bool // the last line has no end
}

func newStyle(random *rand.Rand) csvStyle {
	return csvStyle{
		start:     [...]string{"", "", "", "", "", "\ufeff"}[random.IntN(6)],
		separator: [...]string{",", ",", ",", ",", ";", "\t", "|"}[random.IntN(7)], end: [...]string{"\n", "\n", "\r\n"}[random.IntN(3)],
		quoted: random.IntN(3) == 0, unended: random.IntN(4) == 0,
	}
}

// csv returns the file as CSV.
func (s csvStyle) csv(f *file) []byte {
	text := s.start
	line := func(cell func(column string) string) {
		for i, c := range f.columns {
			if i > 0 {
				text += s.separator
			}
			own := cell(c)
			if s.quoted || strings.ContainsAny(own, "\"\r\n"+s.separator) || strings.HasPrefix(own, "\ufeff") {
				own = `"` + strings.ReplaceAll(own, `"`, `""`) + `"`
			}
			text += own
		}
		text += s.end
	}
	line(func(column string) string { return column })
	for _, row := range f.rows {
		line(func(column string) string { return row[column].text })
	}
	if s.unended {
		text = strings.TrimSuffix(text, s.end)
	}
	return []byte(text)
}

// ndjson returns the file as NDJSON.
func (f *file) ndjson(t testing.TB) []byte {
	var b strings.Builder
	for i, row := range f.rows {
		var members []string
		for _, c := range f.columns {
			text := row[c].text
			switch row[c].kind {
			case noValue:
				if text = "null"; i%2 == 0 {
					continue // a member that is missing, or null
				}
			case aNumber, aBoolean, aJSON:
			default:
				text = string(testkit.Must(json.Marshal(text))(t))
			}
			members = append(members, fmt.Sprintf("%q:%s", c, text))
		}
		b.WriteString("{" + strings.Join(members, ",") + "}\n")
	}
	return []byte(b.String())
}

// parquet writes the file as Parquet.
func (f *file) parquet(t testing.TB, db *sql.DB, path string) {
	rows, list := make([]string, len(f.rows)), make([]string, len(f.columns))
	for i, typ := range f.types {
		if !strings.Contains(typ, "%s") {
			typ = "CAST(%s AS " + typ + ")"
		}
		name := `"` + f.columns[i] + `"`
		list[i] = strings.Replace(typ, "%s", name, 1) + " AS " + name
	}
	for i, row := range f.rows {
		cells := make([]string, len(f.columns))
		for j, c := range f.columns {
			if cells[j] = quoted(row[c].text); row[c].kind == noValue {
				cells[j] = "CAST(NULL AS VARCHAR)"
			}
		}
		rows[i] = "(" + strings.Join(cells, ", ") + ")"
	}
	testkit.Must(db.Exec(fmt.Sprintf(`COPY (SELECT %s FROM (VALUES %s) AS t("%s")) TO %s (FORMAT parquet)`, strings.Join(list, ", "),
		strings.Join(rows, ", "), strings.Join(f.columns, `", "`), quoted(path))))(t)
}

// reading is a reading of a table: its name there, and the files by which a warning may name it.
type reading struct {
	*table
	reader, format, name string
	files                []string
}

// judge reads the table, and reports whether each cell is what is stored. It fails the test where one is not and nobody
// was told.
func (r *reading) judge(t *testing.T, tenant *connectortest.Tenant, found *wire.Discovery) (equal bool) {
	warnings := slices.DeleteFunc(slices.Clone(found.Warnings), func(w string) bool { return !strings.HasPrefix(w, r.name) })
	told := func(name string) bool {
		return slices.ContainsFunc(warnings, regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString)
	}
	report := func(ok bool, format string, of ...any) {
		assert.True(t, ok, "%s, by %s: %s; the warnings are %q", r.name, r.reader, fmt.Sprintf(format, of...), warnings)
	}
	at := slices.IndexFunc(found.Tables, func(t wire.Table) bool { return t.Name == r.name })
	if at < 0 {
		report(len(warnings) > 0, "not in discovery, and no warning names it")
		return false
	}
	columns, fields := slices.Clone(r.columns), []string(nil)
	if r.partition != "" {
		columns = append(columns, r.partition)
	}
	for _, c := range columns {
		if found.Tables[at].Field(c) == nil {
			report(r.unwritten(c) || told(c), "the column %s is missing, and no warning names it", c)
			continue
		}
		fields = append(fields, c)
		lacks := func(f *file) bool { return c != r.partition && !slices.Contains(f.columns, c) }
		report(r.format == "ndjson" || !slices.ContainsFunc(r.table.files, lacks) || told(c), "a file lacks %s, and no warning says so", c)
	}
	answer, err := tenant.Query(wire.QueryRequest{Table: r.name, Sort: []wire.SortKey{}, Fields: fields})
	if err != nil {
		named := func(name string) bool { return strings.Contains(err.Error(), name) }
		report(slices.ContainsFunc(slices.Concat(r.files, columns), named), "refused without a place: %v", err)
		return false
	}
	cells := map[string][]wire.Value{}
	for _, row := range answer.Rows {
		cells[row[slices.Index(fields, idColumn)].String()] = row
	}
	var rows []map[string]stored
	for _, f := range r.table.files {
		rows = append(rows, f.rows...)
	}
	if len(answer.Rows) != len(rows) || len(cells) != len(rows) {
		report(false, "%d rows, %d of them different, of %d", len(answer.Rows), len(cells), len(rows))
		return false
	}
	equal = true
	for i, c := range fields {
		typ := found.Tables[at].Field(c).Type
		for _, row := range rows {
			answered := cells[row[idColumn].text]
			require.NotNil(t, answered, "row %s of %s", row[idColumn].text, r.name)
			if !r.equal(row[c], typ, answered[i]) {
				equal = false
				report(told(c), "row %s of %s stores the %s %.60q; as %s it is %.80s", row[idColumn].text, c, row[c].kind, row[c].text, typ,
					answered[i])
				break
			}
		}
	}
	return equal
}

// unwritten reports whether a column is in no file: NDJSON need not name a member that has no value.
func (r *reading) unwritten(column string) bool {
	has := func(row map[string]stored) bool { return row[column].kind != noValue }
	return r.format == "ndjson" && !slices.ContainsFunc(r.table.files, func(f *file) bool { return slices.ContainsFunc(f.rows, has) })
}

// equal reports whether a cell of a column is the value that is stored: of the same meaning, and of the same spelling
// where the format has text that means nothing else.
func (r *reading) equal(v stored, typ wire.Type, cell wire.Value) bool {
	if p := plain(v.text); r.format == "csv" || v.kind == aPlainText {
		v = p
	} else if r.format == "ndjson" && v.kind == aText && (p.kind == aDate || p.kind == aDatetime) {
		v = p // a string of JSON may be a date, as there is no other
	}
	if v.kind == noValue || cell.IsNull() {
		return v.kind == noValue && cell.IsNull()
	}
	text, isText := cell.String(), cell.Kind() == wire.KindText
	moment := v.kind == aDate || v.kind == aDatetime
	switch typ {
	case wire.TypeString, wire.TypeReference:
		switch {
		case text == v.text, r.format == "csv", v.kind == aText, v.kind == aBoolean, moment && r.format != "parquet":
			return isText && text == v.text
		case moment:
			return isText && same(v.text, text, wire.TypeDatetime)
		}
		return isText && same(v.text, text, wire.TypeJSON)
	case wire.TypeNumber, wire.TypeDecimal:
		return v.kind == aNumber && same(v.text, text, wire.TypeJSON)
	case wire.TypeBoolean:
		return v.kind == aBoolean && text == strings.ToLower(v.text) && !isText
	case wire.TypeDate:
		return v.kind == aDate && text == v.text
	case wire.TypeDatetime:
		return moment && oracle.IsInstant(text) && same(v.text, text, typ)
	case wire.TypeJSON, wire.TypeArray:
		if v.kind != aNumber && v.kind != aBoolean && v.kind != aJSON {
			b, _ := json.Marshal(v.text)
			v.text = string(b)
		}
		return same(v.text, text, wire.TypeJSON)
	}
	return false
}

var (
	plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	blankOfDay  = regexp.MustCompile(`^(\d{4}-\d\d-\d\d) `)
	// looseJSON is a null member, which may be missing, and a decimal, which may be a text.
	looseJSON = regexp.MustCompile(`,"later":null|"(-?\d+(?:\.\d+)?)"`)
)

// same reports whether two texts mean the same as a type.
func same(a, b string, typ wire.Type) bool {
	loose := func(text string) wire.Value {
		return wire.Text(looseJSON.ReplaceAllString(blankOfDay.ReplaceAllString(text, "${1}T"), "$1"))
	}
	return a == b || oracle.Same(loose(a), loose(b), typ)
}

// plain returns what a plain text is: a number, a boolean, a date or a list if it is spelled as one and as nothing
// else. What a spreadsheet might take for one is a text: leading zeros, a plus, an exponent.
func plain(text string) stored {
	switch at := blankOfDay.ReplaceAllString(text, "${1}T"); {
	case text == "":
		return stored{}
	case plainNumber.MatchString(text):
		return stored{aNumber, text}
	case slices.Contains([]string{"true", "false", "TRUE", "FALSE", "True", "False"}, text):
		return stored{aBoolean, text}
	case oracle.IsInstant(at) && len(at) == len("2024-02-29"):
		return stored{aDate, text}
	case oracle.IsInstant(at):
		return stored{aDatetime, text}
	case (text[0] == '[' || text[0] == '{') && json.Valid([]byte(text)):
		return stored{aJSON, text}
	}
	return stored{aText, text}
}
