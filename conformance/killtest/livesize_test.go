package killtest

import (
	"fmt"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestLiveSize measures a live run over twelve tables of 10,000 rows each, over a real
// connection. It runs when it is asked for.
func TestLiveSize(t *testing.T) {
	if os.Getenv("CONFORMANCE_SIZE") == "" {
		t.Skip("measures; set CONFORMANCE_SIZE=1")
	}
	var tables []memsource.Table
	for i := range 12 {
		list, rows := ticketData(uint64(i+1), 10_000)
		list[0].Name, list[0].ForeignKeys = fmt.Sprintf("tickets%d", i), nil
		tables = append(tables, memsource.Table{Table: list[0], Rows: rows["tickets"].Rows})
	}
	srv := httptest.NewServer(serve(connector.Definition{}, source(tables...), nil))
	defer srv.Close()
	target := conformance.Target{URL: srv.URL, Token: wire.NewBearer(testToken)}
	report, err := gradeAt(t.Context(), target, &conformance.Options{Mode: conformance.ModeLive, Seed: 1})
	require.NoError(t, err)
	for _, o := range report.Outcomes {
		if o.Duration.Seconds() > 0.5 {
			t.Log(o.ID, o.Verdict, o.Cases, o.Duration)
		}
		require.NotEqual(t, conformance.Fail, o.Verdict, "%s %s", o.ID, o.Detail)
	}
	t.Log(report.Coverage().Requests, "requests", report.Coverage().Rows, "rows", report.Duration)
}
