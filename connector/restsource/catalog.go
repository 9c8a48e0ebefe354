package restsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Call is what [Options.TablesOf] is called with.
type Call struct {
	Credentials wire.Credentials
	// Get requests a path below API.Base, as in Table.ColumnsOf.
	Get func(path string, query url.Values) ([]byte, error)
}

// catalog is the declared tables, or those and the tables of a tenant.
type catalog struct {
	tables   map[string]*table
	order    []*table
	tailored map[string]*connector.PerRequest[*table] // of the tables with ColumnsOf
}

func newCatalog(tables []Table) (c catalog, err error) {
	c.tailored = map[string]*connector.PerRequest[*table]{}
	c.tables, c.order, err = compileAll(tables)
	for _, t := range c.order {
		if t.ColumnsOf != nil {
			c.tailored[t.Name] = new(connector.PerRequest[*table])
		}
	}
	return c, err
}

// own adds the tables of Options.TablesOf to the session.
func (x *session) own(ctx context.Context) error {
	if x.options.TablesOf == nil {
		return nil
	}
	c, _, err := x.catalogs.Get(ctx, func(ctx context.Context) (*catalog, func(), error) {
		all := []Table{}
		for _, t := range x.order {
			all = append(all, t.Table)
		}
		more, err := x.options.TablesOf(ctx, &Call{x.creds, x.getter(ctx, "", nil)})
		if err != nil {
			return nil, nil, x.secrets().ScrubError(err)
		}
		c, err := newCatalog(slices.Concat(all, more))
		if err != nil {
			err = fmt.Errorf("restsource: TablesOf: %w", err)
		}
		return &c, nil, err
	})
	if err == nil {
		x.catalog = *c
	}
	return err
}

// table returns a table with the columns that the tenant has.
func (x *session) table(ctx context.Context, name string) (*table, error) {
	if x.tables[name] == nil {
		if err := x.own(ctx); err != nil {
			return nil, err
		}
	}
	t := x.tables[name]
	if t == nil {
		return nil, connector.UnknownEntity("there is no table %s", terms.QuoteName(name))
	}
	if t.ColumnsOf == nil {
		return t, nil
	}
	own, _, err := x.tailored[name].Get(ctx, func(ctx context.Context) (*table, func(), error) {
		more, err := t.ColumnsOf(ctx, x.getter(ctx, name, t))
		if err != nil {
			return nil, nil, err
		}
		own := &table{Table: t.Table, parent: t.parent}
		own.Columns = append(append([]Column{}, t.Columns...), more...)
		if faults := own.compile(); len(faults) > 0 {
			return nil, nil, fmt.Errorf("restsource: ColumnsOf: %w", errors.Join(faults...))
		}
		return own, nil, nil
	})
	return own, err
}

// getter returns the function by which the author's functions request a path.
func (x *session) getter(ctx context.Context, name string, t *table) func(path string, query url.Values) ([]byte, error) {
	return func(path string, query url.Values) ([]byte, error) {
		u, body := x.at(path, query), []byte(nil)
		if t != nil && t.graph != nil {
			u = x.at(t.Path, nil)
			body, _ = json.Marshal(map[string]string{"query": query.Get("query")}) // a map of texts has a spelling
		}
		a, err := x.send(ctx, name, u, body)
		if err != nil {
			return nil, err
		}
		return a.body, a.refused(name)
	}
}
