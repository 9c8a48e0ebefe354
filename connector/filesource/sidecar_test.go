package filesource

import (
	"context"
	"encoding/json"
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
	for _, c := range testkit.Cases[struct {
		Why             string
		Sidecar         json.RawMessage
		Primary, Unique []string
		Foreign         []wire.ForeignKey
		Warnings        []string
	}](t, "testdata/sidecars.json") {
		t.Run(c.Why, func(t *testing.T) {
			s, _ := inMemory(t, map[string]string{
				"acme/t.csv": data, "acme/t.table.json": string(c.Sidecar),
				"acme/u.csv": "k,num\nx,1\ny,1.00\np,\nq,\n", "acme/bad.csv": "k,k\n",
			})
			d := discovered(t, s, "acme")
			require.Len(t, d.Tables, 2)
			table := d.Tables[0]
			require.Equal(t, "t", table.Name)
			assert.Equal(t, fmt.Sprint(c.Primary), fmt.Sprint(table.PrimaryKey))
			var unique []string
			for _, f := range table.Fields {
				if f.Unique {
					unique = append(unique, f.Name)
				}
			}
			assert.Equal(t, c.Unique, unique)
			assert.Equal(t, fmt.Sprint(c.Foreign), fmt.Sprint(table.ForeignKeys))
			assert.ElementsMatch(t, append(c.Warnings,
				"bad.csv line 1: columns 1 and 2 have the same name; rename one; the file is left out"), d.Warnings)
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
