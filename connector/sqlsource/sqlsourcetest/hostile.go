package sqlsourcetest

import (
	"database/sql/driver"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hostileNames are names of tables and columns that a catalog may well have.
var hostileNames = []string{
	`a"b`, "a`b", "a'b", "a]b", "select", "Order By", "x; DROP TABLE y; --", "/* x", "ünï表", "a.b", "%s %d", "$1", "?", "?1", ":a @b",
	`back\slash`, "line\nbreak", "TAB\tb", "null", "a",
}

// marker stands in every value and every unknown name of a request. It must be
// in no statement.
const marker = "MARKER7f3a"

// hostileValues would end a literal, a comment or a placeholder if they were
// ever part of a statement.
var hostileValues = []string{
	marker, marker + "'", marker + `"`, marker + "`", "'; DROP TABLE t; --" + marker, `\` + marker + `\`, "$1" + marker, "?" + marker,
	"/*" + marker, "--" + marker + "\n", marker + "\x00", "%_" + marker, "]" + marker + "[", "${" + marker + "}",
}

// Hostile proves that no text of a request is ever part of a statement. It
// serves a catalog of hostile names, puts hostile values into every position of
// a request, and records the statements: none holds a text of a request, and
// their shapes are few. c reaches the database of e.DB, which is empty.
func Hostile(t *testing.T, e Engine, c driver.Connector) {
	for _, table := range hostileNames {
		columns := []string{e.Flavor.Quote("id") + " " + e.Key + " NOT NULL PRIMARY KEY"}
		for _, column := range hostileNames {
			columns = append(columns, e.Flavor.Quote(column)+" VARCHAR(60)")
		}
		own := e.Flavor.Quote(table)
		execute(t, e.DB, "CREATE TABLE "+own+" ("+strings.Join(columns, ", ")+")"+e.TableOptions)
		execute(t, e.DB, "INSERT INTO "+own+" ("+e.Flavor.Quote("id")+", "+e.Flavor.Quote("a")+") VALUES (1, 'x')")
	}
	statements := &statements{}
	db := Intercept(c, statements.add)
	t.Cleanup(func() { _ = db.Close() })
	serve := func(o *sqlsource.Options) *connectortest.Tenant {
		source, err := sqlsource.New(db, e.Flavor, o)
		require.NoError(t, err)
		return connectortest.Start(t, connector.Definition{Slug: "hostile", KeysEnforced: true}, source, nil).As(nil)
	}
	// Every answer about the names is verified by a discovery, and so by hundreds: all but the first are without statistics.
	d, err := serve(nil).Discover()
	require.NoError(t, err)
	tenant := serve(&sqlsource.Options{Profile: -1})
	t.Run("names", func(t *testing.T) { hostileCatalog(t, tenant.In(t), d) })
	t.Run("unknown names", func(t *testing.T) { hostileFields(t, tenant.In(t).Unverified()) })
	t.Run("values", func(t *testing.T) { hostileOperands(t, tenant.In(t).Unverified(), statements) })
	all := statements.all()
	shapes := map[string]bool{}
	for _, s := range all {
		if strings.Contains(s, marker) {
			t.Errorf("a statement holds a text of a request: %s", s)
		}
		shapes[shape(s)] = true
	}
	t.Logf("%d statements of %d shapes", len(all), len(shapes))
}

// hostileCatalog asks for every table and column of hostile names that are discovered.
func hostileCatalog(t *testing.T, tenant *connectortest.Tenant, d *wire.Discovery) {
	require.Len(t, d.Tables, len(hostileNames), "every table is discovered: %q", d.Warnings)
	first := d.Tables[0].Name
	for _, table := range d.Tables {
		var fields []string
		for _, f := range table.Fields {
			fields = append(fields, f.Name)
		}
		require.Len(t, fields, 1+len(hostileNames), "table %q", table.Name)
		answer, err := tenant.Query(wire.QueryRequest{
			Table: table.Name, Where: wire.Where{And: []wire.Filter{{Field: fields[1], Op: wire.OpIsNull}}},
			Sort: []wire.SortKey{{Field: fields[2], Dir: wire.Asc}}, Fields: fields,
		})
		require.NoError(t, err)
		require.Len(t, answer.Rows, 1)
		groups, err := tenant.Aggregate(wire.AggregateRequest{
			Table: table.Name, GroupBy: []wire.GroupKey{{Field: "a", As: marker}},
			Measures: []wire.Measure{{Fn: wire.AggMax, Field: fields[3], As: `"` + marker}},
		})
		require.NoError(t, err)
		require.Len(t, groups, 1)
		joined, err := tenant.Query(wire.QueryRequest{
			Table: table.Name, Sort: []wire.SortKey{}, Fields: []string{"id"}, Joins: []wire.JoinHop{{
				FromTable: table.Name, ToTable: first, FromField: "a", ToField: "a",
				Fields: []wire.JoinField{{Field: fields[4], As: "'" + marker}},
			}},
		})
		require.NoError(t, err)
		require.Len(t, joined.Rows, 1)
		_, err = tenant.LinkHitRate(wire.LinkHitRateRequest{FromTable: table.Name, ToTable: first, FromColumn: "a", ToColumn: fields[1]})
		require.NoError(t, err)
		_, err = tenant.Cardinality(table.Name, fields...)
		require.NoError(t, err)
	}
}

// hostileFields asks for tables and fields that do not exist.
func hostileFields(t *testing.T, tenant *connectortest.Tenant) {
	const table = `a"b`
	for _, name := range hostileValues {
		for _, req := range []wire.QueryRequest{
			{Table: name, Sort: []wire.SortKey{}, Fields: []string{}},
			{Table: table, Sort: []wire.SortKey{}, Fields: []string{name}},
			{Table: table, Sort: []wire.SortKey{{Field: name, Dir: wire.Desc}}, Fields: []string{}},
		} {
			_, err := tenant.Query(req)
			require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
		}
		_, err := tenant.Count(wire.CountRequest{Table: table, Where: wire.Where{And: []wire.Filter{{Field: name, Op: wire.OpIsNull}}}})
		require.Equal(t, wire.CodeUnsupported, wire.CodeOf(err))
		_, err = tenant.Cardinality(table, name)
		require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
	}
}

// hostileOperands filters by hostile values with every operator.
func hostileOperands(t *testing.T, tenant *connectortest.Tenant, statements *statements) {
	for _, op := range terms.Operators[wire.Op]() {
		shapes := map[string]bool{}
		for _, value := range hostileValues {
			f := wire.Filter{Field: "a", Op: op}
			switch terms.ShapeOf(op) {
			case terms.ShapeValue:
				f.Value = wire.Text(value)
			case terms.ShapeMember:
				f.Values = []wire.Value{wire.Text(value), wire.Text(value + "2")}
			}
			before := len(statements.all())
			answer, err := tenant.Query(wire.QueryRequest{
				Table: `a"b`, Where: wire.Where{And: []wire.Filter{f}, FieldTypes: map[string]wire.Type{"a": wire.TypeString}},
				Sort: []wire.SortKey{{Field: "a", Dir: wire.Asc}}, Fields: []string{"a"}, Limit: 3, Offset: 1,
			})
			require.NoError(t, err)
			require.Empty(t, answer.Rows)
			for _, s := range statements.all()[before:] {
				shapes[shape(s)] = true
			}
		}
		t.Logf("%s: %d shapes", op, len(shapes))
		if len(shapes) > 16 {
			t.Errorf("%s: %d values make statements of %d shapes:%s",
				op, len(hostileValues), len(shapes), some(slices.Collect(maps.Keys(shapes))))
		}
	}
}

// statements collects the texts of statements.
type statements struct {
	mu   sync.Mutex
	list []string
}

// all returns the texts seen so far.
func (s *statements) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

func (s *statements) add(query string, _ []driver.NamedValue) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, query)
	return nil
}

var (
	identifiers = regexp.MustCompile("(?s)\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`")
	parameters  = regexp.MustCompile(`[$@:]\w*\d+|\?\d*`)
	integers    = regexp.MustCompile(`\b\d+\b`)
)

// shape returns a statement without its identifiers, the numbers of its
// placeholders, and numbers.
func shape(statement string) string {
	s := identifiers.ReplaceAllString(statement, "I")
	s = parameters.ReplaceAllString(s, "P")
	return integers.ReplaceAllString(s, "N")
}
