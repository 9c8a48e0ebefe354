package main

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var (
	scienceCredentials = map[string]string{filesource.CredentialTenant: "science"}
	shopCredentials    = map[string]string{filesource.CredentialTenant: "shop", filesource.CredentialPassword: bundledPassword}
)

// TestBundledScience and TestBundledShop run the conformance program.
func TestBundledScience(t *testing.T) { runBundled(t, scienceCredentials, false) }

// The shop's discovery warns of products that order lines name and nobody has, as real data do.
func TestBundledShop(t *testing.T) { runBundled(t, shopCredentials, true) }

func runBundled(t *testing.T, credentials map[string]string, warnings bool) {
	testrun.Long(t)
	t.Parallel()
	connectortest.Run(t, definition, bundledSource(t), &connectortest.Options{
		Credentials: credentials, Warnings: warnings})
}

// TestBundledTenantsAreApart asks as both tenants, in turn and at once.
func TestBundledTenantsAreApart(t *testing.T) {
	connectortest.Isolation(t, definition, bundledSource(t), scienceCredentials, shopCredentials)
}

var (
	definition = connector.Definition{Slug: "files", Credentials: filesource.Credentials()}
	quiet      = &filesource.Options{Logger: slog.New(slog.DiscardHandler)}
)

func bundledSource(t *testing.T) *filesource.Source {
	t.Helper()
	src, _, err := open("", quiet)
	require.NoError(t, err)
	t.Cleanup(func() { _ = src.Close() })
	return src
}

func bundled(t *testing.T, credentials map[string]string) *connectortest.Tenant {
	t.Helper()
	return connectortest.Start(t, definition, bundledSource(t), nil).As(credentials)
}

func tableOf(t *testing.T, d *wire.Discovery, name string) *wire.Table {
	t.Helper()
	for i := range d.Tables {
		if d.Tables[i].Name == name {
			return &d.Tables[i]
		}
	}
	require.Fail(t, "no table "+name)
	return nil
}

func TestBundledTables(t *testing.T) {
	for _, c := range []struct {
		credentials map[string]string
		tables      map[string]int64 // their rows
		warnings    []string
	}{
		{scienceCredentials, map[string]int64{"elements": 118, "missions": 20, "moons": 36, "planets": 8}, nil},
		{shopCredentials, map[string]int64{"customers": 40, "order_lines": 872, "orders": 300, "products": 24, "reviews": 60},
			[]string{"order_lines.table.json: foreign key sku to products.sku is not declared: 17 of 872 values are not there, " +
				"the first on line 25"}},
	} {
		d := testkit.Must(bundled(t, c.credentials).Discover())(t)
		tables := map[string]int64{}
		for _, table := range d.Tables {
			tables[table.Name] = *table.RowCount
			assert.NotEmpty(t, table.PrimaryKey, "%s has a key", table.Name)
			assert.NotContains(t, table.SourceDescription, "The rows of the file", "%s is described", table.Name)
		}
		assert.Equal(t, c.tables, tables)
		assert.Equal(t, c.warnings, d.Warnings)
	}
}

// TestBundledTraits keeps in the data what makes it worth trying things on.
func TestBundledTraits(t *testing.T) {
	science := testkit.Must(bundled(t, scienceCredentials).Discover())(t)
	shop := testkit.Must(bundled(t, shopCredentials).Discover())(t)
	types := map[wire.Type]bool{}
	for _, d := range []*wire.Discovery{science, shop} {
		for _, table := range d.Tables {
			for _, f := range table.Fields {
				types[f.Type] = true
			}
		}
	}
	assert.Len(t, types, 9, "every type there is")
	assert.Equal(t, []wire.ForeignKey{{Field: "planet", TargetTable: "planets", TargetField: "name"}},
		tableOf(t, science, "moons").ForeignKeys)
	assert.Equal(t, []wire.ForeignKey{{Field: "customer_no", TargetTable: "customers", TargetField: "customer_no"}},
		tableOf(t, shop, "orders").ForeignKeys)
	assert.Equal(t, []wire.ForeignKey{{Field: "order_no", TargetTable: "orders", TargetField: "order_no"}},
		tableOf(t, shop, "order_lines").ForeignKeys)
	assert.Equal(t, []string{"order_no", "line"}, tableOf(t, shop, "order_lines").PrimaryKey, "a key of two fields")
	assert.Equal(t, wire.TypeString, tableOf(t, shop, "customers").Field("customer_no").Type, "numbers with leading zeros are text")
	assert.Equal(t, wire.TypeArray, tableOf(t, shop, "products").Field("tags").Type)
	assert.Equal(t, wire.TypeJSON, tableOf(t, shop, "reviews").Field("device").Type)
	assert.True(t, tableOf(t, shop, "orders").Field("customer_no").Nullable, "guests order too")
	assert.Empty(t, tableOf(t, shop, "customers").Field("email").Samples, "addresses are no samples")

	tenant := bundled(t, shopCredentials)
	rate, err := tenant.LinkHitRate(wire.LinkHitRateRequest{FromTable: "order_lines", FromColumn: "sku", ToTable: "products", ToColumn: "sku"})
	require.NoError(t, err)
	assert.Equal(t, []string{"0123-GA", "0905-TO"}, rate.OrphanSamples, "products that were taken out of the list")
	groups := testkit.Must(tenant.Aggregate(wire.AggregateRequest{
		Table: "order_lines", Measures: []wire.Measure{{Fn: wire.AggSum, Field: "amount", As: "lines"}},
	}))(t)
	orders := testkit.Must(tenant.Aggregate(wire.AggregateRequest{
		Table: "orders", Measures: []wire.Measure{{Fn: wire.AggSum, Field: "total", As: "total"},
			{Fn: wire.AggSum, Field: "shipping", As: "shipping"}},
	}))(t)
	// Exact sums: the orders are their lines and the shipping, to the cent.
	cents := func(v wire.Value) int64 {
		var n int64
		for _, c := range v.Text() {
			if c != '.' {
				n = n*10 + int64(c-'0')
			}
		}
		return n
	}
	assert.Equal(t, cents(orders[0]["total"]), cents(groups[0]["lines"])+cents(orders[0]["shipping"]))
	assert.Positive(t, cents(orders[0]["total"]))
}

func TestBundledFacts(t *testing.T) {
	tenant := bundled(t, scienceCredentials)
	for _, c := range testkit.Table(t, "testdata/facts.tsv", 3) {
		var req wire.QueryRequest
		cells.Decode(t, c[1], &req)
		req.TimeoutMS = 0 // as long as it takes
		assert.JSONEq(t, c[2], testkit.Must(tenant.Query(req))(t, c[0]).JSON(), c[0])
	}
	groups := testkit.Must(tenant.Aggregate(wire.AggregateRequest{
		Table:   "missions",
		GroupBy: []wire.GroupKey{{Field: "launched", As: "year", Grain: wire.GrainYear}},
		Where:   wire.Where{And: []wire.Filter{{Field: "launched", Op: wire.OpLt, Value: wire.Text("1973-01-01")}}},
		Measures: []wire.Measure{
			{Fn: wire.AggCount, As: "n"},
		},
	}))(t)
	assert.Equal(t, []map[string]wire.Value{
		{"year": wire.Text("1969-01-01"), "n": wire.Int(1)}, {"year": wire.Text("1972-01-01"), "n": wire.Int(1)},
	}, groups)
}

func TestBundledPassword(t *testing.T) {
	tenant := bundled(t, map[string]string{filesource.CredentialTenant: "shop", filesource.CredentialPassword: bundledPassword})
	require.NoError(t, tenant.Check(), "the password that is printed is the file's")
	err := bundled(t, map[string]string{filesource.CredentialTenant: "shop"}).Check()
	require.Error(t, err, "and it is needed")
}
