package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// end is one side of a foreign key.
type end struct {
	rows  int64
	field int
	typ   wire.Type
	open  opener
}

// checkLink reads both sides and tells what keeps from from being a foreign
// key to to: values that to has not (F2).
func checkLink(from, to end) (problem string, err error) {
	parts, ok := readings(to.rows)
	if !ok {
		return tooLarge, nil
	}
	numeric := from.typ.Numeric() && to.typ.Numeric()
	var targets keySet
	var values, orphans int64
	first := 0
	for part := range parts {
		targets.clear()
		err := to.each(numeric, func(d digest, _ int) {
			if d.part(parts) == part {
				targets.add(d)
			}
		})
		if err != nil {
			return "", err
		}
		err = from.each(numeric, func(d digest, line int) {
			if d.part(parts) != part {
				return
			}
			values++
			if !targets.has(d) {
				if orphans++; first == 0 || line < first {
					first = line
				}
			}
		})
		if err != nil {
			return "", err
		}
	}
	if orphans > 0 {
		return fmt.Sprintf("%d of %d values are not there, the first on line %d", orphans, values, first), nil
	}
	return "", nil
}

// each visits the values that are not null.
func (e end) each(numeric bool, visit func(d digest, line int)) error {
	all, err := e.open(e.field)
	if err != nil {
		return err
	}
	typ := wire.TypeString // as text
	if numeric {
		typ = wire.TypeDecimal
	}
	var buf []byte
	for {
		values, err := all.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if v := values[e.field]; !v.IsNull() {
			buf = filter.AppendKey(buf[:0], v, typ)
			visit(digestOf(buf), all.line())
		}
	}
}

// foreignKeys are the foreign keys that a table's sidecar states and the data
// bears out. known are the tables of the folder that are served.
func (l *library) foreignKeys(ctx context.Context, tenant string, d *description, known map[string]*description) (keys []wire.ForeignKey, warnings []string) {
	keys = []wire.ForeignKey{}
	if d.side == nil {
		return keys, nil
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
			problem, err = l.links.get(ctx, at, linkBasis{d, target}, func() (string, error) {
				return l.checkLink(tenant, k, d, target)
			})
			if err != nil {
				problem = reason(err)
			}
		}
		if problem == "" {
			keys = append(keys, k)
		} else {
			warnings = append(warnings, fmt.Sprintf("%s: foreign key %s to %s.%s is not declared: %s",
				d.side.file, k.Field, k.TargetTable, k.TargetField, problem))
		}
	}
	return keys, warnings
}

// checkLink checks one foreign key against the files as they were described.
func (l *library) checkLink(tenant string, k wire.ForeignKey, from, to *description) (problem string, err error) {
	f, err := l.root.enter(tenant)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.close() }()
	side := func(d *description, field string) (end, *file, error) {
		opened, err := f.openFile(d.file)
		if err != nil {
			return end{}, nil, err
		}
		i := d.field(field)
		return end{
			rows: d.rowCount, field: i, typ: d.columns[i].typ,
			open: func(only ...int) (*rows, error) { return d.read(l.life, opened, only...) },
		}, opened, nil
	}
	a, fromFile, err := side(from, k.Field)
	if err != nil {
		return "", err
	}
	defer fromFile.close()
	b, toFile, err := side(to, k.TargetField)
	if err != nil {
		return "", err
	}
	defer toFile.close()
	problem, err = checkLink(a, b)
	for _, at := range []struct {
		file *file
		d    *description
	}{{fromFile, from}, {toFile, to}} {
		if now, statErr := at.file.open.Stat(); statErr != nil || !sameVersion(at.d.info, now) {
			return "", fmt.Errorf("%s: %w", at.d.file, errChanged)
		}
	}
	return problem, err
}
