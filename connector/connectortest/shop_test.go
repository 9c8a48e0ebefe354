package connectortest

import (
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shopTables returns the data that faults need to show: nulls in every nullable
// column, equal numbers of different scale, both sides of 2^53, texts that differ
// by case or a blank, wildcards, arrays, an empty string, orphans, a
// self-reference, and a table without rows.
func shopTables() []memsource.Table {
	null, text, decimal := wire.Null(), wire.Text, wire.Decimal
	date := func(s string) wire.Value {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			panic(err)
		}
		return wire.Date(at)
	}
	at := func(s string) wire.Value {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			panic(err)
		}
		return wire.DatetimeWidth(at, 3)
	}
	tags := func(s ...string) wire.Value {
		var values []wire.Value
		for _, e := range s {
			values = append(values, text(e))
		}
		return wire.Array(values...)
	}
	fields := func(fields ...wire.Field) []wire.Field { return fields }
	f := func(name string, t wire.Type) wire.Field { return wire.Field{Name: name, Type: t} }
	nullable := func(name string, t wire.Type) wire.Field { return wire.Field{Name: name, Type: t, Nullable: true} }
	orders := memsource.Table{
		Table: wire.Table{
			Name: "orders", PrimaryKey: []string{"id"},
			ForeignKeys: []wire.ForeignKey{{Field: "customer", TargetTable: "customers", TargetField: "id"}},
			Fields: fields(f("id", wire.TypeNumber), nullable("customer", wire.TypeNumber), nullable("amount", wire.TypeDecimal),
				nullable("region", wire.TypeString), nullable("tags", wire.TypeArray), f("day", wire.TypeDate),
				nullable("paid_at", wire.TypeDatetime), nullable("gift", wire.TypeBoolean), nullable("weight", wire.TypeNumber),
				nullable("serial", wire.TypeNumber)),
		},
		Rows: [][]wire.Value{
			{wire.Int(1), wire.Int(1), decimal("1.50"), text("North"), tags("red", "blue"), date("2024-01-01"),
				at("2024-01-01T10:00:00Z"), wire.Bool(true), wire.Float(0.1), wire.Int(9007199254740992)},
			{wire.Int(2), wire.Int(1), decimal("1.5"), text("north"), tags("re"), date("2024-01-31"),
				at("2024-01-01T10:00:00.5Z"), wire.Bool(false), wire.Float(0.2), wire.Int(9007199254740993)},
			{wire.Int(3), wire.Int(2), null, text("North "), null, date("2024-02-29"), null, null, wire.Float(0.3), null},
			{wire.Int(4), null, decimal("0.1"), null, tags(), date("2024-03-31"), at("2024-12-31T23:59:59.999Z"),
				wire.Bool(true), null, wire.Int(7)},
			{wire.Int(5), wire.Int(77), decimal("0.2"), text(""), tags("red"), date("2024-04-01"),
				at("2023-12-31T23:59:59Z"), null, wire.Int(2), wire.Int(-7)},
			{wire.Int(6), wire.Int(77), decimal("0.3"), text("100%"), tags("Red", "a b"), date("2023-12-31"), null,
				wire.Bool(false), wire.Float(-0.5), wire.Int(70)},
			{wire.Int(7), wire.Int(88), decimal("-10.00"), text("so_th"), null, date("2024-01-01"),
				at("2024-06-30T00:00:00Z"), wire.Bool(true), null, null},
			{wire.Int(8), wire.Int(9), decimal("100"), text("S\u00fcd"), tags("\u2603"), date("2024-07-15"),
				at("2024-06-30T00:00:00Z"), wire.Bool(true), wire.Int(10), wire.Int(700)},
			{wire.Int(9), null, null, text("south"), tags("blue", "red"), date("2024-10-01"), null, null, wire.Int(9), wire.Int(8)},
			{wire.Int(10), wire.Int(3), decimal("99999999999999999999.99"), null, null, date("2024-11-11"),
				at("2024-11-11T11:11:11.111Z"), wire.Bool(false), wire.Float(1e-7), wire.Int(9)},
			{wire.Int(11), wire.Int(2), decimal("9"), text("North"), tags("blue"), date("2024-12-31"), null, null, wire.Int(2), wire.Int(10)},
		},
	}
	customers := memsource.Table{
		Table: wire.Table{
			Name: "customers", PrimaryKey: []string{"id"},
			ForeignKeys: []wire.ForeignKey{
				{Field: "boss", TargetTable: "customers", TargetField: "id"},
				{Field: "country", TargetTable: "countries", TargetField: "code"},
			},
			Fields: fields(f("id", wire.TypeNumber), wire.Field{Name: "name", Type: wire.TypeString, Unique: true},
				nullable("boss", wire.TypeNumber), nullable("country", wire.TypeReference)),
		},
		Rows: [][]wire.Value{
			{wire.Int(1), text("Ada"), null, text("GB")},
			{wire.Int(2), text("Grace"), wire.Int(1), text("US")},
			{wire.Int(3), text("Edsger"), wire.Int(1), null},
			{wire.Int(4), text("Barbara"), wire.Int(2), text("US")},
			{wire.Int(9), text("Alan"), wire.Int(404), text("XX")},
		},
	}
	countries := memsource.Table{
		Table: wire.Table{Name: "countries", PrimaryKey: []string{"code"},
			Fields: fields(f("code", wire.TypeString), f("name", wire.TypeString))},
		Rows: [][]wire.Value{{text("GB"), text("United Kingdom")}, {text("US"), text("United States")}, {text("NL"), text("Netherlands")}},
	}
	events := memsource.Table{Table: wire.Table{Name: "events", Fields: fields(f("id", wire.TypeNumber), nullable("kind", wire.TypeString))}}
	return []memsource.Table{orders, customers, countries, events}
}

func shop(t testing.TB, tables ...memsource.Table) *memsource.Source {
	t.Helper()
	if tables == nil {
		tables = shopTables()
	}
	return testkit.Must(memsource.New(tables, nil))(t)
}

var shopDefinition = connector.Definition{Slug: "shop"}
