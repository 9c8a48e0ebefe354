package oracle_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestAgreesOnGeneratedTables runs the fuzz test with many fixed seeds.
func TestAgreesOnGeneratedTables(t *testing.T) {
	for seed := range uint64(testrun.Rounds(3000)) {
		d := generated(seed)
		left, right := d.table("left"), d.table("right")
		agreeOnValues(t, d.value(), d.value())
		agreeOnQuery(t, left, d.query(left))
		agreeOnAggregate(t, left, d.aggregate(left))
		agreeOnMeasures(t, left, right, d.field(left), d.field(right))
		agreeOnJoin(t, left, right, d)
	}
}

func generated(seed uint64) *draw {
	random := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 1000)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return &draw{data: data, pool: values()}
}

// TestAgreesOnMutatedTexts compares numbers, instants and JSON with the same
// text after a byte or two has changed.
func TestAgreesOnMutatedTexts(t *testing.T) {
	const alphabet = `0123456789-+:.,TtZz eE"[]{}\u\nula`
	random := rand.New(rand.NewPCG(1, 1))
	pool := values()
	for range testrun.Rounds(4000) {
		text := pool[random.IntN(len(pool))].String()
		b := []byte(text)
		for range 1 + random.IntN(2) {
			c := alphabet[random.IntN(len(alphabet))]
			switch at := random.IntN(len(b) + 1); {
			case at == len(b):
				b = append(b, c)
			case random.IntN(3) == 0:
				b = append(b[:at], b[at+1:]...)
			default:
				b[at] = c
			}
		}
		mutated := strings.ToValidUTF8(string(b), "?")
		agreeOnValues(t, wire.Text(text), wire.Text(mutated))
		agreeOnValues(t, wire.Text(mutated), pool[random.IntN(len(pool))])
	}
}

// fits reports whether a source in memory takes the cells of a column for values of its type.
func fits(t *oracle.Table, column int) bool {
	c := t.Columns[column]
	one := memsource.Table{Table: wire.Table{Name: "one", SourceDescription: "generated",
		Fields: []wire.Field{{Name: c.Name, Type: c.Type, SourceDescription: "generated", Nullable: true}}}}
	for _, row := range t.Rows {
		one.Rows = append(one.Rows, []wire.Value{row[column]})
	}
	_, err := memsource.New([]memsource.Table{one}, nil)
	return err == nil
}

// TestAgreesWithAConnector serves tables with the real handler and judges the
// answers over HTTP: queries after finishing what was not served, counts and
// aggregates.
func TestAgreesWithAConnector(t *testing.T) {
	queries, aggregates := 0, 0
	for seed := range uint64(40) {
		d := generated(10_000 + seed)
		table := d.table("left")
		for i := range table.Columns {
			if table.Columns[i].Type == "" || !fits(table, i) {
				table.Columns[i].Type = wire.TypeString // discovery types every field, and cells are values of the type
			}
		}
		described := wire.Table{Name: table.Name, SourceDescription: "generated", PrimaryKey: table.PrimaryKey}
		for _, c := range table.Columns {
			described.Fields = append(described.Fields, wire.Field{Name: c.Name, Type: c.Type, SourceDescription: "generated"})
		}
		source := testkit.Must(memsource.New([]memsource.Table{{Table: described, Rows: table.Rows}}, nil))(t)
		tenant := connectortest.Start(t, connector.Definition{Slug: "generated"}, source, nil).As(nil).Unverified()
		tables := oracle.Tables{table.Name: table}
		for range 12 {
			q := d.query(table)
			if _, err := oracle.Query(tables, q); err != nil {
				continue // a refusal, which the tests above compare
			}
			if oracle.Unsettled(table, q.Sort, q.FieldTypes) != "" {
				continue
			}
			count := wire.CountRequest{Table: q.Table, Where: q.Where}
			require.Equal(t, testkit.Must(oracle.Count(tables, &count))(t), testkit.Must(tenant.Count(count))(t))
			answer := testkit.Must(tenant.Query(*q))(t)
			var columns []wire.Column
			for _, field := range q.Fields {
				columns = append(columns, table.Columns[table.Index(field)])
			}
			stream := &oracle.Table{Name: table.Name, Columns: columns, Rows: answer.Rows}
			finished := testkit.Must(oracle.Finish(stream, q, answer.Served))(t)
			if difference := oracle.Verify(tables, q, finished.Rows); difference != nil {
				require.FailNow(t, difference.String(), "%v over %v", q, table)
			}
			queries++
			a := d.aggregate(table)
			if _, err := oracle.Aggregate(tables, a); err != nil || len(answer.Rows) == 0 {
				continue
			}
			aggregates++
			groups := testkit.Must(tenant.Aggregate(*a))(t)
			if difference := oracle.VerifyGroups(tables, a, groups); difference != nil {
				require.FailNow(t, difference.String(), "%v over %v", a, table)
			}
		}
	}
	require.Greater(t, queries, 100)
	require.Greater(t, aggregates, 25)
}
