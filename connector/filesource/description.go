package filesource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A description is all that is known about one table: what its file and its
// sidecar say, at one version of both. It does not change. It belongs to the
// host, as the files do, and holds nothing of anybody's credentials.
type description struct {
	tableFile
	info     fs.FileInfo
	side     *textfile.Sidecar
	format   textfile.Format
	columns  []column
	rowCount int64
	keys     declaredKeys
	warnings []string
	// fault says why the file cannot be served. If it is set, nothing else is.
	fault *textfile.Fault
}

// rows reads a file as typed rows.
type rows struct {
	textfile.Records
	file    string
	columns []column
	only    []int // the columns to read; the cells of others are null
	values  []wire.Value
}

// all iterates over the rows. The slice is reused; the text of the cells is not.
func (r *rows) all() iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		for {
			values, err := r.next()
			if errors.Is(err, io.EOF) || !yield(values, err) || err != nil {
				return
			}
		}
	}
}

func (r *rows) next() ([]wire.Value, error) {
	cells, err := r.Records.Next()
	if err != nil {
		return nil, err
	}
	if len(cells) != len(r.columns) {
		return nil, fmt.Errorf("%s: %w", r.file, errChanged) // a new member
	}
	for _, i := range r.only {
		v, err := r.columns[i].value(cells[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.file, errChanged) // it fitted when the type was inferred
		}
		r.values[i] = v
	}
	return r.values, nil
}

// read opens the typed rows of a file, which must be the version described. It
// reads the given columns, or all if none is given.
func (d *description) read(ctx context.Context, f *file, only ...int) (*rows, error) {
	headers := make([]string, len(d.columns))
	for i, c := range d.columns {
		headers[i] = c.header
	}
	all, err := d.records(ctx, f, headers)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(all.Names(), headers) {
		return nil, fmt.Errorf("%s: %w", f.name, errChanged)
	}
	if len(only) == 0 {
		for i := range headers {
			only = append(only, i)
		}
	}
	return &rows{Records: all, file: f.name, columns: d.columns, only: only, values: make([]wire.Value, len(headers))}, nil
}

// records opens the records of a file. They end with the context, because
// reading may take minutes and nobody may want the rows any more.
func (d *description) records(ctx context.Context, f *file, headers []string) (textfile.Records, error) {
	all, err := textfile.Open(f.name, f.reader(), d.format, headers)
	if err != nil {
		return nil, err
	}
	return &interruptible{Records: all, ctx: ctx}, nil
}

type interruptible struct {
	textfile.Records
	ctx context.Context
	n   int
}

func (r *interruptible) Next() ([]textvalue.Raw, error) {
	if r.n++; r.n%1024 == 0 {
		if err := context.Cause(r.ctx); err != nil {
			return nil, err
		}
	}
	return r.Records.Next()
}

// all iterates over the rows of an open file. It fails at the end if the file
// was written to meanwhile.
func (d *description) all(ctx context.Context, f *file) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		rows, err := d.read(ctx, f)
		if err != nil {
			yield(nil, err)
			return
		}
		for values, err := range rows.all() {
			if !yield(values, err) || err != nil {
				return
			}
		}
		if err := f.unchanged(); err != nil {
			yield(nil, err)
		}
	}
}

// describe reads a file until everything about it is known: once for the types,
// once for the statistics, and as often as each key needs. It describes a
// malformed file with a fault. It fails if the disk fails or the file was written
// to meanwhile.
func describe(ctx context.Context, t tableFile, f *file, folder textfile.Format, side *textfile.Sidecar,
	warnings []string) (*description, error) {
	d := &description{tableFile: t, info: f.info, side: side, format: folder.Of(t.file, side), warnings: warnings}
	err := d.explore(ctx, f)
	// A fault that was found in a mixture of two versions means nothing.
	if changed := f.unchanged(); changed != nil {
		return nil, changed
	}
	if errors.As(err, &d.fault) {
		return d, nil
	}
	return d, err
}

func (d *description) explore(ctx context.Context, f *file) error {
	untyped, err := d.records(ctx, f, nil)
	if err != nil {
		return err
	}
	columns, count, warnings, err := inferColumns(f.name, untyped, d.format, d.side)
	if err != nil {
		return err
	}
	d.columns, d.rowCount = columns, count
	d.warnings = append(d.warnings, warnings...)
	typed, err := d.read(ctx, f)
	if err != nil {
		return err
	}
	if err := measure(columns, typed, maxDistinct); err != nil {
		return err
	}
	d.keys, warnings, err = checkKeys(d.side, columns, count, func(only ...int) (*rows, error) { return d.read(ctx, f, only...) })
	if err != nil {
		return err
	}
	d.warnings = append(d.warnings, warnings...)
	d.countUnique()
	return nil
}

// countUnique counts the values of fields that are proven unique and had too
// many values to be counted one by one: they are as many as the cells.
func (d *description) countUnique() {
	for i := range d.columns {
		if c := &d.columns[i]; c.profile.uncounted && d.unique(c.name) {
			c.profile.uncounted, c.profile.different = false, c.profile.nonNull()
		}
	}
}

// unique reports whether the sidecar states that the field is unique, and the
// data agrees.
func (d *description) unique(field string) bool {
	return slices.Contains(d.keys.unique, field) || len(d.keys.primary) == 1 && d.keys.primary[0] == field
}

// field returns the position of a field, or -1.
func (d *description) field(name string) int { return fieldIndex(d.columns, name) }

func fieldIndex(columns []column, name string) int {
	return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
}

// discovered returns the table as discovery states it, without foreign keys,
// because those depend on other tables.
func (d *description) discovered() wire.Table {
	count := d.rowCount
	t := wire.Table{
		Name:              d.table,
		SourceDescription: fmt.Sprintf("The rows of the file %s.", d.file),
		RowCount:          &count,
		StoresRows:        true,
		PrimaryKey:        append([]string{}, d.keys.primary...),
		ForeignKeys:       []wire.ForeignKey{},
	}
	if d.side != nil {
		t.SourceDescription = cmp.Or(d.side.Description, t.SourceDescription)
	}
	for i := range d.columns {
		c := &d.columns[i]
		f := wire.Field{
			Name:              c.name,
			SourceColumn:      c.header,
			SourceDescription: cmp.Or(c.describe, fmt.Sprintf("The column %s of the file %s.", c.header, d.file)),
			Type:              c.typ,
			Nullable:          c.nullable,
			Unique:            d.unique(c.name),
			Samples:           []wire.Value{},
			Stats:             c.stats(),
		}
		if !c.quiet {
			f.Samples = c.profile.samples.Values()
		}
		t.Fields = append(t.Fields, f)
	}
	return t
}
