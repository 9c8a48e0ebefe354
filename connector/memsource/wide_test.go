package memsource_test

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestWideTables asks for each of many columns in each list of a request.
func TestWideTables(t *testing.T) { wideTable(t, 2_000, func(t *testing.T, ask func()) { ask() }) }

// BenchmarkWideTables shows that the time for a column does not grow with their number.
func BenchmarkWideTables(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			wideTable(b, n, func(b *testing.B, ask func()) {
				for b.Loop() {
					ask()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/column")
			})
		})
	}
}

// wideTable calls run with requests that name each of n columns in their lists.
func wideTable[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, n int, run func(t T, ask func())) {
	table := memsource.Table{Rows: [][]wire.Value{make([]wire.Value, n)}}
	table.Name = "t"
	for i := range n {
		table.Fields = append(table.Fields, wire.Field{Name: fmt.Sprint("c", i), Type: wire.TypeString, Nullable: true})
	}
	source := testkit.Must(memsource.New([]memsource.Table{table, {Table: wire.Table{Name: "u", Fields: table.Fields}}}, nil))(t)
	h := testkit.New(connectortest.Token, connector.Definition{Slug: "wide"}, source,
		&connector.Options{MaxRequestBytes: 1 << 30, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})

	// each returns a list with one item for each column.
	each := func(item string) string {
		var list strings.Builder
		for i := range n {
			if i > 0 {
				list.WriteByte(',')
			}
			fmt.Fprintf(&list, item, i)
		}
		return "[" + list.String() + "]"
	}
	filters := each(`{"field":"c%d","op":"isnull"}`)
	joins := `"joins":[{"fromTable":"t","fromField":"c1","toTable":"u","toField":"c1","fields":` +
		each(`{"field":"c%[1]d","as":"u%[1]d"}`) + `}],`
	for _, c := range []struct{ why, path, body, want string }{
		{"fields, filters, a sort with a limit", "/query", `"and":` + filters + `,"or":[` + filters + `],"sort":` +
			each(`{"field":"c%d","dir":"asc"}`) + `,"limit":1,"fields":` + each(`"c%d"`), fmt.Sprintf(`"c%d":null}`, n-1)},
		{"the fields of a join", "/query", joins + `"and":[],"sort":[],"fields":` + each(`"c%d"`), fmt.Sprintf(`"u%d":null}`, n-1)},
		{"group keys, measures and texts", "/aggregate", `"and":[],"groupBy":` + each(`{"field":"c%[1]d","as":"g%[1]d"}`) +
			`,"measures":` + each(`{"fn":"count","field":"c%[1]d","as":"m%[1]d"}`) + `,"stringFields":` + each(`"c%d"`) + `,"limit":1001`,
			fmt.Sprintf(`"m%d":0`, n-1)},
		{"measured columns", "/cardinality", `"columns":` + each(`"c%d"`), fmt.Sprintf(`"c%d":{"nonNull":0,"distinct":0}`, n-1)},
	} {
		t.Run(c.why, func(t T) {
			run(t, func() {
				w := testkit.Post(h, connectortest.Token, c.path, `{"table":"t",`+c.body+`,"credentials":{},"timeoutMs":600000}`)
				answer := w.Body.String()
				assert.Equal(t, 200, w.Code, answer[:min(300, len(answer))])
				assert.True(t, strings.Contains(answer, c.want), "the last column is in the answer")
			})
		})
	}
}
