package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/memo"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// FolderOptions say how a folder is served. A nil *FolderOptions and every zero field
// mean the default.
type FolderOptions struct {
	// PerTenant reports that each sub-folder belongs to one tenant, who is admitted as
	// package filesource admits: put filesource.Credentials into the definition.
	PerTenant bool
	// Memory limits what the engine takes for all requests for one folder together, such
	// as "1GB". Nothing is written to a disk, so a sort or a join that needs more fails.
	// Default: 1GB.
	Memory string
	// Threads limits the threads that compute for one folder. Default: the engine's own,
	// one for each processor.
	Threads int
	// Format says how the CSV and JSON files of the folder are written, and of which types
	// their columns are. A sidecar NAME.table.json beside a file or a sub-folder states the
	// same of one table, and goes before it.
	Format filesource.Format
	// TypeBudget is how many bytes of a table's CSV files are read to find out the types of
	// its columns; a byte of a compressed file counts as eight. Those of a larger table are
	// strings, and discovery says so, unless a type of one of them is declared. Compressed
	// files, and files of one column, are read once for each version whatever their size.
	// Default: 1 GiB. Negative: no file is read for it.
	TypeBudget int64
	// Source is for the tables, as for every source of this kind. It cannot keep
	// descriptions: CatalogTTL must be zero.
	Source *sqlsource.Options
}

// Folder returns a source of the Parquet, CSV and JSON files of a folder. A file is a
// table, named as the file is without its extension. A sub-folder is one table of all
// files in it and below, which have one format, and all columns that any of them has;
// folders named year=2025 below it are a column year, by which files are left unread.
// Rows are in the order of the files' names and of the rows in them; where Parquet files
// of several schemas alternate more than 64 times, those of one schema come together.
//
// Each folder has an engine of its own, which reads files of the folder and nothing
// else: no network, no extension that is not linked, no other file, whatever a request
// says. It is closed when nobody has asked for the folder for a minute, and no more
// than 16 are kept for folders that nobody asks for. Links are left out, and so are
// files whose paths have a character that the engine takes for a pattern: * ? [. A
// warning names them. This protects against requests, and not against those who may
// write in the folder: they decide what is served.
//
// A new or changed file is seen by the next request. Put a new version of a file in
// place by renaming it over the old one. A request fails that reads a file while it is
// replaced or changed.
func Folder(dir string, options *FolderOptions) (*sqlsource.Source, error) {
	var o FolderOptions
	if options != nil {
		o = *options
	}
	if o.Memory == "" {
		o.Memory = "1GB"
	}
	if _, err := textfile.Format(o.Format).Checked(); err != nil {
		return nil, fmt.Errorf("duckdb: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("duckdb: %s is not a folder", dir)
	}
	if strings.ContainsAny(dir, "*?[") {
		return nil, fmt.Errorf("duckdb: the path %s has a character that stands for others: * ? [; rename the folder", dir)
	}
	admit := func(wire.Credentials) (string, error) { return dir, nil }
	if o.PerTenant {
		if admit, err = filesource.Admit(dir, nil); err != nil {
			return nil, err
		}
	}
	engines := newInstances(&o)
	open := func(_ context.Context, creds wire.Credentials) (*sql.DB, error) {
		own, err := admit(creds)
		if err != nil {
			return nil, err
		}
		return engines.openFolder(own)
	}
	return sqlsource.NewPerTenant(open, ofFolder(), o.Source)
}

// fence returns the statements that keep a database from everything but a folder, for
// good.
func fence(dir string, o *FolderOptions) []string {
	statements := []string{
		"SET GLOBAL memory_limit = " + literal(o.Memory),
		"SET GLOBAL temp_directory = ''",
		"SET GLOBAL parquet_metadata_cache = true",
		"SET GLOBAL enable_external_file_cache = false",
		"SET GLOBAL autoload_known_extensions = false",
		"SET GLOBAL autoinstall_known_extensions = false",
		"SET GLOBAL allow_community_extensions = false",
		"SET GLOBAL allowed_directories = [" + literal(dir) + "]",
		"SET GLOBAL enable_external_access = false",
	}
	for _, s := range sessionSettings {
		if s.Name == "errors_as_json" {
			continue // of a connection alone, which nobody sets here
		}
		statements = append(statements, "SET GLOBAL "+s.Name+" = "+s.Value)
	}
	if o.Threads > 0 {
		statements = append(statements, fmt.Sprintf("SET GLOBAL threads = %d", o.Threads))
	}
	return append(statements, "SET GLOBAL lock_configuration = true")
}

// literal returns a text in SQL.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// defaultTypeBudget is the TypeBudget of options that have none.
const defaultTypeBudget = 1 << 30

// known is what a source knows of the versions of files that it has seen. It belongs to
// the host, as the files do, and holds nothing of anybody's credentials.
type known struct {
	scans   memo.Memo[string, textVersion, *fileScan] // by the paths of text files
	footers *footers
	format  textfile.Format
	budget  int64
}

func newKnown(o *FolderOptions) *known {
	k := &known{footers: newFooters(), budget: cmp.Or(o.TypeBudget, defaultTypeBudget)}
	k.scans.Slots = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	k.format, _ = textfile.Format(o.Format).Checked()
	return k
}

// forget drops what is known of files that a folder no longer has.
func (k *known) forget(l *listing) {
	k.scans.Drop(func(path string) bool {
		return strings.HasPrefix(path, l.dir+string(filepath.Separator)) && l.files[path] == nil
	})
}
