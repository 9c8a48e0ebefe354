package filesource

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSidecarAgainstTheData serves a folder for each case and looks at what
// discovery makes of a statement.
func TestSidecarAgainstTheData(t *testing.T) {
	const data = "id,a,b,n\n1,x,,1\n2,y,p,01\n3,x,q,1.0\n"
	for _, c := range []struct {
		why, sidecar    string
		primary, unique []string
		foreign         []wire.ForeignKey
		warnings        []string
	}{
		{"no statement", `{}`, nil, nil, nil, nil},
		{"a key that holds is unique", `{"primaryKey":["id"]}`, []string{"id"}, []string{"id"}, nil, nil},
		{"a key of two fields makes neither unique", `{"primaryKey":["id","a"]}`, []string{"id", "a"}, nil, nil, nil},
		{"a key with a null", `{"primaryKey":["b"]}`, nil, nil, nil,
			[]string{"t.table.json: primary key b is not declared: line 2 has no value in it"}},
		{"one null in a key of two fields is enough", `{"primaryKey":["id","b"]}`, nil, nil, nil,
			[]string{"t.table.json: primary key id, b is not declared: line 2 has no value in it"}},
		{"one that is not unique, beside one that is", `{"unique":["a","id"]}`, nil, []string{"id"}, nil,
			[]string{"t.table.json: unique field a is not declared: line 4 repeats an earlier value"}},
		{"numbers as numbers: 1, 01 and 1.0 are one (filter-6)", `{"unique":["n"],"columns":{"n":{"type":"number"}}}`, nil, nil, nil,
			[]string{"t.table.json: unique field n is not declared: line 3 repeats an earlier value"}},
		{"its nulls point nowhere", `{"foreignKeys":[{"field":"b","targetTable":"u","targetField":"k"}]}`, nil, nil,
			[]wire.ForeignKey{{Field: "b", TargetTable: "u", TargetField: "k"}}, nil},
		{"one with orphans", `{"foreignKeys":[{"field":"id","targetTable":"u","targetField":"num"}]}`, nil, nil, nil,
			[]string{"t.table.json: foreign key id to u.num is not declared: 2 of 3 values are not there, the first on line 3"}},
		{"numbers meet as numbers (measure-2b)",
			`{"columns":{"n":{"type":"decimal"}},"foreignKeys":[{"field":"n","targetTable":"u","targetField":"num"}]}`, nil, nil,
			[]wire.ForeignKey{{Field: "n", TargetTable: "u", TargetField: "num"}}, nil},
		{"a number and a text meet as texts (measure-2b)", `{"foreignKeys":[{"field":"n","targetTable":"u","targetField":"num"}]}`, nil, nil, nil,
			[]string{"t.table.json: foreign key n to u.num is not declared: 2 of 3 values are not there, the first on line 3"}},
		{"to no table", `{"foreignKeys":[{"field":"a","targetTable":"v","targetField":"k"}]}`, nil, nil, nil,
			[]string{`t.table.json: foreign key a to v.k is not declared: there is no table "v"`}},
		{"to no field", `{"foreignKeys":[{"field":"a","targetTable":"u","targetField":"v"}]}`, nil, nil, nil,
			[]string{`t.table.json: foreign key a to u.v is not declared: table "u" has no field "v"`}},
		{"of no field", `{"foreignKeys":[{"field":"z","targetTable":"u","targetField":"k"}]}`, nil, nil, nil,
			[]string{`t.table.json: foreign key z to u.k is not declared: there is no field "z"`}},
		{"keys go by the new names", `{"columns":{"id":{"name":"number"}},"primaryKey":["number"]}`, []string{"number"},
			[]string{"number"}, nil, nil},
		{"and not by the old ones", `{"columns":{"id":{"name":"number"}},"primaryKey":["id"]}`, nil, nil, nil,
			[]string{`t.table.json: primary key id is not declared: there is no field "id"`}},
		{"names may be exchanged", `{"columns":{"a":{"name":"b"},"b":{"name":"a"}},"unique":["a"]}`, nil, []string{"a"}, nil, nil},
		{"columns that are not there", `{"columns":{"y":{},"x":{}}}`, nil, nil, nil,
			[]string{`t.table.json: columns: the file has no column "x"`, `t.table.json: columns: the file has no column "y"`}},
		{"a broken sidecar is left out as a whole, and the table served all the same", `{"primaryKey":["id"],"x":1}`, nil, nil, nil,
			[]string{`t.table.json line 1: "x": no such member; there are description, separator, encoding, decimalComma, dateFormat, columns, primaryKey, unique and ` +
				`foreignKeys; nothing of the file is applied`}},
		{"an empty sidecar", ``, nil, nil, nil, []string{"t.table.json is empty; write a JSON object into it or remove it"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			s, _ := inMemory(t, map[string]string{
				"acme/t.csv": data, "acme/t.table.json": c.sidecar,
				"acme/u.csv": "k,num\nx,1\ny,1.00\np,\nq,\n", "acme/bad.csv": "k,k\n",
			})
			d := discovered(t, s, "acme")
			require.Len(t, d.Tables, 2)
			table := d.Tables[0]
			require.Equal(t, "t", table.Name)
			assert.Equal(t, len(c.primary), len(table.PrimaryKey))
			if c.primary != nil {
				assert.Equal(t, c.primary, table.PrimaryKey)
			}
			var unique []string
			for _, f := range table.Fields {
				if f.Unique {
					unique = append(unique, f.Name)
				}
			}
			assert.Equal(t, c.unique, unique)
			assert.Equal(t, len(c.foreign), len(table.ForeignKeys))
			if c.foreign != nil {
				assert.Equal(t, c.foreign, table.ForeignKeys)
			}
			var warnings []string
			for _, w := range d.Warnings {
				if !strings.HasPrefix(w, "bad.csv") {
					warnings = append(warnings, w)
				}
			}
			assert.Equal(t, c.warnings, warnings)
		})
	}
}

func TestSidecarTexts(t *testing.T) {
	s, _ := inMemory(t, map[string]string{
		"acme/t.csv":        "Cust No,x\n1,a\n",
		"acme/t.table.json": `{"description":"All of it.","columns":{"Cust No":{"name":"customer","description":"Who.","samples":false}}}`,
	})
	table := discovered(t, s, "acme").Tables[0]
	assert.Equal(t, "All of it.", table.SourceDescription)
	f := table.Fields[0]
	assert.Equal(t, "customer", f.Name)
	assert.Equal(t, "Cust No", f.SourceColumn)
	assert.Equal(t, "Who.", f.SourceDescription)
	assert.Empty(t, f.Samples)
	assert.Nil(t, f.Stats.Min, "an extreme is a value too")
	assert.Equal(t, int64(1), f.Stats.DistinctCount)
	assert.Equal(t, []wire.Value{wire.Text("a")}, table.Fields[1].Samples)
	assert.Equal(t, "The column x of the file t.csv.", table.Fields[1].SourceDescription)
	assert.Equal(t, []string{`{"customer":1}`},
		rowsOf(t, s, "acme", `"table":"t","and":[{"field":"customer","op":"eq","value":1}],"sort":[],"fields":["customer"]`))
}

// described describes one CSV file.
func described(t *testing.T, content string, side *textfile.Sidecar) *description {
	t.Helper()
	d := testkit.Must(describe(t.Context(), tableFile{"t", "t.csv"}, opened(t, content), textfile.Format{}, side, nil))(t)
	require.Nil(t, d.fault)
	return d
}

// opened opens one CSV file.
func opened(t *testing.T, content string) *file {
	t.Helper()
	f := testkit.Must(fsRoot(mapFS(map[string]string{"acme/t.csv": content})).enter("acme"))(t)
	return testkit.Must(f.openFile("t.csv"))(t)
}

// TestKeysInParts checks keys that are too many for one reading: every reading
// sees its part, and together they see all.
func TestKeysInParts(t *testing.T) {
	const n = 3000
	var b strings.Builder
	b.WriteString("id,parent\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%d\n", i, (i+1)%n)
	}
	good := b.String()
	opens := 0
	opener := func(content string) opener {
		d := described(t, content, nil)
		return func(only ...int) (*rows, error) {
			opens++
			return d.read(t.Context(), opened(t, content), only...)
		}
	}
	columns := described(t, good, nil).columns
	pretended := int64(3 * keysPerReading) // so many rows need four readings

	problem, err := checkUnique(columns, []int{0}, false, pretended, opener(good))
	require.NoError(t, err)
	assert.Empty(t, problem)
	assert.Equal(t, 4, opens)
	for _, repeated := range []int{0, 7, 1500, n - 1} {
		problem, err = checkUnique(columns, []int{0}, false, pretended, opener(good+fmt.Sprintf("%d,0\n", repeated)))
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("line %d repeats an earlier value", n+2), problem, "whichever part it falls in")
	}
	problem = testkit.Must(checkUnique(columns, []int{0}, false, maxReadings*keysPerReading, opener(good)))(t)
	assert.Equal(t, tooLarge, problem)

	side := func(content string, field int) linkEnd {
		return linkEnd{rows: pretended, field: field, typ: wire.TypeNumber, open: opener(content)}
	}
	problem = testkit.Must(checkLink(side(good, 1), side(good, 0)))(t)
	assert.Empty(t, problem)
	problem = testkit.Must(checkLink(side(good+"-1,-1\n-2,-2\n-3,5\n", 1), side(good, 0)))(t)
	assert.Equal(t, fmt.Sprintf("2 of %d values are not there, the first on line %d", n+3, n+2), problem)
	problem, err = checkLink(side(good, 1), linkEnd{rows: maxReadings * keysPerReading, typ: wire.TypeNumber, open: opener(good)})
	require.NoError(t, err)
	assert.Equal(t, tooLarge, problem)
}

func TestKeySet(t *testing.T) {
	s := keySet{}
	for i := range 1_000 {
		require.True(t, s.add(digestOf(fmt.Append(nil, i))))
		require.False(t, s.add(digestOf(fmt.Append(nil, i))))
	}
	parts := [3]int{}
	for i := range 9000 {
		parts[digestOf(fmt.Append(nil, i)).part(3)]++
	}
	for _, n := range parts {
		assert.InDelta(t, 3000, n, 300, "parts are about equal")
	}
}

func TestProfile(t *testing.T) {
	long := strings.Repeat("é", textvalue.MaxSampleText)
	d := described(t, "n,t,l,a,z\n2,b,"+long+",\"[1]\",\n10,a,x,[],\n,b,y,[],\n2,,z,\"[1]\",\n", nil)
	stats := func(i int) *wire.Stats { return d.columns[i].stats() }
	assert.Equal(t, int64(2), stats(0).DistinctCount)
	assert.Equal(t, 25.0, *stats(0).NullPercent)
	assert.Equal(t, wire.Int(2), *stats(0).Min, "by value, not by bytes")
	assert.Equal(t, wire.Int(10), *stats(0).Max)
	assert.Equal(t, []wire.Value{wire.Int(2), wire.Int(10)}, d.columns[0].profile.samples.Values(), "each once")
	assert.Equal(t, wire.Text("a"), *stats(1).Min)
	assert.Equal(t, wire.Text("b"), *stats(1).Max)
	assert.Equal(t, int64(4), stats(2).DistinctCount)
	assert.Nil(t, stats(2).Min, "a long text is no telling extreme")
	assert.Len(t, d.columns[2].profile.samples.Values(), 3, "nor a sample")
	assert.Equal(t, int64(2), stats(3).DistinctCount)
	assert.Nil(t, stats(3).Max, "arrays have no order")
	assert.Equal(t, int64(0), stats(4).DistinctCount)
	assert.Equal(t, 100.0, *stats(4).NullPercent)
	assert.Nil(t, described(t, "a\n", nil).columns[0].stats(), "of no rows there is no share of nulls")
}

// TestDistinctValuesAreBounded measures more distinct values than a budget holds:
// the column with the most loses its statistics, unless it is proven unique.
func TestDistinctValuesAreBounded(t *testing.T) {
	const budget = 4096
	n := int64(budget)
	var b strings.Builder
	b.WriteString("few,id,some\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%d,%d\n", i%7, i, i%1000)
	}
	d := described(t, b.String(), nil)
	assert.Equal(t, n, d.columns[1].stats().DistinctCount, "the budget of a file holds them")
	rows := testkit.Must(d.read(t.Context(), opened(t, b.String())))(t)
	require.NoError(t, measure(d.columns, rows, budget))
	assert.Equal(t, int64(7), d.columns[0].stats().DistinctCount)
	assert.Nil(t, d.columns[1].stats(), "a count that is not known is not stated")
	assert.Equal(t, int64(1000), d.columns[2].stats().DistinctCount)
	assert.Equal(t, wire.Int(n-1), d.columns[1].profile.most, "the rest of its profile is known")

	d.keys.primary = []string{"id"}
	d.countUnique()
	assert.Equal(t, n, d.columns[1].stats().DistinctCount, "a unique field has as many distinct values as cells")
}

func TestReadingEndsWithItsContext(t *testing.T) {
	content := "a\n" + strings.Repeat("1\n", 5000)
	d := described(t, content, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	rows := testkit.Must(d.read(ctx, opened(t, content)))(t)
	_, err := rows.next()
	require.NoError(t, err)
	cancel(errClosed)
	for err == nil {
		_, err = rows.next()
	}
	assert.ErrorIs(t, err, errClosed)
	assert.NotErrorIs(t, err, io.EOF)
}
