package duckdb_test

import (
	"database/sql"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
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
