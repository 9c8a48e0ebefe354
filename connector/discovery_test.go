package connector_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func discovering(d *wire.Discovery) testkit.Source {
	return testkit.Source{OnDiscover: func(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) { return d, nil }}
}

func ptr[T any](v T) *T { return &v }

// sound returns a discovery with everything in it.
func sound() *wire.Discovery {
	return &wire.Discovery{
		Tables: []wire.Table{
			{
				Name: "orders", SourceDescription: "What was bought.", RowCount: ptr(int64(0)), StoresRows: true,
				PrimaryKey: []string{"id", "line"},
				ForeignKeys: []wire.ForeignKey{{Field: "customer", TargetTable: "customers", TargetField: "id"},
					{Field: "id", TargetTable: "unseen", TargetField: "id"}},
				Fields: []wire.Field{
					{Name: "id", Type: wire.TypeNumber},
					{Name: "line", SourceColumn: "LINE_NO", Type: wire.TypeNumber},
					{Name: "customer", Type: wire.TypeReference, Nullable: true,
						Samples: []wire.Value{wire.Text("a"), wire.Null()},
						Stats: &wire.Stats{NullPercent: ptr(100.0), DistinctCount: 0, Min: ptr(wire.Text("a")),
							Max: ptr(wire.Null())}, Groupable: ptr(false)},
				},
			},
			{Name: "customers", Fields: []wire.Field{{Name: "id", Type: wire.TypeString, Unique: true}}},
			{Name: "empty"},
			{Name: "more", Fields: []wire.Field{{Name: "x", Type: wire.TypeJSON}, {Name: "y", Type: wire.TypeJSON}}},
		},
		Warnings: []string{"one view was skipped"},
	}
}

// TestDiscovery checks that a sound discovery arrives whole.
func TestDiscovery(t *testing.T) {
	s := serve(t, discovering(sound()), nil)
	a := s.post("/discovery", good("/discovery"))
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
	assert.Equal(t, "application/json", a.header.Get("Content-Type"))
	var want bytes.Buffer
	require.NoError(t, json.Compact(&want, testkit.Must(os.ReadFile("testdata/discovery.json"))(t)))
	assert.Equal(t, strings.TrimSpace(want.String()), a.body)
	assert.Equal(t, `WARN the source warns slug=shop route=/discovery cause=the foreign key "id" of table "orders" `+
		`leads to table "unseen", which Discover does not list`, s.log.String())

	a = serve(t, discovering(&wire.Discovery{}), nil).post("/discovery", good("/discovery"))
	assert.Equal(t, `{"tables":[]}`, a.body, "no tables are an empty array, not null")
}

// TestDiscoveryRules breaks each rule. Only the author can repair that, so the
// answer is an internal error, and the log names place and fault without the
// value.
func TestDiscoveryRules(t *testing.T) {
	const types = "must be one of string, number, decimal, boolean, date, datetime, json, array, reference"
	const binary = canary + "\xff"
	for _, c := range []struct {
		why, path string
		value     any
		want      string
	}{
		{"a table without a name", "tables[2].name", "", "must not be empty"},
		{"names of tables are distinct", "tables[2].name", "orders", "duplicate of an earlier entry"},
		{"a name that is not UTF-8", "tables[2].name", binary, "must be valid UTF-8"},
		{"a description that is not UTF-8", "tables[0].sourceDescription", binary, "must be valid UTF-8"},
		{"a negative count", "tables[0].rowCount", ptr(int64(-1)), "must be at least 0"},
		{"a count beyond 2^53-1", "tables[0].rowCount", ptr(int64(1 << 53)), "must be at most 9007199254740991"},
		{"a key of no field", "tables[0].primaryKey[1]", canary, "the table has no field of this name"},
		{"a key field twice", "tables[0].primaryKey[1]", "id", "duplicate of an earlier entry"},
		{"a foreign key of no field", "tables[0].foreignKeys[1].field", canary, "the table has no field of this name"},
		{"a foreign key of nothing", "tables[0].foreignKeys[1].field", "", "must not be empty"},
		{"a foreign key to no table", "tables[0].foreignKeys[0].targetTable", "", "must not be empty"},
		{"a foreign key to no field of a table that is there", "tables[0].foreignKeys[0].targetField", canary,
			"the table has no field of this name"},
		{"a field without a name", "tables[3].fields[0].name", "", "must not be empty"},
		{"names of fields are distinct", "tables[3].fields[1].name", "x", "duplicate of an earlier entry"},
		{"a field name that is not UTF-8", "tables[3].fields[0].name", binary, "must be valid UTF-8"},
		{"a source column that is not UTF-8", "tables[1].fields[0].sourceColumn", binary, "must be valid UTF-8"},
		{"no type", "tables[1].fields[0].type", wire.Type(""), types},
		{"an unknown type", "tables[1].fields[0].type", wire.Type(canary), types},
		{"a field description that is not UTF-8", "tables[1].fields[0].sourceDescription", binary, "must be valid UTF-8"},
		{"cell-4: a sample that is not UTF-8", "tables[0].fields[2].samples[1]", wire.Text(binary),
			"text is not valid UTF-8"},
		{"cell-1: a sample that is NaN", "tables[0].fields[2].samples[0]", wire.Float(math.NaN()),
			"NaN and infinities cannot cross the wire; send null or fix the source"},
		{"cell-4: a minimum that is not UTF-8", "tables[0].fields[2].stats.min", ptr(wire.Text(binary)),
			"text is not valid UTF-8"},
		{"cell-1: a maximum that is no decimal", "tables[0].fields[2].stats.max", ptr(wire.Decimal(canary)),
			"not plain decimal digits; a decimal is an optional sign, digits, and optionally a dot and digits"},
		{"more than all are null", "tables[0].fields[2].stats.nullPercent", ptr(100.1), "must be at most 100"},
		{"fewer than none are null", "tables[0].fields[2].stats.nullPercent", ptr(-0.1), "must be at least 0"},
		{"a share that is no number", "tables[0].fields[2].stats.nullPercent", ptr(math.NaN()), "must be at least 0"},
		{"a negative number of values", "tables[0].fields[2].stats.distinctCount", int64(-1), "must be at least 0"},
		{"values beyond 2^53-1", "tables[0].fields[2].stats.distinctCount", int64(1 << 53),
			"must be at most 9007199254740991"},
		{"a warning that is not UTF-8", "warnings[0]", binary, "must be valid UTF-8"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := sound()
			put(d, c.path, c.value)
			s := serve(t, discovering(d), nil)
			a := s.post("/discovery", good("/discovery"))
			a.refuses(t, 500, wire.CodeInternal, "internal error")
			s.keepsSecrets(a)
			require.Len(t, s.log.all(), 1)
			assert.Equal(t, "ERROR internal error slug=shop route=/discovery cause=the tables that Discover "+
				"answered break the rules: "+c.path+": "+c.want, s.log.String())
			s.alive()
		})
	}
}

// put sets what is at a path such as tables[0].rowCount.
func put(d *wire.Discovery, path string, value any) {
	at := reflect.ValueOf(d)
	for name := range strings.FieldsFuncSeq(path, func(c rune) bool { return strings.ContainsRune(".[]", c) }) {
		at = reflect.Indirect(at)
		if i, err := strconv.Atoi(name); err == nil {
			at = at.Index(i)
		} else {
			at = at.FieldByName(strings.ToUpper(name[:1]) + name[1:])
		}
	}
	at.Set(reflect.ValueOf(value))
}

// TestAnswersThatAreNone returns answers that are illegal on the JSON routes.
func TestAnswersThatAreNone(t *testing.T) {
	const rows = "Aggregate answered "
	one := func(cells ...wire.Value) testkit.Endpoints {
		return testkit.Endpoints{Aggregator: groups([][]wire.Value{cells}, nil)}
	}
	link := func(l *wire.LinkHitRate) testkit.Endpoints { return testkit.Endpoints{Linker: links(l)} }
	size := func(rows int64) testkit.Endpoints { return testkit.Endpoints{Sizer: sizes(&wire.Size{Rows: rows})} }
	count := func(n int64) testkit.Endpoints { return testkit.Endpoints{Counter: counts(n, nil)} }
	cardinality := func(nonNull, distinct int64) testkit.Endpoints {
		return testkit.Endpoints{Measurer: func(context.Context, *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
			return map[string]*wire.Cardinality{"id": {NonNull: nonNull, Distinct: distinct}}, nil
		}}
	}
	const orphans = "LinkHitRate answered more orphans than values, or more than 20 samples"
	sum := strings.Replace(good("/aggregate"), `{"fn":"count","as":"n"}`, `{"fn":"sum","field":"id","as":"n"}`, 1)
	for _, c := range []struct {
		why               string
		src               testkit.Endpoints
		path, body, cause string
	}{
		{"no discovery", testkit.Endpoints{Source: discovering(nil)}, "/discovery", "", "Discover returned nothing"},
		{"no size", testkit.Endpoints{Sizer: sizes(nil)}, "/size", "",
			"Size returned nil; return ErrDecline if the size is unknown"},
		{"no rows", testkit.Endpoints{Aggregator: groups(nil, nil)}, "/aggregate", "",
			"Aggregate returned nil rows; return ErrDecline to decline, or an empty slice for no groups"},
		{"a negative size", size(-1), "/size", "", "Size answered a number of rows that is not from 0 to 2^53-1"},
		{"a size beyond 2^53-1", size(1 << 53), "/size", "",
			"Size answered a number of rows that is not from 0 to 2^53-1"},
		{"a negative count", count(-1), "/count", "", "Count answered a number that is not from 0 to 2^53-1"},
		{"a count beyond 2^53-1", count(1 << 53), "/count", "", "Count answered a number that is not from 0 to 2^53-1"},
		{"more distinct than values", cardinality(1, 2), "/cardinality", "",
			`Cardinality answered 2 distinct of 1 values for column "id"`},
		{"a negative number of values", cardinality(-1, -1), "/cardinality", "",
			`Cardinality answered -1 distinct of -1 values for column "id"`},
		{"no link", link(nil), "/linkHitRate", "", "LinkHitRate returned nothing"},
		{"more orphans than values", link(&wire.LinkHitRate{FromNonNull: 1, OrphanCount: 2}), "/linkHitRate",
			"", orphans},
		{"fewer orphans than none", link(&wire.LinkHitRate{FromNonNull: 1, OrphanCount: -1}), "/linkHitRate",
			"", orphans},
		{"at most 20 samples",
			link(&wire.LinkHitRate{FromNonNull: 99, OrphanCount: 99, OrphanSamples: make([]string, 21)}),
			"/linkHitRate", "", orphans},
		{"aggregate-3: no groupBy, no row", testkit.Endpoints{Aggregator: groups([][]wire.Value{}, nil)}, "/aggregate",
			"",
			rows + "0 rows without groupBy; it must be exactly one"},
		{"aggregate-3: no groupBy, many rows", testkit.Endpoints{Aggregator: groups(make([][]wire.Value, 2000), nil)},
			"/aggregate", "", rows + "2000 rows without groupBy; it must be exactly one"},
		{"a cell short", one(), "/aggregate", "", rows + "a row of 0 cells for 1 groups and measures"},
		{"a cell too many", one(wire.Int(1), wire.Int(2)), "/aggregate", "",
			rows + "a row of 2 cells for 1 groups and measures"},
		{"aggregate-1: a count that is null", one(wire.Null()), "/aggregate", "",
			rows + "a count that is not a wire.Int of at least 0"},
		{"aggregate-1: a negative count", one(wire.Int(-1)), "/aggregate", "",
			rows + "a count that is not a wire.Int of at least 0"},
		{"aggregate-1: a count that is a text", one(wire.Text("3")), "/aggregate", "",
			rows + "a count that is not a wire.Int of at least 0"},
		{"aggregate-1, aggregate-6: a sum of floats is not exact", one(wire.Float(0.30000000000000004)),
			"/aggregate", sum, rows + "a sum that is not exact digits: use wire.Decimal, or ErrDecline if the " +
				"source adds floats"},
		{"aggregate-1: a sum that is no number", one(wire.Text(canary)), "/aggregate", sum,
			rows + "a sum that is not exact digits: use wire.Decimal, or ErrDecline if the source adds floats"},
		{"cell-1: a cell that cannot cross", one(wire.Decimal(canary)), "/aggregate", sum,
			"the source's answer cannot be sent: rows[0]: not plain decimal digits; a decimal is an optional sign," +
				" digits, and optionally a dot and digits"},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := serve(t, c.src, nil)
			body := c.body
			if body == "" {
				body = good(c.path)
			}
			a := s.post(c.path, body)
			a.refuses(t, 500, wire.CodeInternal, "internal error")
			s.keepsSecrets(a)
			assert.Contains(t, s.log.String(), "cause="+c.cause)
			s.alive()
		})
	}
}

// TestAnswersAtTheEdge returns the extreme legal ones.
func TestAnswersAtTheEdge(t *testing.T) {
	src := testkit.Endpoints{
		Sizer:   func(context.Context, *wire.SizeRequest) (*wire.Size, error) { return nil, connector.ErrDecline },
		Counter: counts(1<<53-1, nil),
		Measurer: func(context.Context, *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
			return map[string]*wire.Cardinality{"a": {}, "other": {NonNull: 9}, "b": nil}, nil
		},
		Linker:     links(&wire.LinkHitRate{FromNonNull: 8, OrphanCount: 2, OrphanRate: 7, OrphanSamples: []string{"x"}}),
		Aggregator: groups([][]wire.Value{{wire.Int(12), wire.Null(), wire.Int(0)}}, nil),
	}
	s := serve(t, src, nil)
	for _, c := range []struct{ why, path, body, want string }{
		{"the null stays inside the wrapper", "/size", good("/size"), `{"size":null}`},
		{"cell-1", "/count", good("/count"), `{"count":9007199254740991}`},
		{"one entry for every column asked for, null where it was not counted, and no other", "/cardinality",
			edit(t, "/cardinality", `["id"]`, `["a","b","c","a"]`),
			`{"columns":{"a":{"nonNull":0,"distinct":0},"b":null,"c":null}}`},
		{"measure-2: the rate follows from the counts, whatever the source says", "/linkHitRate", good("/linkHitRate"),
			`{"fromNonNull":8,"orphanCount":2,"orphanRate":0.25,"orphanSamples":["x"]}`},
		{"aggregate-1: a sum crosses as digits, null over nothing", "/aggregate",
			edit(t, "/aggregate", `{"fn":"count","as":"n"}`,
				`{"fn":"sum","field":"id","as":"s"},{"fn":"sum","field":"id","as":"z"},{"fn":"count","as":"n"}`),
			`{"rows":[{"n":0,"s":"12","z":null}]}`},
	} {
		a := s.post(c.path, c.body)
		assert.Equal(t, 200, a.status, c.why)
		assert.Equal(t, c.want, a.body, c.why)
	}
	a := serve(t, testkit.Endpoints{Linker: links(&wire.LinkHitRate{OrphanRate: math.NaN()})}, nil).post("/linkHitRate", good("/linkHitRate"))
	assert.Equal(t, `{"fromNonNull":0,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`, a.body,
		"measure-2: 0 over nothing")
}

// TestGroupBudget checks that as many groups as the limit are refused, never
// cut.
func TestGroupBudget(t *testing.T) {
	for _, c := range []struct {
		groups, status int
	}{{0, 200}, {1000, 200}, {1001, 422}, {5000, 422}} {
		var rows [][]wire.Value
		for i := range c.groups {
			rows = append(rows, []wire.Value{wire.Int(int64(i)), wire.Int(1)})
		}
		if rows == nil {
			rows = [][]wire.Value{} // nil is no answer
		}
		s := serve(t, testkit.Endpoints{Aggregator: groups(rows, nil)}, nil)
		a := s.post("/aggregate", edit(t, "/aggregate", `"groupBy":[]`, `"groupBy":[{"field":"id","as":"g"}]`))
		if c.status == 422 {
			a.refuses(t, 422, wire.CodeUnsupported,
				"more groups than the limit allows; narrow the filters or group by less")
			continue
		}
		assert.Equal(t, 200, a.status)
		assert.Equal(t, c.groups, strings.Count(a.body, `"g":`))
	}
}

// TestAnswerSize checks the limit of 32 MiB, which is checked before the status
// is written.
func TestAnswerSize(t *testing.T) {
	// Digits are copied as they are, which keeps the test quick under -race.
	mega := wire.Decimal(strings.Repeat("7", 1<<20))
	samples := append(slices.Repeat([]wire.Value{mega}, 31), wire.Decimal("7"))
	d := &wire.Discovery{Tables: []wire.Table{{Name: "t",
		Fields: []wire.Field{{Name: "f", Type: wire.TypeDecimal, Samples: samples}}}}}
	s := serve(t, discovering(d), nil)
	frame := len(s.post("/discovery", good("/discovery")).body)
	samples[31] = wire.Decimal(strings.Repeat("7", 32<<20-frame+1))
	whole := &discard{}
	s.Handler.ServeHTTP(whole, s.Request(context.Background(), "/discovery", good("/discovery")))
	assert.Equal(t, 200, whole.status)
	assert.Equal(t, 32<<20, whole.bytes)
	d.Tables[0].SourceDescription = "d"
	s.post("/discovery", good("/discovery")).refuses(t, 500, wire.CodeInternal, "internal error")
	assert.Contains(t, s.log.String(), "cause=the source's answer has 33554433 bytes, over the limit of 33554432")
	s.alive()
}
