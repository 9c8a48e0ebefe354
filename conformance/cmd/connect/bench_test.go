package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkPulls reads one table of 40 pages, and exports eight tables of ten pages each, from a source
// that takes 50 ms for each page and four requests at once. Each round also does the same with a
// simple loop, which asks for one page after the other. The metric is how many times longer that takes.
func BenchmarkPulls(b *testing.B) {
	const page = 25
	one := []memsource.Table{things(40 * page)}
	var several []memsource.Table
	for i := range 8 {
		several = append(several, things(10*page))
		several[i].Name = fmt.Sprint("t", i)
	}
	query := func(b *testing.B, c *platform.Connection) {
		answer, err := c.Query(b.Context(), &wire.QueryRequest{Table: c.Tables[0].Name, Fields: names(&c.Tables[0])})
		require.NoError(b, err)
		require.NoError(b, platform.WriteCSV(io.Discard, answer.Columns, answer.All()))
	}
	exported := func(b *testing.B, c *platform.Connection) {
		e := &export{dir: b.TempDir(), format: "csv", connection: c, every: saveEvery, log: &exportLog{out: io.Discard}}
		require.NoError(b, e.run(b.Context()))
	}
	for _, bench := range []struct {
		name   string
		tables []memsource.Table
		read   func(*testing.B, *platform.Connection)
	}{{"query", one, query}, {"export", several, exported}} {
		b.Run(bench.name, func(b *testing.B) {
			p := newPier(b, wire.Limits{PageSizeMax: page, Concurrency: 4}, bench.tables...)
			in, stop := memlisten.Client(p)
			defer stop()
			client, err := platform.NewClient("https://shop.test", wire.NewBearer(exportToken), &platform.Options{HTTP: in})
			require.NoError(b, err)
			c, err := platform.Connect(b.Context(), client, wire.Credentials{}, &platform.ConnectionOptions{DiscoverOnly: true})
			require.NoError(b, err)
			p.wait = 50 * time.Millisecond
			var simple, own time.Duration
			for b.Loop() {
				begun := time.Now()
				for i := range c.Tables {
					simplePages(b, client, &c.Tables[i], page)
				}
				simple += time.Since(begun)
				begun = time.Now()
				bench.read(b, c)
				own += time.Since(begun)
			}
			b.ReportMetric(simple.Seconds()/own.Seconds(), "times-faster")
		})
	}
}

// simplePages writes a table into a file, one page after the other.
func simplePages(b *testing.B, client *platform.Client, t *wire.Table, page int64) {
	file := testkit.Must(os.Create(filepath.Join(b.TempDir(), "table.csv")))(b)
	header := t.Columns()
	for offset := int64(0); ; offset += page {
		req := &wire.QueryRequest{Table: t.Name, Fields: names(t), Limit: page, Offset: offset}
		for _, name := range t.PrimaryKey {
			req.Sort = append(req.Sort, wire.SortKey{Field: name, Dir: wire.Asc})
		}
		answer := testkit.Must(client.Query(b.Context(), wire.Credentials{}, req, t.Columns()))(b)
		came := int64(0)
		require.NoError(b, platform.WriteCSV(file, header, func(yield func([]wire.Value, error) bool) {
			for row, err := range answer.All() {
				if came++; !yield(row, err) {
					return
				}
			}
		}))
		header = nil // it stands above the first page
		if came < page {
			break
		}
	}
	require.NoError(b, file.Close())
}
