package memsource

import (
	"context"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// memory are the tables of New.
type memory struct {
	tables map[string]*table
	order  []*table
}

func (m *memory) table(name string) (*table, error) {
	t, ok := m.tables[name]
	if !ok {
		return nil, connector.UnknownEntity("there is no table %s", terms.QuoteName(name))
	}
	return t, nil
}

// Check accepts every credential set.
func (m *memory) Check(context.Context, *wire.CheckRequest) error { return nil }

// Discover lists the tables in the order in which they were given.
func (m *memory) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	d := &wire.Discovery{Tables: make([]wire.Table, 0, len(m.order))}
	for _, t := range m.order {
		d.Tables = append(d.Tables, cloneTable(&t.Table))
	}
	return d, nil
}

// Describe returns one table as Discover lists it.
func (m *memory) Describe(_ context.Context, _ wire.Credentials, name string) (*wire.Table, error) {
	t, err := m.table(name)
	if err != nil {
		return nil, err
	}
	own := cloneTable(&t.Table)
	return &own, nil
}

// Open returns a table. Nothing has to be closed.
func (m *memory) Open(ctx context.Context, _ wire.Credentials, name string) (*OpenTable, error) {
	t, err := m.table(name)
	if err != nil {
		return nil, err
	}
	rows, _ := t.matching(ctx, wire.Where{}) // without filters nothing can fail
	n := int64(len(t.rows))
	return &OpenTable{Columns: t.columns, Rows: rows, RowCount: &n, memory: t}, nil
}

// matching returns the rows that pass the filters. They end with the context, so
// that a scan of many rows that match nothing ends too.
func (t *table) matching(ctx context.Context, where wire.Where) (relation.Rows, error) {
	match, err := filter.Compile(where, t.columns)
	if err != nil {
		return nil, err
	}
	return func(yield func([]wire.Value, error) bool) {
		for i, row := range t.rows {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			ok, err := match.Match(row)
			if err != nil {
				yield(nil, fmt.Errorf("memsource: %w", err))
				return
			}
			if ok && !yield(row, nil) {
				return
			}
		}
	}, nil
}

// sorted returns rows in the requested order, and no more of them than the
// window needs. A LEFT join yields at least one row for each, so that is enough
// for the window of a joined query too.
func (t *table) sorted(rows relation.Rows, req *connector.Query, offset, limit int64) (relation.Rows, error) {
	order, err := filter.CompileOrder(req.Sort, t.columns, req.FieldTypes, t.PrimaryKey)
	if err != nil {
		return nil, err
	}
	top := relation.TopN{Order: order}
	if limit > 0 {
		top.Most = offset + limit
	}
	for row, err := range rows {
		if err == nil {
			err = top.OfferOwned(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return RowsOf(top.Sorted()...), nil
}

// index returns the index of a field. It is built when it is first used.
func (t *table) index(at int, numeric bool) *relation.Index {
	if numeric {
		return t.indexes[1][at]()
	}
	return t.indexes[0][at]()
}
