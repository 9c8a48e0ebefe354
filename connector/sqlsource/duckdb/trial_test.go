package duckdb_test

import (
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
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

var (
	trialSeed    = flag.Uint64("trial.seed", 1, "the first folder of the trial")
	trialFolders = flag.Uint64("trial.folders", 300, "how many folders the trial makes")
)

// trial generates folders of files, and reads them with each source.
type trial struct {
	db       *sql.DB // writes Parquet
	drifts   map[string]*drift
	mu       sync.Mutex
	outcomes map[string]int
	findings []finding

	readings, equal int // all of them, and those whose every cell is what is stored
}

// TestTrial holds files to the promise: each cell of an answer is the value that is
// stored, or the answer says which is not. It makes folders of files whose columns
// change their form on the way, stores the same values as CSV, NDJSON and Parquet, in one
// file and in several, and compares what the folder of this package and package
// filesource say with what was stored, cell by cell. A table may be left out by name,
// refused by its place, or told of in a warning.
//
// A folder is made of its number alone: -trial.seed 17 -trial.folders 1 makes one again.
func TestTrial(t *testing.T) {
	folders := *trialFolders
	if testing.Short() {
		folders = min(folders, 40)
	}
	all := &trial{db: open(t, ""), drifts: drifts(t), outcomes: map[string]int{}}
	t.Run("folder", func(t *testing.T) {
		for seed := *trialSeed; seed < *trialSeed+folders; seed++ {
			t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
				t.Parallel()
				all.folder(t, seed)
			})
		}
	})
	all.report(t)
}

// folder makes one folder and reads it.
func (trial *trial) folder(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, seed))
	table := newTable(random, trial.drifts)
	dir := testkit.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	lake, files := filepath.Join(dir, "lake"), filepath.Join(dir, "files")
	require.NoError(t, os.Mkdir(lake, 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(files, "tenant"), 0o755))
	source := testkit.Must(duckdb.Folder(lake, &duckdb.FolderOptions{Threads: 1, Source: &sqlsource.Options{Profile: -1}}))(t)
	apart, err := filesource.Open(files, &filesource.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer func() { require.NoError(t, apart.Close()) }()
	var lakeReadings, fileReadings []*reading
	for _, format := range []string{csvs, jsons, parquets} {
		if format == parquets && len(table.files[0].rows) > 1000 {
			continue // Parquet has types, and nobody samples it
		}
		paths := trial.writeTable(t, random, lake, format, table)
		lakeReadings = append(lakeReadings, table.reading("lake", format, format, paths))
		for i, path := range paths {
			if format == parquets {
				break
			}
			name := fmt.Sprintf("%s%d", format, i)
			content := testkit.Must(os.ReadFile(filepath.Join(lake, filepath.FromSlash(path))))(t)
			file := name + extensions[format]
			require.NoError(t, os.WriteFile(filepath.Join(files, "tenant", file), content, 0o644))
			if side, err := os.ReadFile(filepath.Join(lake, format+".table.json")); err == nil {
				require.NoError(t, os.WriteFile(filepath.Join(files, "tenant", name+".table.json"), side, 0o644))
			}
			one := &trialTable{columns: table.files[i].columns, files: table.files[i : i+1]}
			fileReadings = append(fileReadings, one.reading("files", format, name, []string{file}))
		}
	}
	trial.judge(t, connectortest.Start(t, connector.Definition{Slug: "lake"}, source, nil).As(nil), lakeReadings)
	trial.judge(t, connectortest.Start(t, connector.Definition{Slug: "files", Credentials: filesource.Credentials()}, apart, nil).
		As(map[string]string{"tenant": "tenant"}), fileReadings)
}

// reading returns what a reader must say of the table.
func (t *trialTable) reading(reader, format, name string, files []string) *reading {
	r := &reading{reader: reader, format: format, table: name, files: files, columns: t.columns,
		lacking: map[string]bool{}}
	if t.partition != "" {
		r.columns = append(slices.Clone(r.columns), t.partition)
	}
	for _, f := range t.files {
		for _, row := range f.rows {
			if t.partition != "" {
				row = maps.Clone(row)
				if value, err := url.PathUnescape(f.value); err == nil && value != "__HIVE_DEFAULT_PARTITION__" {
					row[t.partition] = stored{aPlainText, value}
				}
			}
			r.stored = append(r.stored, row)
		}
		for _, c := range t.columns {
			if !slices.Contains(f.columns, c) && format != jsons {
				r.lacking[c] = true
			}
		}
		r.float32s = r.float32s || format == parquets && f.variant == 2
	}
	return r
}

func (trial *trial) judge(t testing.TB, tenant *connectortest.Tenant, readings []*reading) {
	t.Helper()
	tenant = tenant.In(t).Unverified()
	found := testkit.Must(tenant.Discover())(t)
	for _, r := range readings {
		outcome, findings := r.judge(tenant, found)
		trial.mu.Lock()
		trial.outcomes[r.reader+" "+r.format+" "+outcome]++
		trial.readings++
		if outcome == equal {
			trial.equal++
		}
		for _, f := range findings {
			f.text = "folder " + t.Name()[strings.LastIndexByte(t.Name(), '/')+1:] + ": " + f.text
			trial.findings = append(trial.findings, f)
		}
		trial.mu.Unlock()
	}
}

// report fails the test with an example of each kind of finding. Few tables may be left
// out, refused or told of: who says so of all says nothing.
func (trial *trial) report(t testing.TB) {
	t.Helper()
	for _, outcome := range keys(trial.outcomes) {
		t.Logf("%5d %s", trial.outcomes[outcome], outcome)
	}
	if trial.equal*100 <= trial.readings*95 {
		t.Errorf("only %d of %d tables are what is stored", trial.equal, trial.readings)
	}
	count := map[string]int{}
	example := map[string]string{}
	for _, f := range trial.findings {
		key := f.reader + " " + f.format + " " + f.drift
		if count[key]++; count[key] == 1 {
			example[key] = f.text
		}
	}
	for _, key := range keys(count) {
		t.Errorf("%s, %d times: %s", key, count[key], example[key])
	}
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
	Of        map[kind][]string   // its values
	ByFile    []map[kind][]string // in place of Of, those of each file
	Late      map[kind][]string   // the last values of a table, behind what a reader samples
	Gaps      int                 // once in so many times there is no value
}

// drifts are those of testdata/drifts.jsonl, by name. Of two lists of spellings, which are texts that some
// reader takes for something else, each is a drift, and so is one with the other behind it.
func drifts(t testing.TB) map[string]*drift {
	all := map[string]*drift{}
	var spellings []*drift
	for line := range strings.Lines(string(testkit.Must(os.ReadFile("testdata/drifts.jsonl"))(t))) {
		d := &drift{}
		require.NoError(t, json.Unmarshal([]byte(line), d), line)
		require.NotEmpty(t, d.Why, d.Name)
		require.NotContains(t, all, d.Name)
		all[d.Name] = d
		if strings.HasPrefix(d.Name, "spellings") {
			spellings = append(spellings, d)
		}
	}
	for i, d := range spellings {
		all[d.Name+"then"] = &drift{Of: d.Of, Late: spellings[(i*7+3)%len(spellings)].Of}
	}
	return all
}

var numberBetween = regexp.MustCompile(`<(-?\d+)\.\.(\d+)>`)

// value returns a value of the drift in a row of so many, in a file of so many.
func (d *drift) value(random *rand.Rand, file, files, row, rows int) stored {
	of := d.Of
	if d.ByFile != nil {
		of = d.ByFile[file]
	}
	if d.Late != nil && file == files-1 && row >= rows-max(1, rows/8) {
		of = d.Late
	}
	var all []stored
	for _, k := range slices.Sorted(maps.Keys(of)) {
		for _, text := range of[k] {
			all = append(all, stored{k, text})
		}
	}
	if len(all) == 0 || d.Gaps > 0 && random.IntN(d.Gaps) == 0 {
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

// trialTable is a table as it is stored: the rows of one or more files.
type trialTable struct {
	columns   []string // all of them
	files     []trialFile
	partition string // the name of the column that folders are; empty: none
}

// trialFile is a file. Its rows begin with their number, which no other row of the table
// has.
type trialFile struct {
	columns []string // of the file, in its order
	rows    []map[string]stored
	value   string // of the partition
	variant int    // of the types that Parquet has for a number
}

// idColumn numbers the rows of a table.
const idColumn = "rowNo"

// partitionValues are the names of folders, as Hive and Spark write them, and what they
// mean.
var partitionValues = map[string][]string{
	"year":   {"2024", "2025", "__HIVE_DEFAULT_PARTITION__"},
	"code":   {"01", "1", "007"},
	"region": {"a b", "a%2Fb", "__HIVE_DEFAULT_PARTITION__", "NULL"},
	"since":  {"2024-01-01", "2024-02-30", "2024-01-02"},
	"share":  {"1.5", "2", "1.50"},
}

// newTable makes a table with some of the drifts.
func newTable(random *rand.Rand, drifts map[string]*drift) *trialTable {
	names := keys(drifts)
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	t := &trialTable{columns: []string{idColumn}}
	files, rows := 1, 1+random.IntN(12)
	if random.IntN(3) > 0 {
		files = 2 + random.IntN(3)
	}
	if random.IntN(40) == 0 { // more than an engine samples
		files, rows = 1, 21_000+random.IntN(2000)
	}
	var values []string
	if files > 1 && random.IntN(4) == 0 {
		t.partition = keys(partitionValues)[random.IntN(len(partitionValues))]
		values = partitionValues[t.partition]
	}
	wide := 3 + random.IntN(4)
	if rows > 1000 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "wideObjects" })
		wide = 2
	}
	t.columns = append(t.columns, names[:wide]...)
	id, first := 0, random.IntN(2) == 0
	for file := range files {
		f := trialFile{columns: append([]string(nil), t.columns...), variant: random.IntN(3)}
		if values != nil {
			f.value = values[file%len(values)]
		}
		if files > 1 && random.IntN(4) == 0 { // a file that lacks a column
			lost := 1 + random.IntN(len(f.columns)-1)
			f.columns = append(f.columns[:lost], f.columns[lost+1:]...)
		}
		if first { // a drift comes first
			f.columns[0], f.columns[1] = f.columns[1], f.columns[0]
		}
		if random.IntN(4) == 0 { // in another order
			random.Shuffle(len(f.columns), func(i, j int) { f.columns[i], f.columns[j] = f.columns[j], f.columns[i] })
		}
		for row := range rows {
			values := map[string]stored{idColumn: {aNumber, strconv.Itoa(id)}}
			for _, c := range f.columns {
				if c != idColumn {
					values[c] = drifts[c].value(random, file, files, row, rows)
				}
			}
			f.rows = append(f.rows, values)
			id++
		}
		t.files = append(t.files, f)
	}
	t.columns = slices.DeleteFunc(t.columns, func(c string) bool {
		return !slices.ContainsFunc(t.files, func(f trialFile) bool { return slices.Contains(f.columns, c) })
	})
	return t
}
