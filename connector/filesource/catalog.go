package filesource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/memo"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// catalog knows the tables in all folders. It describes a file when it is first
// needed, and again when the file or its sidecar has changed. It remembers the
// description by the file's place, and nothing of a request's credentials.
type catalog struct {
	root   *root
	format textfile.Format // of the whole folder
	// life ends with the source. A description outlives the request that
	// needed it: a large file may take longer than one request may last.
	life   context.Context
	tables memo.Memo[place, version, *description]
	links  memo.Memo[linkPlace, linkVersion, string]
}

// place is where a file is.
type place struct{ tenant, file string }

// version is what a description is made from.
type version struct {
	info    fs.FileInfo
	sidecar sidecarText
	started time.Time
}

// sidecarText is the text of a sidecar, or why it could not be read.
type sidecarText struct{ content, problem string }

// linkPlace and linkVersion are the same for a foreign key between two tables.
type linkPlace struct {
	tenant, table, field, targetTable, targetField string
}
type linkVersion struct{ from, to *description }

func newCatalog(life context.Context, r *root, format textfile.Format) *catalog {
	slots := make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	c := &catalog{root: r, format: format, life: life}
	c.tables.Slots, c.links.Slots = slots, slots
	return c
}

func (v version) Same(now version) bool {
	return v.sidecar == now.sidecar && memo.SameVersion(v.info, now.info)
}

func (v version) Settled() bool { return memo.Rested(v.info, v.started) }

func (v linkVersion) Same(now linkVersion) bool { return v == now }
func (v linkVersion) Settled() bool             { return true }

// find describes the table of that name. It returns nil if the folder has none.
func (c *catalog) find(ctx context.Context, f *folder, table string) (*description, error) {
	t, ok, err := f.table(table)
	if err != nil || !ok {
		return nil, err
	}
	d, err := c.describe(ctx, f, t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it disappeared after it was listed
	}
	return d, err
}

// describe returns the description of a file as it is now. If the file is being
// written to, it tries again.
func (c *catalog) describe(ctx context.Context, f *folder, t tableFile) (d *description, err error) {
	for range 3 {
		var info fs.FileInfo
		if info, err = f.stat(t.file); err == nil {
			var side sidecarText
			if side, err = f.sidecar(t.table); err != nil {
				return nil, err
			}
			now := version{info, side, time.Now()}
			d, err = c.tables.Get(ctx, place{f.name, t.file}, now, func() (*description, error) {
				return c.explore(f.name, t, now)
			})
		}
		if !errors.Is(err, errChanged) {
			break
		}
	}
	var unreadable *textfile.Fault
	if errors.As(err, &unreadable) {
		return &description{tableFile: t, fault: unreadable}, nil
	}
	return d, err
}

// sidecar reads the sidecar of a table. It is empty if the table has none.
func (f *folder) sidecar(table string) (sidecarText, error) {
	name := table + textfile.SidecarExtension
	content, err := f.small(name, textfile.MaxSidecar)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sidecarText{}, nil
	case err != nil && passing(err):
		return sidecarText{problem: fmt.Sprintf("%s is not read: %s", name, reason(err))}, nil
	case err != nil:
		return sidecarText{}, err
	case len(content) == 0:
		return sidecarText{problem: name + " is empty; write a JSON object into it or remove it"}, nil
	}
	return sidecarText{content: string(content)}, nil
}

// reason returns an error about a file as a tenant may see it: without the
// path, which belongs to the host.
func reason(err error) string {
	var found *textfile.Fault
	switch {
	case errors.Is(err, errChanged):
		return changedText
	case errors.As(err, &found):
		return found.Problem
	}
	return pathCause(err).Error()
}

// explore describes a file from scratch.
func (c *catalog) explore(tenant string, t tableFile, now version) (*description, error) {
	f, err := c.root.enter(tenant)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }()
	opened, err := f.openFile(t.file)
	if err != nil {
		return nil, err
	}
	defer opened.close()
	if !memo.SameVersion(opened.info, now.info) {
		return nil, fmt.Errorf("%s: %w", t.file, errChanged)
	}
	var side *textfile.Sidecar
	var warnings []string
	switch text := now.sidecar; {
	case text.problem != "":
		warnings = []string{text.problem}
	case text.content != "":
		if side, err = textfile.ParseSidecar(t.table+textfile.SidecarExtension, []byte(text.content)); err != nil {
			warnings = []string{err.Error() + "; nothing of the file is applied"}
		} else if side.Separator != "" && !textfile.Separated(t.file) {
			warnings = []string{side.File + `: "separator": ` + t.file + " has none"}
		}
	}
	return describe(c.life, t, opened, c.format, side, warnings)
}

// open opens the file of a table at the version of its description. The caller
// closes the file.
func (c *catalog) open(ctx context.Context, f *folder, table string) (*description, *file, error) {
	for range 3 {
		d, err := c.find(ctx, f, table)
		if err != nil || d == nil || d.fault != nil {
			return d, nil, err
		}
		opened, err := f.openFile(d.file)
		if err != nil {
			return nil, nil, err
		}
		if memo.SameVersion(opened.info, d.info) {
			return d, opened, nil
		}
		opened.close()
	}
	return nil, nil, fmt.Errorf("table %q: %w", table, errChanged)
}

// forget drops what is known of files that a folder no longer has.
func (c *catalog) forget(tenant string, tables []tableFile) {
	c.tables.Drop(func(p place) bool {
		return p.tenant == tenant && !slices.ContainsFunc(tables, func(t tableFile) bool { return t.file == p.file })
	})
	c.links.Drop(func(p linkPlace) bool {
		return p.tenant == tenant && !slices.ContainsFunc(tables, func(t tableFile) bool { return t.table == p.table })
	})
}

// foreignKeys returns the foreign keys that a table's sidecar states and the
// data confirms. It fails only by a fault of the host. known are the tables of the folder that can be served.
func (c *catalog) foreignKeys(
	ctx context.Context, tenant string, d *description, known map[string]*description,
) (keys []wire.ForeignKey, warnings []string, err error) {
	keys = []wire.ForeignKey{}
	if d.side == nil {
		return keys, nil, nil
	}
	for _, k := range d.side.ForeignKeys {
		problem := ""
		target := known[k.TargetTable]
		switch {
		case d.field(k.Field) < 0:
			problem = fmt.Sprintf("there is no field %q", k.Field)
		case target == nil:
			problem = fmt.Sprintf("there is no table %q", k.TargetTable)
		case target.field(k.TargetField) < 0:
			problem = fmt.Sprintf("table %q has no field %q", k.TargetTable, k.TargetField)
		default:
			at := linkPlace{tenant, d.table, k.Field, k.TargetTable, k.TargetField}
			var err error
			problem, err = c.links.Get(ctx, at, linkVersion{d, target}, func() (string, error) {
				return c.checkLink(tenant, k, d, target)
			})
			if err != nil && !passing(err) {
				return nil, nil, err
			}
			if err != nil {
				problem = reason(err)
			}
		}
		if problem == "" {
			keys = append(keys, k)
		} else {
			warnings = append(warnings, fmt.Sprintf("%s: foreign key %s to %s.%s is not declared: %s",
				d.side.File, k.Field, k.TargetTable, k.TargetField, problem))
		}
	}
	return keys, warnings, nil
}

// checkLink checks one foreign key against the files at the versions described.
func (c *catalog) checkLink(tenant string, k wire.ForeignKey, from, to *description) (problem string, err error) {
	f, err := c.root.enter(tenant)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.close() }()
	var ends [2]linkEnd
	var files [2]*file
	descriptions, fields := [2]*description{from, to}, [2]string{k.Field, k.TargetField}
	for i, d := range descriptions {
		opened, err := f.openFile(d.file)
		if err != nil {
			return "", err
		}
		defer opened.close()
		files[i] = opened
		at := d.field(fields[i])
		open := func(only ...int) (*rows, error) { return d.read(c.life, opened, only...) }
		ends[i] = linkEnd{rows: d.rowCount, field: at, typ: d.columns[at].typ, open: open}
	}
	problem, err = checkLink(ends[0], ends[1])
	for i, d := range descriptions {
		if changed := files[i].still(d.info); changed != nil {
			return "", changed
		}
	}
	return problem, err
}
