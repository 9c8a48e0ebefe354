package corpus

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// checks are those of phase 2 that cases cover. P2.1, P2.9 and P2.17 have no cases: they use discovery, what a stream
// claims, and queries that the program generates.
var checks = []string{
	"P2.2", "P2.3", "P2.4", "P2.5", "P2.6", "P2.7", "P2.8", "P2.10", "P2.11", "P2.12", "P2.13", "P2.14", "P2.15", "P2.16",
	"P2.18", "A.8", "A.9",
}

// TestCasesAreComplete checks that every check has cases and that every case is
// complete.
func TestCasesAreComplete(t *testing.T) {
	counts := map[[2]string]int{}
	names := map[string]bool{}
	byHand := 0
	for _, c := range caseList(t) {
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, c.Name)
		require.False(t, names[c.Name], "two cases are named %s", c.Name)
		names[c.Name] = true
		_, known := rules.Lookup(c.Rule)
		require.True(t, known, "%s: docs/protocol.md has no rule %q", c.Name, c.Rule)
		require.True(t, strings.HasSuffix(c.Why, "."), "%s: why is a sentence", c.Name)
		require.NotNil(t, c.Case.Request, c.Name)
		counts[[2]string{c.Check, c.Facet}]++
		if c.ByHand {
			byHand++
		}
	}
	facets := map[string]bool{}
	for key, n := range counts {
		assert.GreaterOrEqual(t, n, 2, "cases of %s", key)
		facets[key[0]] = true
	}
	assert.ElementsMatch(t, checks, slices.Collect(maps.Keys(facets)))
	assert.Len(t, counts, 91+2, "facets with cases, and advice")
	assert.GreaterOrEqual(t, len(names), 350)
	assert.GreaterOrEqual(t, byHand, 80)
}

// TestCasesOfOperators checks that cases test every operator on every type with
// several values and with a null, over a column with nulls.
func TestCasesOfOperators(t *testing.T) {
	tables := lintOf(Tables())
	type pair struct {
		op       wire.Op
		dataType wire.Type
	}
	operands := map[pair]map[string]bool{}
	nulls := map[pair]bool{}
	for _, c := range Cases() {
		r, ok := c.Request.(*wire.QueryRequest)
		if !ok || c.Check[0] == 'A' {
			continue
		}
		for _, f := range slices.Concat(append(slices.Clone(r.Or), r.And)...) {
			if tables.nulls(r.Table, f.Field) == 0 {
				continue
			}
			p := pair{f.Op, tables.field(r.Table, f.Field).Type}
			if operands[p] == nil {
				operands[p] = map[string]bool{}
			}
			values := f.Values
			switch terms.ShapeOf(f.Op) {
			case terms.ShapeValue:
				values = []wire.Value{f.Value}
			case terms.ShapeNullary: // the operator itself tests for null
				operands[p][c.Name], nulls[p] = true, true
			}
			for _, v := range values {
				if v.IsNull() {
					nulls[p] = true
				} else {
					operands[p][v.String()] = true
				}
			}
		}
	}
	for _, op := range []wire.Op{
		wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpIn, wire.OpNin,
		wire.OpContains, wire.OpIncludes, wire.OpStartsWith, wire.OpIsNull, wire.OpNotNull,
	} {
		for _, dataType := range []wire.Type{
			wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean, wire.TypeDate,
			wire.TypeDatetime, wire.TypeJSON, wire.TypeArray, wire.TypeReference,
		} {
			p := pair{op, dataType}
			assert.GreaterOrEqual(t, len(operands[p]), 2, "operands of %s on %s", op, dataType)
			assert.True(t, nulls[p], "%s on %s with a null", op, dataType)
		}
	}
}

// TestCasesDiscriminate checks that few answers are empty or have all rows,
// because a wrong connector often gives these answers by accident.
func TestCasesDiscriminate(t *testing.T) {
	tables := oracleTables()
	all, some := 0, 0
	for _, c := range Cases() {
		rows, total := 0, 0
		switch r := c.Request.(type) {
		case *wire.QueryRequest:
			rows, total = len(testkit.Must(oracle.Query(tables, r))(t).Rows), len(tables[r.Table].Rows)
			if len(r.Sort) > 0 && len(r.And) == 0 {
				total = -1 // an order of everything discriminates
			}
		case *wire.CountRequest:
			rows, total = int(testkit.Must(oracle.Count(tables, r))(t)), len(tables[r.Table].Rows)
		default:
			continue
		}
		all++
		if rows != 0 && rows != total {
			some++
		}
	}
	assert.GreaterOrEqual(t, float64(some)/float64(all), 0.75, "%d of %d answers are neither empty nor everything", some, all)
}

// TestCasesAreOrdered checks that a case with a window has an order without
// ties, because a connector may break ties as it likes.
func TestCasesAreOrdered(t *testing.T) {
	tables := lintOf(Tables())
	for _, c := range Cases() {
		r, ok := c.Request.(*wire.QueryRequest)
		if !ok || r.Limit == 0 && r.Offset == 0 {
			continue
		}
		key := tables[r.Table].PrimaryKey
		unique := false
		for _, s := range r.Sort {
			f := tables.field(r.Table, s.Field)
			key = slices.DeleteFunc(slices.Clone(key), func(k string) bool { return k == s.Field })
			unique = unique || f.Unique && !f.Nullable || tables.distinct(r.Table, s.Field) == len(tables[r.Table].Rows)
		}
		for _, f := range r.And { // within a kind, the texts of the corpus are distinct
			unique = unique || r.Table == "texts" && f.Field == "kind" && f.Op == wire.OpEq && r.Sort[0].Field == "value"
		}
		require.True(t, unique || len(key) == 0, "%s: a window over ties", c.Name)
	}
}

// TestMalformedCases checks that a malformed file is refused with its place.
func TestMalformedCases(t *testing.T) {
	const head = `{"name": "x", "check": "P2.2", "rule": "filter-1", "why": "W.", `
	for _, c := range []struct{ why, file, want string }{
		{"no case", `{}`, "cannot unmarshal object"},
		{"an unknown member", `[{"title": ""}]`, `unknown field "title"`},
		{"an unknown route", `[` + head + `"path": "/discovery", "request": {}, "answer": {}}]`, `a case cannot use the route "/discovery"`},
		{"a request that none would take", `[` + head + `"path": "/count", "request": {"table": "t"}, "answer": 1}]`,
			`x: request: body: member "and" is missing`},
		{"credentials", `[` + head + `"path": "/count", "request": {"table": "t", "and": [], "credentials": {}}, "answer": 1}]`, "x: request"},
	} {
		_, err := readCases([]byte(c.file))
		require.ErrorContains(t, err, c.want, c.why)
	}
}
