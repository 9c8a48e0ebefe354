package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// description is all that is known of one table: what its file and its sidecar
// say, at one version of both. It does not change. It belongs to the host, as
// the files do, and has nothing of anybody's credentials (G11).
type description struct {
	tableFile
	info     fs.FileInfo
	side     *sidecar
	columns  []column
	rowCount int64
	keys     declaredKeys
	warnings []string
	// fault says why the file is not served; all else is then meaningless.
	fault *fault
}

// rows reads a file as typed rows.
type rows struct {
	records
	file    string
	columns []column
	only    []int // the columns that are read; the cells of others are null
	values  []wire.Value
}

// next is the next row, in the order of the columns. It ends with io.EOF. The
// slice is reused; the text of the cells is not.
func (r *rows) next() ([]wire.Value, error) {
	cells, err := r.records.next()
	if err != nil {
		return nil, err
	}
	if len(cells) != len(r.columns) {
		return nil, fmt.Errorf("%s: %w", r.file, errChanged) // a new member
	}
	for _, i := range r.only {
		v, ok := r.columns[i].value(cells[i])
		if !ok {
			return nil, fmt.Errorf("%s: %w", r.file, errChanged) // it fitted when the type was found
		}
		r.values[i] = v
	}
	return r.values, nil
}

// read opens the typed rows of a file, which must be the version described.
// Only the columns named are read; all of them where none is.
func (d *description) read(ctx context.Context, f *file, only ...int) (*rows, error) {
	headers := make([]string, len(d.columns))
	for i, c := range d.columns {
		headers[i] = c.header
	}
	all, err := d.records(ctx, f, headers)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(all.names(), headers) {
		return nil, fmt.Errorf("%s: %w", f.name, errChanged)
	}
	if len(only) == 0 {
		for i := range headers {
			only = append(only, i)
		}
	}
	return &rows{records: all, file: f.name, columns: d.columns, only: only, values: make([]wire.Value, len(headers))}, nil
}

// records opens the records of a file. They end with the context: a reading
// may take minutes, and whoever wanted it may be gone.
func (d *description) records(ctx context.Context, f *file, headers []string) (records, error) {
	all, err := d.parse(f.name, f.reader(), headers)
	if err != nil {
		return nil, err
	}
	return &interruptible{records: all, ctx: ctx}, nil
}

type interruptible struct {
	records
	ctx context.Context
	n   int
}

func (r *interruptible) next() ([]raw, error) {
	if r.n++; r.n%1024 == 0 {
		if err := context.Cause(r.ctx); err != nil {
			return nil, err
		}
	}
	return r.records.next()
}

// all iterates over the rows of an open file, and fails at the end when the
// file was written to meanwhile.
func (d *description) all(ctx context.Context, f *file) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		rows, err := d.read(ctx, f)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			values, err := rows.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(values, nil) {
				return
			}
		}
		if err := f.unchanged(); err != nil {
			yield(nil, err)
		}
	}
}

// describe reads a file until everything about it is known: once for the
// types, once for the figures, and for each key as often as its check needs.
// A malformed file is a description with a fault. An error means that nothing
// could be found out: the disk failed, or the file was written to meanwhile.
func describe(ctx context.Context, t tableFile, f *file, side *sidecar, warnings []string) (*description, error) {
	d := &description{tableFile: t, info: f.info, side: side, warnings: warnings}
	err := d.explore(ctx, f)
	// A fault found in a mixture of two versions is none.
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
	columns, count, warnings, err := infer(f.name, untyped, d.side)
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

// countUnique counts the distinct values of fields that are proven unique,
// where they were too many to be counted one by one: they are as many as cells.
func (d *description) countUnique() {
	for i := range d.columns {
		if c := &d.columns[i]; c.profile.uncounted && d.unique(c.name) {
			c.profile.uncounted, c.profile.distinct.n = false, int(c.profile.nonNull())
		}
	}
}

// unique reports whether the field is unique by a checked statement of the
// sidecar.
func (d *description) unique(field string) bool {
	return slices.Contains(d.keys.unique, field) || len(d.keys.primary) == 1 && d.keys.primary[0] == field
}

// field is the position of a field; -1 when there is none.
func (d *description) field(name string) int {
	return slices.IndexFunc(d.columns, func(c column) bool { return c.name == name })
}

// discovered is the table as discovery states it, without foreign keys: those
// depend on other tables.
func (d *description) discovered() wire.Table {
	count := d.rowCount
	t := wire.Table{
		Name: d.table, RowCount: &count, StoresRows: true,
		SourceDescription: fmt.Sprintf("The rows of the file %s.", d.file),
		PrimaryKey:        d.keys.primary, ForeignKeys: []wire.ForeignKey{},
	}
	if d.side != nil && d.side.Description != "" {
		t.SourceDescription = d.side.Description
	}
	if t.PrimaryKey == nil {
		t.PrimaryKey = []string{}
	}
	for i := range d.columns {
		c := &d.columns[i]
		f := wire.Field{
			Name: c.name, SourceColumn: c.header, Type: c.typ, Nullable: c.nullable, Unique: d.unique(c.name),
			Samples: []wire.Value{}, SourceDescription: c.describe, Stats: c.stats(),
		}
		if f.SourceDescription == "" {
			f.SourceDescription = fmt.Sprintf("The column %s of the file %s.", c.header, d.file)
		}
		if !c.quiet && c.profile.samples != nil {
			f.Samples = c.profile.samples
		}
		t.Fields = append(t.Fields, f)
	}
	return t
}
