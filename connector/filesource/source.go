package filesource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source serves the sub-folders of a folder: each belongs to one tenant, and
// each file in it is a table. It is a complete connector.Source with every
// optional route, and safe for concurrent use.
//
// Each query reads its file from the start, row by row. The source claims no
// part of the request as done, so the library filters, sorts and cuts the rows.
type Source struct {
	root    *root
	catalog *catalog
	log     *slog.Logger
	budget  memsource.Budget
	end     context.CancelCauseFunc
}

var (
	_ connector.Source              = (*Source)(nil)
	_ connector.Describer           = (*Source)(nil)
	_ connector.Sizer               = (*Source)(nil)
	_ connector.Counter             = (*Source)(nil)
	_ connector.Aggregator          = (*Source)(nil)
	_ connector.CardinalityMeasurer = (*Source)(nil)
	_ connector.LinkMeasurer        = (*Source)(nil)
	_ connector.Joiner              = (*Source)(nil)
)

// Options configures a [Source].
type Options struct {
	// Logger receives what is wrong with the host's folders and files.
	// Default: slog.Default().
	Logger *slog.Logger
	// Budget bounds the memory of each aggregate, cardinality, link and join
	// request. Default: memsource.DefaultBudget.
	Budget memsource.Budget
}

// Open returns a source over a folder of the disk. Links that lead out of a
// tenant's folder are not followed. Close the source when it is no longer used.
// Nil options mean the defaults.
func Open(dir string, opts *Options) (*Source, error) {
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
	return newSource(fsRoot(files), opts), nil
}

func newSource(r *root, opts *Options) *Source {
	if opts == nil {
		opts = &Options{}
	}
	log := opts.Logger
	if log == nil {
		log = slog.Default()
	}
	life, end := context.WithCancelCause(context.Background())
	return &Source{root: r, catalog: newCatalog(life, r), log: log, budget: opts.Budget, end: end}
}

var errClosed = errors.New("the source is closed")

// Close stops reading files in the background and releases the folder. Use the
// source no more.
func (s *Source) Close() error {
	s.end(errClosed)
	return s.root.close()
}

// Prepare reads the files of all tenants, so that the first requests need not
// wait, and logs what is wrong with them. If that takes long, it logs every few
// seconds what it is reading. It returns when all are read or ctx ends.
func (s *Source) Prepare(ctx context.Context) {
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
			s.log.Warn("a tenant's folder cannot be entered", "tenant", name, "cause", reason(err))
			continue
		}
		found, err := s.discover(ctx, f, p.reading)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log.Warn("a tenant's folder cannot be read", "tenant", name, "cause", reason(err))
			continue
		}
		for _, w := range found.Warnings {
			s.log.Warn("a discovery warning", "tenant", name, "warning", w)
		}
	}
}

// enter opens the tenant's folder. The caller closes it.
func (s *Source) enter(creds wire.Credentials) (*folder, error) {
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
func (s *Source) Check(_ context.Context, req *wire.CheckRequest) error {
	f, err := s.enter(req.Credentials)
	if err != nil {
		return err
	}
	return f.close()
}

// Discover describes every file of the folder. It warns of files that cannot be
// served, and of statements of a sidecar that the data contradicts.
func (s *Source) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	f, err := s.enter(req.Credentials)
	if err != nil {
		return nil, err
	}
	return s.discover(ctx, f, func(string, string) {})
}

// discover describes the folder and closes it. It calls reading before each file.
func (s *Source) discover(ctx context.Context, f *folder, reading func(tenant, file string)) (*wire.Discovery, error) {
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
		table.ForeignKeys, warnings = s.catalog.foreignKeys(ctx, f.name, d, known)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		answer.Warnings = append(append(answer.Warnings, d.warnings...), warnings...)
		answer.Tables = append(answer.Tables, table)
	}
	return answer, nil
}

// Describe returns one table without its foreign keys. No route for which the
// library describes a table needs them, and to check them may take a reading of
// other files.
func (s *Source) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
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

// open opens the rows of a tenant's table. The caller closes them.
func (s *Source) open(ctx context.Context, creds wire.Credentials, table string) (*openTable, error) {
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
	return &openTable{description: d, file: opened}, nil
}

// openTable is a table whose file is open at the version described.
type openTable struct {
	*description
	file *file
}

func (t *openTable) close() { t.file.close() }

// relation returns the columns and rows of the table.
func (t *openTable) relation(ctx context.Context) memsource.Relation {
	columns := make([]wire.Column, len(t.columns))
	for i, c := range t.columns {
		columns[i] = wire.Column{Name: c.name, Type: c.typ}
	}
	return memsource.Relation{Columns: columns, Rows: t.all(ctx, t.file)}
}
