package filesource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source serves the sub-folders of a folder: each belongs to one tenant, and
// each file in it is a table. It is a complete connector.Source with every
// optional route, and safe for concurrent use.
//
// Each query reads its file from the start, row by row. The source claims no
// part of the request as done, so the library filters, sorts and cuts the rows.
// Joined tables are held in memory, within the budget.
type Source struct {
	*memsource.Source // the routes, computed from the rows of the tables
	tables            *tables
}

// Prepare reads the files of all tenants, so that the first requests need not
// wait, and logs what is wrong with them. If that takes long, it logs every few
// seconds what it is reading. It returns when all are read or ctx ends.
func (s *Source) Prepare(ctx context.Context) { s.tables.prepare(ctx) }

// Close stops reading files in the background and releases the folder. Use the
// source no more.
func (s *Source) Close() error {
	s.tables.end(errClosed)
	return s.tables.root.close()
}

// tables are the files of all folders.
type tables struct {
	root    *root
	catalog *catalog
	log     *slog.Logger
	end     context.CancelCauseFunc
}

// Options configures a [Source].
type Options struct {
	// Logger receives what is wrong with the host's folders and files.
	// Default: slog.Default().
	Logger *slog.Logger
	// Format says how the text files of all tenants are written. A sidecar file says it of
	// one file. Default: each file says it itself, or is UTF-8 and separated by commas.
	Format Format
	// Budget bounds the memory of each aggregate, cardinality, link and join
	// request, in bytes. Default: 64 MiB.
	Budget int64
}

// Open returns a source over a folder of the disk. Links that lead out of a
// tenant's folder are not followed. Close the source when it is no longer used.
// Nil options mean the defaults.
func Open(dir string, opts *Options) (*Source, error) {
	opts, err := opts.checked()
	if err != nil {
		return nil, err
	}
	r, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	return newSource(r, opts), nil
}

// FS returns a source over a file system, such as an embedded one, whose files
// implement io.ReaderAt and state their size. A file that is shorter or longer than
// that fails the request. The source follows the links of the file system, so use
// [Open] and not os.DirFS for a folder of the disk. Close the source when it is no
// longer used. Nil options mean the defaults.
func FS(files fs.FS, opts *Options) (*Source, error) {
	if _, err := fs.ReadDir(files, "."); err != nil {
		return nil, err
	}
	opts, err := opts.checked()
	if err != nil {
		return nil, err
	}
	return newSource(fsRoot(files), opts), nil
}

// checked returns the options with their defaults. It fails if the format means nothing.
func (o *Options) checked() (*Options, error) {
	var all Options
	if o != nil {
		all = *o
	}
	format, err := textfile.Format(all.Format).Checked()
	if err != nil {
		return nil, fmt.Errorf("filesource: %w", err)
	}
	all.Format = Format(format)
	return &all, nil
}

func newSource(r *root, opts *Options) *Source {
	log := opts.Logger
	if log == nil {
		log = slog.Default()
	}
	life, end := context.WithCancelCause(context.Background())
	all := &tables{root: r, catalog: newCatalog(life, r, textfile.Format(opts.Format)), log: log, end: end}
	return &Source{memsource.Over(all, &memsource.Options{Budget: opts.Budget}), all}
}

var errClosed = errors.New("the source is closed")

// prepare implements Source.Prepare.
func (s *tables) prepare(ctx context.Context) {
	p := startProgress(s.log)
	defer p.stop()
	names, err := s.root.tenants()
	if err != nil {
		s.log.Error("the folder cannot be read", "cause", err)
		return
	}
	for _, name := range names {
		f, err := s.root.enter(name)
		if err != nil {
			s.log.Error("a tenant's folder cannot be entered", "tenant", name, "cause", reason(err))
			continue
		}
		found, err := s.discover(ctx, f, p.reading)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log.Error("a tenant's folder cannot be read", "tenant", name, "cause", reason(err))
			continue
		}
		for _, w := range found.Warnings {
			s.log.Warn("a discovery warning", "tenant", name, "warning", w)
		}
	}
}

// enter opens the tenant's folder. The caller closes it.
func (s *tables) enter(creds wire.Credentials) (*folder, error) {
	f, err := s.root.admit(creds)
	var refused *refusal
	if errors.As(err, &refused) {
		if refused.cause != nil {
			s.log.Warn("a tenant's folder cannot be entered", "cause", creds.Scrub(refused.cause.Error()))
		}
		// The library turns it into bad_request on every route but /check.
		return nil, connector.CheckFailed("%s", refusalText)
	}
	return f, err
}

// Check verifies the tenant's name and password.
func (s *tables) Check(_ context.Context, req *wire.CheckRequest) error {
	f, err := s.enter(req.Credentials)
	if err != nil {
		return err
	}
	return f.close()
}

// Discover describes every file of the folder. It warns of files that cannot be
// served, and of statements of a sidecar that the data contradicts.
func (s *tables) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	f, err := s.enter(req.Credentials)
	if err != nil {
		return nil, err
	}
	return s.discover(ctx, f, func(string, string) {})
}

// discover describes the folder and closes it. It calls reading before each file.
func (s *tables) discover(ctx context.Context, f *folder, reading func(tenant, file string)) (*wire.Discovery, error) {
	defer func() { _ = f.close() }()
	listed, err := f.list()
	if err != nil {
		return nil, err
	}
	s.catalog.forget(f.name, listed.tables)
	answer := &wire.Discovery{Tables: []wire.Table{}, Warnings: listed.warnings}
	known := map[string]*description{}
	for _, t := range listed.tables {
		reading(f.name, t.file)
		d, err := s.catalog.describe(ctx, f, t)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && !passing(err):
			return nil, fmt.Errorf("%s: %w", t.file, err)
		case err != nil:
			answer.Warnings = append(answer.Warnings, fmt.Sprintf("%s is left out: %s", t.file, reason(err)))
		case d.fault != nil:
			answer.Warnings = append(answer.Warnings, fmt.Sprintf("%s; the file is left out", d.fault))
		default:
			known[t.table] = d
		}
	}
	for _, t := range listed.tables {
		d := known[t.table]
		if d == nil {
			continue
		}
		table := d.discovered()
		var warnings []string
		table.ForeignKeys, warnings, err = s.catalog.foreignKeys(ctx, f.name, d, known)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, err
		}
		answer.Warnings = append(append(answer.Warnings, d.warnings...), warnings...)
		answer.Tables = append(answer.Tables, table)
	}
	return answer, nil
}

// Describe returns one table without its foreign keys. No route for which the
// library describes a table needs them, and to check them may take a reading of
// other files.
func (s *tables) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	f, err := s.enter(creds)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }()
	d, err := s.catalog.find(ctx, f, table)
	if err == nil {
		err = servable(d, table)
	}
	if err != nil {
		return nil, err
	}
	described := d.discovered()
	return &described, nil
}

// servable fails with unknown_entity if there is no such table, or if its file
// is malformed.
func servable(d *description, table string) error {
	switch {
	case d == nil && len(table) > 64: // do not send a long text back
		return connector.UnknownEntity("there is no table of that name")
	case d == nil:
		return connector.UnknownEntity("there is no table %q", table)
	case d.fault != nil:
		return connector.UnknownEntity("there is no table %q: its file cannot be read: %s", table, d.fault)
	}
	return nil
}

// Open opens the file of a tenant's table. What the description knows is not counted
// again.
func (s *tables) Open(ctx context.Context, creds wire.Credentials, table string) (*memsource.OpenTable, error) {
	f, err := s.enter(creds)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }()
	d, opened, err := s.catalog.open(ctx, f, table)
	if err == nil {
		err = servable(d, table)
	}
	if err != nil {
		return nil, err
	}
	t := &memsource.OpenTable{RowCount: &d.rowCount, Counted: d.counted, Close: opened.close}
	for _, c := range d.columns {
		t.Columns = append(t.Columns, wire.Column{Name: c.name, Type: c.typ})
	}
	t.Rows = d.all(ctx, opened)
	return t, nil
}

// counted returns what was counted of a column with the description.
func (d *description) counted(column string) (counts wire.Cardinality, known bool) {
	at := d.field(column)
	if at < 0 {
		return counts, false
	}
	return d.columns[at].profile.cardinality()
}
