package corpus

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lint answers questions about the data of a corpus.
type lint map[string]Table

func lintOf(tables []Table) lint {
	l := lint{}
	for _, t := range tables {
		l[t.Name] = t
	}
	return l
}

func (l lint) field(table, column string) *wire.Field {
	t := l[table]
	return t.Field(column)
}

// cells returns the non-null cells of a column.
func (l lint) cells(table, column string) []wire.Value {
	t := l[table]
	at := slices.IndexFunc(t.Fields, func(f wire.Field) bool { return f.Name == column })
	var cells []wire.Value
	for _, row := range t.Rows {
		if !row[at].IsNull() {
			cells = append(cells, row[at])
		}
	}
	return cells
}

func (l lint) texts(table, column string) []string {
	var texts []string
	for _, v := range l.cells(table, column) {
		texts = append(texts, v.String())
	}
	return texts
}

// has reports whether a column has all of these texts.
func (l lint) has(table, column string, texts ...string) bool {
	all := l.texts(table, column)
	return !slices.ContainsFunc(texts, func(s string) bool { return !slices.Contains(all, s) })
}

// some reports whether a cell of a column satisfies a condition.
func (l lint) some(table, column string, is func(string) bool) bool {
	return slices.ContainsFunc(l.texts(table, column), is)
}

// pair reports whether two different cells of a column satisfy a condition.
func (l lint) pair(table, column string, are func(a, b string) bool) bool {
	all := l.texts(table, column)
	return slices.ContainsFunc(all, func(a string) bool {
		return slices.ContainsFunc(all, func(b string) bool { return a != b && are(a, b) })
	})
}

func (l lint) distinct(table, column string) int {
	all := l.texts(table, column)
	slices.Sort(all)
	return len(slices.Compact(all))
}

// orphans counts keys of a column that another column does not have.
func (l lint) orphans(table, column, target, key string) int {
	keys := l.texts(target, key)
	return len(slices.DeleteFunc(l.texts(table, column), func(s string) bool { return slices.Contains(keys, s) }))
}

func (l lint) nulls(table, column string) int {
	return len(l[table].Rows) - len(l.cells(table, column))
}

func contains(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}

type trait struct {
	name, why string
	holds     func(l lint) bool
}

// traits returns the properties that the data must have. TestTraits checks that
// none of them is true for empty tables.
func traits(t *testing.T) []trait {
	all := slices.Clone(conditions)
	for _, row := range testkit.Table(t, "testdata/traits.tsv", 4) {
		table, column, _ := strings.Cut(row[2], ".")
		var texts []string
		for _, v := range cells.Row(t, row[3]) {
			texts = append(texts, v.Text())
		}
		all = append(all, trait{row[0], row[1], func(l lint) bool { return l.has(table, column, texts...) }})
	}
	return all
}

// conditions are the traits that are more than some texts of a column.
var conditions = []trait{
	{"manifest", "a judge must know what it judges by", func(l lint) bool {
		const manifest = "conformance_manifest"
		return len(l[manifest].Rows) == 1 && l.has(manifest, "name", "connector-sdk-corpus")
	}},
	{"every type", "each of the nine compares its own way", func(l lint) bool {
		for _, n := range []string{"string", "number", "decimal", "boolean", "date", "datetime", "json", "array", "reference"} {
			if len(l.cells("types", "v_"+n)) < 25 || l.field("types", "v_"+n).Type != wire.Type(n) {
				return false
			}
		}
		return true
	}},
	{"nulls in every nullable column", "a null rule is broken only where there are nulls", func(l lint) bool {
		seen := 0
		for _, t := range l {
			for _, f := range t.Fields {
				if f.Nullable && l.nulls(t.Name, f.Name) == 0 && t.Name != "empty_table" && t.Name != "wide" {
					return false
				}
				if f.Nullable && l.nulls(t.Name, f.Name) > 0 {
					seen++
				}
			}
		}
		return seen > 40
	}},
	{"a row of nulls", "nothing but a key", func(l lint) bool {
		return slices.ContainsFunc(l["types"].Rows, func(row []wire.Value) bool {
			return !slices.ContainsFunc(row[1:], func(v wire.Value) bool { return !v.IsNull() })
		})
	}},
	{"a column of nulls", "it has no value, no minimum and no distinct value", func(l lint) bool {
		return l.nulls("types", "v_null") >= 30 && len(l.cells("types", "v_null")) == 0
	}},
	{"case", "collations hold it equal", func(l lint) bool { return l.pair("texts", "value", strings.EqualFold) }},
	{"the empty text and null", "some databases confuse them",
		func(l lint) bool { return l.has("texts", "value", "") && l.nulls("texts", "value") > 0 }},
	{"non-ASCII", "byte order is not the order of a language", func(l lint) bool {
		return l.some("texts", "value", func(s string) bool {
			return strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f && r < 0x800 })
		})
	}},
	{"zero and minus zero", "one number", func(l lint) bool {
		minus := slices.ContainsFunc(l.cells("numbers", "real"), func(v wire.Value) bool { return v.Float64() == 0 && 1/v.Float64() < 0 })
		return minus && l.has("numbers", "amount", "0", "0.000", "-0", "-0.00") && l.has("numbers", "digits", "0", "-0", "+0", "00")
	}},
	{"long decimals", "65 digits, the most that MySQL has", func(l lint) bool {
		return l.pair("numbers", "amount", func(a, b string) bool { return len(a) == 66 && len(b) == 66 && a[:65] == b[:65] })
	}},
	{"doubles of all sizes", "their digits need an exponent, or many digits", func(l lint) bool {
		return l.has("numbers", "real", "0.0000001", "1000000000000000000000", "0.1", "1.5", "0.30000000000000004") &&
			slices.ContainsFunc(l.cells("numbers", "real"), func(v wire.Value) bool { return v.Float64() == 1e300 }) &&
			slices.ContainsFunc(l.cells("numbers", "real"), func(v wire.Value) bool { return v.Float64() == 5e-324 })
	}},
	{"unicode in documents", "normal forms and characters beyond the basic plane", func(l lint) bool {
		return l.some("documents", "tags", contains("e\u0301")) && l.some("documents", "doc", contains("\U0001f600"))
	}},
	{"a foreign key with nulls and orphans", "links and joins", func(l lint) bool {
		return l.nulls("orders", "customer_id") > 2 && l.orphans("orders", "customer_id", "customers", "id") > 2
	}},
	{"several matches and none", "a join adds rows, and loses none", func(l lint) bool {
		return l.orphans("customers", "id", "orders", "customer_id") > 1 &&
			l.distinct("orders", "customer_id") < len(l.cells("orders", "customer_id"))-5
	}},
	{"a composite key", "neither of its columns is one", func(l lint) bool {
		return len(l["order_lines"].PrimaryKey) == 2 &&
			l.distinct("order_lines", "order_id") < len(l["order_lines"].Rows) &&
			l.distinct("order_lines", "line_no") < len(l["order_lines"].Rows) && len(l["order_lines"].Rows) > 50
	}},
	{"a self-reference", "chains, heads, one to itself, one to nobody", func(l lint) bool {
		itself := slices.ContainsFunc(l["employees"].Rows, func(row []wire.Value) bool { return !row[2].IsNull() && row[0] == row[2] })
		return itself && l.nulls("employees", "manager_id") > 1 && l.orphans("employees", "manager_id", "employees", "id") == 1
	}},
	{"unique texts that differ in case", "a key by bytes", func(l lint) bool {
		return l.field("customers", "email").Unique && l.pair("customers", "email", strings.EqualFold)
	}},
	{"more than twenty orphans", "samples end at twenty", func(l lint) bool { return l.orphans("code_links", "text", "codes", "text") > 20 }},
	{"many rows", "more than one batch", func(l lint) bool { return len(l["many"].Rows) > 5000 }},
	{"many groups", "more than an aggregate may answer", func(l lint) bool { return l.distinct("many", "key") > 1001 }},
	{"seven groups", "a sum over counts", func(l lint) bool { return l.distinct("many", "grp") == 7 }},
	{"more than ten thousand rows", "many upstreams stop there", func(l lint) bool {
		return len(l["large"].Rows) > 12_000 && l.distinct("large", "name") > 12_000
	}},
	{"long texts that differ at the end", "a text that is cut equals another", func(l lint) bool {
		return l.pair("lengths", "text", func(a, b string) bool { return len(a) == 70_000 && len(b) == 70_000 && a[:69_999] == b[:69_999] })
	}},
	{"a wide row", "columns and bytes", func(l lint) bool {
		return len(l["wide"].Fields) >= 100 && l.some("wide", "long_text", func(s string) bool { return len(s) == 64<<10 && utf8.ValidString(s) })
	}},
}

func TestTraits(t *testing.T) {
	tables := lintOf(Tables())
	var empty []Table
	for _, table := range Tables() {
		table.Rows = nil
		empty = append(empty, table)
	}
	for _, trait := range traits(t) {
		assert.True(t, trait.holds(tables), "the corpus has lost a trait: %s (%s)", trait.name, trait.why)
		assert.False(t, trait.holds(lintOf(empty)), "the trait %s holds without a row, so it tests nothing", trait.name)
	}
	assert.Empty(t, tables["empty_table"].Rows, "the empty table is empty")
}

// TestRowsMatter removes each row that a trait names by its texts, one at a
// time, and checks that some trait fails.
func TestRowsMatter(t *testing.T) {
	for _, c := range []struct {
		table, column string
		least         float64 // the share of rows without which a trait is lost
	}{{"texts", "value", 0.6}, {"numbers", "digits", 0.3}, {"moments", "at", 0.3}, {"documents", "tags", 0.5}} {
		whole := lintOf(Tables())
		without := func(rows [][]wire.Value) lint {
			less, table := maps.Clone(whole), whole[c.table]
			table.Rows = rows
			less[c.table] = table
			return less
		}
		var concerned []trait
		for _, trait := range traits(t) {
			if !trait.holds(without(nil)) {
				concerned = append(concerned, trait)
			}
		}
		rows := whole[c.table].Rows
		lost := 0
		for i := range rows {
			less := without(slices.Delete(slices.Clone(rows), i, i+1))
			if slices.ContainsFunc(concerned, func(trait trait) bool { return !trait.holds(less) }) {
				lost++
			}
		}
		assert.GreaterOrEqual(t, float64(lost)/float64(len(rows)), c.least, "%s: %d of %d rows are needed by a trait", c.table, lost, len(rows))
	}
}

// TestLaws checks that no row has what some database cannot store, or what
// leaves the right answer open.
func TestLaws(t *testing.T) {
	for _, table := range Tables() {
		assert.NotEmpty(t, table.SourceDescription, table.Name)
		assert.NotEmpty(t, table.PrimaryKey, table.Name)
		seconds := map[string]string{}
		for i, f := range table.Fields {
			at := table.Name + "." + f.Name
			assert.NotEmpty(t, f.SourceDescription, at)
			ints, floats := 0, 0
			for _, row := range table.Rows {
				v := row[i]
				assert.True(t, f.Nullable || !v.IsNull(), "%s: a null", at)
				switch v.Kind() {
				case wire.KindInt:
					ints++
				case wire.KindFloat:
					floats++
				case wire.KindText:
					assert.NotContains(t, v.Text(), "\x00", "%s: PostgreSQL cannot hold U+0000", at)
				case wire.KindDecimal:
					whole, fraction, _ := strings.Cut(strings.TrimLeft(v.Text(), "-"), ".")
					assert.True(t, len(whole) <= 35 && len(fraction) <= 30, "%s: MySQL cannot hold %s", at, v)
				case wire.KindDatetime:
					// Instants within one second order by bytes only if all
					// fractions have one width.
					text := v.String()
					second, known := seconds[text[:19]]
					assert.True(t, !known || second == text, "%s: two instants in one second: %s", at, text)
					seconds[text[:19]] = text
				}
				if f.Type == wire.TypeArray && !v.IsNull() {
					assert.True(t, strings.HasPrefix(v.Text(), "["), "%s: no array: %s", at, v)
				}
			}
			assert.True(t, ints == 0 || floats == 0, "%s: a column is of integers or of doubles", at)
		}
		keys := &oracle.Table{Name: table.Name, Columns: table.Columns(), Rows: table.Rows}
		var sorts []wire.SortKey
		for _, k := range table.PrimaryKey {
			sorts = append(sorts, wire.SortKey{Field: k, Dir: wire.Asc})
		}
		at, ok := oracle.Sorted(keys, sorts, nil)
		assert.True(t, ok, "%s: rows[%d] is out of the order of the key", table.Name, at)
	}
}
