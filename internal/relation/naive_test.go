package relation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The naive versions below answer the same questions by nested loops over a
// notion of equality of their own: numbers through shopspring/decimal, the rest
// as text. They share no code with the package.

// spellings are cells of which many are equal: few values, spelled variously.
var spellings = []wire.Value{
	null, null, num(1), dec("1.0"), text("01"), wire.Float(1), text("+1.00"),
	num(-2), dec("-2.50"), wire.Float(-2.5), text("-02.5"), num(0), dec("-0"), dec("0.000"),
	num(1 << 53), num(1<<53 + 1), text("9007199254740993.0"), wire.Float(1e21), text("1000000000000000000000"),
	dec("12345678901234567890123456789012345678.91"), text("0.00000000000000000000000000000000000001"),
}

// numberKey returns one text for all spellings of a number.
func numberKey(v wire.Value) string {
	d := decimal.RequireFromString(strings.TrimPrefix(v.String(), "+"))
	if d.IsZero() {
		return "0"
	}
	return d.String() // without trailing zeros
}

func naiveKey(v wire.Value, numeric bool) string {
	switch {
	case v.IsNull():
		return "null"
	case numeric:
		return "number " + numberKey(v)
	}
	return "text " + v.String()
}

// randomRows returns rows of a text key, a number, and an undeclared number.
func randomRows(random *rand.Rand, n int) [][]wire.Value {
	rows := make([][]wire.Value, n)
	for i := range rows {
		key := text(string("aAbB"[random.IntN(4)]))
		if random.IntN(5) == 0 {
			key = null
		}
		rows[i] = row(key, spellings[random.IntN(len(spellings))], spellings[random.IntN(len(spellings))])
	}
	return rows
}

var randomColumns = []wire.Column{{Name: "k", Type: wire.TypeString}, {Name: "n", Type: wire.TypeDecimal}, {Name: "u"}}

func naiveAggregate(rows [][]wire.Value, keys []int) []string {
	groups := map[string][][]wire.Value{}
	var order []string
	for _, r := range rows {
		var key string
		for _, k := range keys {
			key += naiveKey(r[k], k > 0) + "|"
		}
		if _, known := groups[key]; !known {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	if len(keys) == 0 && len(rows) == 0 {
		order = append(order, "")
	}
	answer := []string{}
	for _, key := range order {
		members := groups[key]
		var line []string
		for _, k := range keys {
			line = append(line, asJSON(members[0][k]))
		}
		var nonNull int
		distinct := map[string]bool{}
		sum, scale := decimal.Zero, int32(0)
		least, greatest := null, null
		for _, r := range members {
			v := r[1]
			if v.IsNull() {
				continue
			}
			nonNull++
			distinct[numberKey(v)] = true
			d := decimal.RequireFromString(strings.TrimPrefix(v.String(), "+"))
			sum = sum.Add(d)
			if _, behind, dot := strings.Cut(v.String(), "."); dot {
				scale = max(scale, int32(len(behind)))
			}
			if least.IsNull() || d.LessThan(decimal.RequireFromString(strings.TrimPrefix(least.String(), "+"))) {
				least = v
			}
			if greatest.IsNull() || d.GreaterThan(decimal.RequireFromString(strings.TrimPrefix(greatest.String(), "+"))) {
				greatest = v
			}
		}
		total := "null"
		if nonNull > 0 {
			total = `"` + sum.StringFixed(scale) + `"`
		}
		line = append(line, fmt.Sprint(len(members)), fmt.Sprint(nonNull), fmt.Sprint(len(distinct)), total, asJSON(least), asJSON(greatest))
		answer = append(answer, strings.Join(line, " "))
	}
	return answer
}

func asJSON(v wire.Value) string {
	b, err := v.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestAggregateAgainstNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	names := []string{"k", "n", "u"}
	for range 1_500 {
		rows := randomRows(random, random.IntN(40))
		keys := random.Perm(3)[:random.IntN(4)]
		req := &wire.AggregateRequest{Measures: of("count", "count n", "count_distinct n", "sum n", "min n", "max n")}
		for _, k := range keys {
			req.GroupBy = append(req.GroupBy, wire.GroupKey{Field: names[k], As: names[k]})
		}
		got, err := relation.Aggregate(relation.Relation{Columns: randomColumns, Rows: reused(rows)}, req, unlimited())
		require.NoError(t, err)
		require.Equal(t, naiveAggregate(rows, keys), spelled(t, got), "%v by %v", rows, keys)
	}
}

func TestCardinalityAgainstNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		rows := randomRows(random, random.IntN(40))
		got, err := relation.Cardinality(relation.Relation{Columns: randomColumns, Rows: reused(rows)},
			&wire.CardinalityRequest{Columns: []string{"u", "k", "n"}}, unlimited(), false)
		require.NoError(t, err)
		for at, name := range []string{"k", "n", "u"} {
			want := wire.Cardinality{}
			distinct := map[string]bool{}
			for _, r := range rows {
				if !r[at].IsNull() {
					want.NonNull++
					distinct[naiveKey(r[at], at > 0)] = true
				}
			}
			want.Distinct = int64(len(distinct))
			require.Equal(t, &want, got[name], "%v", rows)
		}
	}
}

func TestLinkAgainstNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 1_000 {
		from, to := randomRows(random, random.IntN(30)), randomRows(random, random.IntN(12))
		fromAt, toAt := random.IntN(3), random.IntN(3)
		numeric := fromAt == 1 && toAt == 1 // [rule measure-2b]: both declared
		want := wire.LinkHitRate{OrphanSamples: []string{}}
		samples := map[string]bool{}
		for _, f := range from {
			if f[fromAt].IsNull() {
				continue
			}
			want.FromNonNull++
			if !slices.ContainsFunc(to, func(r []wire.Value) bool {
				return !r[toAt].IsNull() && naiveKey(r[toAt], numeric) == naiveKey(f[fromAt], numeric)
			}) {
				want.OrphanCount++
				samples[f[fromAt].String()] = true
			}
		}
		if want.FromNonNull > 0 {
			want.OrphanRate = float64(want.OrphanCount) / float64(want.FromNonNull)
		}
		for s := range samples {
			want.OrphanSamples = append(want.OrphanSamples, s)
		}
		sort.Strings(want.OrphanSamples)
		want.OrphanSamples = want.OrphanSamples[:min(20, len(samples))]

		got, err := relation.LinkHitRate(relation.Relation{Columns: randomColumns, Rows: reused(from)},
			relation.Relation{Columns: randomColumns, Rows: reused(to)},
			&wire.LinkHitRateRequest{FromColumn: randomColumns[fromAt].Name, ToColumn: randomColumns[toAt].Name}, unlimited())
		require.NoError(t, err)
		require.Equal(t, &want, got)
	}
}

// TestJoinAgainstNaive joins a base, a table, the table again, and one from
// there, and compares with nested loops.
func TestJoinAgainstNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 1_000 {
		base, a, b := randomRows(random, random.IntN(8)), randomRows(random, random.IntN(8)), randomRows(random, random.IntN(8))
		tables := map[string][][]wire.Value{"base": base, "a": a, "b": b}
		joins := []wire.JoinHop{{FromTable: "base", ToTable: "a"}, {FromTable: "a", ToTable: "b"}, {FromTable: "base", ToTable: "base"}}
		var ats [][2]int
		for i := range joins {
			from, to := random.IntN(3), random.IntN(3)
			ats = append(ats, [2]int{from, to})
			joins[i].FromField, joins[i].ToField = randomColumns[from].Name, randomColumns[to].Name
			for _, f := range random.Perm(3)[:1+random.IntN(2)] {
				joins[i].Fields = append(joins[i].Fields, wire.JoinField{Field: randomColumns[f].Name, As: fmt.Sprint(i, f)})
			}
		}
		var want []string
		var expand func(line []string, rows [][]wire.Value)
		expand = func(line []string, rows [][]wire.Value) {
			i := len(rows) - 1
			if i == len(joins) {
				want = append(want, strings.Join(line, " "))
				return
			}
			from := rows[0]
			if i == 1 {
				from = rows[1]
			}
			matched := false
			add := func(r []wire.Value) {
				more := slices.Clone(line)
				for _, f := range joins[i].Fields {
					at := slices.IndexFunc(randomColumns, func(c wire.Column) bool { return c.Name == f.Field })
					cell := null
					if r != nil {
						cell = r[at]
					}
					more = append(more, asJSON(cell))
				}
				expand(more, append(slices.Clone(rows), r))
			}
			numeric := ats[i][0] == 1 && ats[i][1] == 1
			for _, r := range tables[joins[i].ToTable] {
				if from != nil && !from[ats[i][0]].IsNull() && naiveKey(from[ats[i][0]], numeric) == naiveKey(r[ats[i][1]], numeric) {
					matched = true
					add(r)
				}
			}
			if !matched {
				add(nil)
			}
		}
		for _, r := range base {
			expand([]string{asJSON(r[0]), asJSON(r[1]), asJSON(r[2])}, [][]wire.Value{r})
		}

		var hops []relation.Relation
		for _, j := range joins {
			hops = append(hops, relation.Relation{Columns: randomColumns, Rows: reused(tables[j.ToTable])})
		}
		joined, err := relation.Join(relation.Relation{Columns: randomColumns, Rows: reused(base)},
			relation.JoinRequest{Table: "base", Joins: joins}, hops, unlimited())
		require.NoError(t, err)
		got := collect(t, joined.Rows)
		require.Equal(t, want, nilIfEmpty(got), "%+v", joins)
	}
}

func nilIfEmpty(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// collect spells rows as they come.
func collect(t *testing.T, rows relation.Rows) []string {
	t.Helper()
	list := []string{}
	for r, err := range rows {
		require.NoError(t, err)
		list = append(list, spelled(t, [][]wire.Value{r})...)
	}
	return list
}
