package main

import (
	"io"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	aheadLatency  = 50 * time.Millisecond
	aheadPages    = 60
	aheadPageRows = 100
)

// farAPI answers the reference table in pages, by number and after a cursor, each in 50 ms.
type farAPI struct{ pages [][]byte }

func newFarAPI() (*farAPI, error) {
	a := &farAPI{}
	for p := range aheadPages {
		line, err := encodedLine(p*aheadPageRows, aheadPageRows)
		if err != nil {
			return nil, err
		}
		next := "null"
		if p+1 < aheadPages {
			next = strconv.Quote(strconv.Itoa(p + 2))
		}
		page := string(line[:len(line)-len("}\n")]) + `,"total":` + strconv.Itoa(aheadPages*aheadPageRows) + `,"next":` + next + "}"
		a.pages = append(a.pages, []byte(page))
	}
	return a, nil
}

func (a *farAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(aheadLatency)
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	body := `{"rows":[],"total":` + strconv.Itoa(aheadPages*aheadPageRows) + `,"next":null}`
	if page = max(page, 1); page <= len(a.pages) {
		body = string(a.pages[page-1])
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// BenchmarkS20 reads 60 pages of 100 rows from an API that answers in 50 ms. x-latencies is the
// time of the read as a multiple of the sum of the latencies; x-turns as one of an API and an
// equally slow reader that wait for each other. peak-B is the most memory in use.
func BenchmarkS20(b *testing.B) {
	api := testkit.Must(newFarAPI())(b)
	for _, c := range []struct {
		name  string
		pages restsource.Pages
		total string
		slow  bool // the reader is
	}{
		{"number", restsource.Pages{By: restsource.PagingPage, Param: "page", SizeParam: "limit", Size: aheadPageRows}, "total", false},
		{"cursor", restsource.Pages{By: restsource.PagingCursor, Param: "page", Next: "next", SizeParam: "limit", Size: aheadPageRows}, "", true},
	} {
		b.Run(c.name, func(b *testing.B) {
			t := restsource.Table{Name: tableName, Path: "/orders", Rows: "rows", Key: []string{"id"}, Pages: c.pages, Total: c.total}
			for _, col := range columns {
				t.Columns = append(t.Columns, restsource.Column{Name: col.Name, Type: col.Type})
			}
			src := testkit.Must(restsource.New(restsource.API{Base: "https://api.example.com"}, []restsource.Table{t},
				&restsource.Options{Transport: api, Concurrency: 8}))(b)
			h := testkit.Must(newHandler(connector.Definition{Slug: "bench-ahead"}, src))(b)
			body := testkit.Must(wire.EncodeRequest(query()))(b)
			b.ReportAllocs()
			defer debug.SetGCPercent(debug.SetGCPercent(20))
			stop, peak := make(chan struct{}), make(chan uint64)
			go func() { peak <- peakHeap(stop) }()
			for b.Loop() {
				w := &discardWriter{}
				if c.slow {
					w.perByte = aheadLatency / time.Duration(len(api.pages[0]))
				}
				serveInto(b, h, body, w)
			}
			close(stop)
			b.ReportMetric(float64(<-peak), "peak-B")
			sum, unit := float64(aheadPages*aheadLatency), "x-latencies"
			if c.slow {
				sum, unit = 2*sum, "x-turns"
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/sum, unit)
		})
	}
}

// peakHeap returns the most bytes of objects that were in use until stop is closed.
func peakHeap(stop <-chan struct{}) (most uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		metrics.Read(sample)
		most = max(most, sample[0].Value.Uint64())
		select {
		case <-stop:
			return most
		case <-time.After(time.Millisecond):
		}
	}
}
