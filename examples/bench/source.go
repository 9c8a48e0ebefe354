package main

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// source is our side: an author's source over the reference table, which leaves
// everything to the library.
type source struct{ rows int }

func (source) Check(context.Context, *wire.CheckRequest) error { return nil }

// definition describes the reference table.
func definition() wire.Table {
	t := wire.Table{
		Name: tableName, SourceDescription: "The orders of a shop, made from a seed.",
		PrimaryKey: []string{"id"}, ForeignKeys: []wire.ForeignKey{},
	}
	for _, c := range columns {
		t.Fields = append(t.Fields, wire.Field{
			Name: c.Name, SourceColumn: c.Name, Type: c.Type, Nullable: c.Name == "region", Unique: c.Name == "id", Samples: []wire.Value{},
		})
	}
	return t
}

func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{definition()}}, nil
}

// Two tables have the columns of the reference table and hardly any rows: they hold
// streams open for S15.
const (
	silentTable   = "silent"   // no row ever comes
	drippingTable = "dripping" // a row comes every second
)

func (s source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if !slices.Contains([]string{tableName, silentTable, drippingTable}, req.Table) {
		return connector.UnknownEntity("no table %q; there is %s", req.Table, tableName)
	}
	w := out.Begin(columns)
	if req.Table == silentTable {
		<-ctx.Done()
		return ctx.Err()
	}
	var o order
	for i := range s.rows {
		if req.Table == drippingTable {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
		}
		o.at(i)
		err := w.Row(
			wire.Int(o.id), wire.Text(o.uuid), wire.Text(o.name), wire.Text(o.email), wire.Text(o.status), wire.Decimal(o.amount),
			wire.Int(o.qty), wire.Float(o.price), wire.Bool(o.active), wire.Datetime(o.created), wire.Text(o.note), textOrNull(o.region))
		if err != nil {
			return err
		}
	}
	return nil
}

// bearer is no secret: it is the token of servers that live as long as one run, on
// the loopback.
const bearer = "bench-0123456789abcdef0123456789abcdef"

// newConnector returns the whole handler over a table with this number of rows. Its
// readers may stall for as long as a run holds them.
func newConnector(rows int) (*connector.Handler, error) {
	return newHandler(connector.Definition{Slug: "bench-orders"}, source{rows})
}

// newHandler returns the handler of a connector.
func newHandler(d connector.Definition, s connector.Source) (*connector.Handler, error) {
	token, err := wire.NewToken(bearer)
	if err != nil {
		return nil, err
	}
	return connector.New(d, s, token, &connector.Options{
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		WriteStall: requestTimeout,
	})
}

// query returns a request for the whole table, which callers narrow.
func query() *wire.QueryRequest {
	return &wire.QueryRequest{Table: tableName, Fields: reference.Names(), Envelope: wire.Envelope{
		Credentials: wire.NewCredentials(map[string]string{filesource.CredentialTenant: tenant}), TimeoutMS: 600_000,
	}}
}
