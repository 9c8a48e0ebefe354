package filesource

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// BenchmarkRows reads the typed rows of a file of each format.
func BenchmarkRows(b *testing.B) {
	const n = 20_000
	var csv, ndjson strings.Builder
	csv.WriteString("id,amount,placed,status,note,paid\n")
	for i := range n {
		status := []string{"open", "paid", "", "shipped"}[i%4]
		fmt.Fprintf(&csv, "%d,%d.%02d,2024-01-%02dT10:%02d:00+02:00,%s,a note of some length %06d,%t\n", i+1, i%1000, i%100,
			1+i%28, i%60, status, i%1000, i%2 == 0)
		fmt.Fprintf(&ndjson, `{"id":%d,"amount":%d.%02d,"placed":"2024-01-%02dT10:%02d:00+02:00","status":"%s",`+
			`"note":{"text":"of some length %06d","tags":["a","b"]},"paid":%t}`+"\n", i+1, i%1000, i%100, 1+i%28, i%60, status, i%1000, i%2 == 0)
	}
	for name, content := range map[string]string{"t.csv": csv.String(), "t.ndjson": ndjson.String()} {
		b.Run(name, func(b *testing.B) {
			f := testkit.Must(fsRoot(mapFS(map[string]string{"acme/" + name: content})).enter("acme"))(b)
			opened := testkit.Must(f.openFile(name))(b)
			d := testkit.Must(describe(b.Context(), tableFile{"t", name}, opened, textfile.Format{}, nil, nil))(b)
			b.ReportAllocs()
			for b.Loop() {
				rows := testkit.Must(d.read(b.Context(), opened))(b)
				for _, err := range rows.all() {
					require.NoError(b, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
