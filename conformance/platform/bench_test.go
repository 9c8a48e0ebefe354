package platform_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// benchColumns are eight columns of six types.
var benchColumns = []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "customer", Type: wire.TypeReference},
	{Name: "status", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal}, {Name: "placed", Type: wire.TypeDatetime},
	{Name: "paid", Type: wire.TypeBoolean}, {Name: "note", Type: wire.TypeString}, {Name: "weight", Type: wire.TypeNumber}}

// batch returns a line of rows.
func batch(rows int) string {
	var list []string
	for i := range rows {
		list = append(list, fmt.Sprintf(`{"id":%d,"customer":"C-%06d","status":"shipped","amount":"%d.50","placed":"2024-05-17T10:%02d:00Z",`+
			`"paid":%t,"note":null,"weight":%d.25}`, i, i*7, i, i%60, i%2 == 0, i%100))
	}
	return `{"rows":[` + strings.Join(list, ",") + "]}\n"
}

// batches is a stream of many equal lines of rows.
func batches(line string, n int) func() io.Reader {
	return func() io.Reader {
		served := strings.NewReader(`{"served":{"filters":true,"sort":true,"window":true}}` + "\n")
		return io.MultiReader(served, repeated(line, n), strings.NewReader(`{"end":1}`+"\n"))
	}
}

// TestMemory reads many rows. No row allocates, and the memory that is held does not grow
// with their number. It is compared with what was held before: other tests leave data.
// What the rest of the process allocates meanwhile may disturb a reading, but not three
// of them.
func TestMemory(t *testing.T) {
	line := batch(2000)
	lines := 20
	if testrun.InFull() {
		lines = 500 // a million rows
	}
	c := clientOver(t, canned(terms.MediaNDJSON, batches(line, lines)))
	read := func() (most int64, allocations uint64) {
		rows := testkit.Must(c.Query(t.Context(), nobody, query("orders"), benchColumns))(t)
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		n := 0
		for _, err := range rows.All() {
			require.NoError(t, err)
			if n++; n%(2000*lines/10) == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, int64(now.HeapAlloc)-int64(before.HeapAlloc))
			}
		}
		require.Equal(t, 2000*lines, n)
		allocations = now.Mallocs - before.Mallocs
		t.Logf("%.1f MiB more at most, %d allocations for %d rows", float64(most)/(1<<20), allocations, n)
		return most, allocations
	}
	most, allocations := read()
	for range 2 {
		again, more := read()
		most, allocations = min(most, again), min(allocations, more)
	}
	if !testrun.Race {
		require.Less(t, most, int64(2<<20))
		require.Less(t, allocations, uint64(2000*lines/100))
	}
}
