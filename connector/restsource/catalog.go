package restsource

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

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
	left     []*faultError                            // of the tenant's tables that are left out
}

func newCatalog(tables []Table) (c catalog, faults []*faultError) {
	c.tailored = map[string]*connector.PerRequest[*table]{}
	c.tables, c.order, faults = compileAll(tables)
	for _, t := range c.order {
		if t.ColumnsOf != nil {
			c.tailored[t.Name] = new(connector.PerRequest[*table])
		}
	}
	return c, faults
}

// withOwn returns a catalog of the declared tables and those of a tenant. It leaves out tables that
// are faulty, and then those whose Parent is one of them. Foreign keys to them go too.
func withOwn(declared, more []Table) *catalog {
	all := slices.Concat(declared, more)
	var left []*faultError
	for {
		c, faults := newCatalog(all)
		left = append(left, faults...)
		if c.left = left; len(faults) == 0 {
			return &c
		}
		var rest []Table
		for i, t := range all {
			if !slices.ContainsFunc(faults, func(f *faultError) bool { return f.at == i }) {
				rest = append(rest, t)
			}
		}
		for i := range rest {
			rest[i].ForeignKeys = slices.DeleteFunc(slices.Clone(rest[i].ForeignKeys), func(k wire.ForeignKey) bool {
				return faulty(faults, k.TargetTable) &&
					!slices.ContainsFunc(rest, func(t Table) bool { return t.Name == k.TargetTable })
			})
		}
		all = rest
	}
}

// own adds the tables of Options.TablesOf to the session.
func (x *session) own(ctx context.Context) error {
	if x.options.TablesOf == nil {
		return nil
	}
	c, _, err := x.catalogs.Get(ctx, func(ctx context.Context) (*catalog, func(), error) {
		var declared []Table
		for _, t := range x.order {
			declared = append(declared, t.Table)
		}
		more, err := x.options.TablesOf(ctx, &Call{x.creds, x.getter(ctx, "", nil)})
		if err != nil {
			return nil, nil, x.secrets().ScrubError(err)
		}
		return withOwn(declared, more), nil, nil
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
	for _, f := range x.left {
		if t == nil && f.table == name {
			return nil, &formError{name, "it is left out: " + f.problem}
		}
	}
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
		own.Columns = slices.Clone(t.Columns)
		for _, c := range more {
			declared := func(d Column) bool {
				return d.Name == c.Name && d.names()[0] == c.Name && d.OfParent == "" && !d.Position
			}
			if !c.found || !slices.ContainsFunc(t.Columns, declared) {
				own.Columns = append(own.Columns, c)
			}
		}
		if faults := own.compile(); len(faults) > 0 {
			return nil, nil, &formError{name, "ColumnsOf: " + strings.Join(faults, "; ")}
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
