package faulttest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// token is the bearer token of every connector here.
const token = "realistic-faults-0123456789-abcdef"

// handler serves a source that uses the library, without what is omitted.
func handler(src connector.Source, omit connector.Omit) http.Handler {
	right, err := wire.NewToken(token)
	if err != nil {
		panic(err)
	}
	h, err := connector.New(connector.Definition{Slug: "faulty", KeysEnforced: true}, src, right, &connector.Options{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), // faults fail requests on purpose
		Omit:   omit,
	})
	if err != nil {
		panic(err)
	}
	return h
}

// source is what all connectors share: a set, which discovery describes, and a fault.
type source struct {
	set *Set
	planted
}

func (c *source) Check(context.Context, *wire.CheckRequest) error { return nil }

func (c *source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: c.described()}, nil
}

func (c *source) Describe(_ context.Context, _ wire.Credentials, table string) (*wire.Table, error) {
	for _, t := range c.described() {
		if t.Name == table {
			return &t, nil
		}
	}
	return nil, connector.UnknownEntity("no table %s", terms.QuoteName(table))
}

// described returns the tables as the connector describes them.
func (c *source) described() (tables []wire.Table) {
	for _, t := range c.set.Tables {
		t.Table.Fields = slices.Clone(t.Table.Fields)
		t.Table.PrimaryKey = slices.Clone(t.Table.PrimaryKey)
		t.Table.ForeignKeys = slices.Clone(t.Table.ForeignKeys)
		if c.describe != nil && t.Name == c.Table {
			c.describe(&t.Table, t.Field(c.Column))
		}
		tables = append(tables, t.Table)
	}
	return tables
}

// windowed returns the window that the connector applies.
func (c *source) windowed(table string, sorted bool, offset, limit int64) (newOffset, newLimit int64) {
	if c.window != nil && table == c.Table {
		return c.window(sorted, offset, limit)
	}
	return offset, limit
}

// counted returns the number of rows that the connector answers.
func (c *source) counted(table string, filtered bool, rows int64) int64 {
	if c.count != nil && table == c.Table {
		return c.count(filtered, rows)
	}
	return rows
}

// pushes reports whether the connector evaluates a filter itself, given whether it can.
func (c *source) pushes(table string, f wire.Filter, can bool) bool {
	return can || c.can != nil && c.is(table, f.Field) && c.can(f)
}
