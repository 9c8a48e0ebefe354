package platform_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// recording connects a handler, and records what is asked of it from then on.
func recording(t testing.TB, h http.Handler) (*platform.Connection, *recorder) {
	t.Helper()
	r := record(h)
	conn := connectTo(t, r, nil)
	r.seen()
	return conn, r
}

// saysJSON and saysNDJSON return a client to which everything is answered by one text.
func saysJSON(t testing.TB, body string) *platform.Client { return says(t, terms.MediaJSON, body) }

func saysNDJSON(t testing.TB, body string) *platform.Client { return says(t, terms.MediaNDJSON, body) }

func says(t testing.TB, media, body string) *platform.Client {
	t.Helper()
	return answering(t, canned{media: media, body: func() io.Reader { return strings.NewReader(body) }})
}

// faultOf returns the error of an answer that the client refuses.
func faultOf(t testing.TB, err error, why ...any) (fault *platform.AnswerError) {
	t.Helper()
	require.ErrorAs(t, err, &fault, why...)
	return fault
}

// requireFault requires the place and the rule of a refused answer, or no error where the rule is empty.
func requireFault(t testing.TB, err error, place, rule string, why ...any) {
	t.Helper()
	if rule == "" {
		require.NoError(t, err, why...)
		return
	}
	fault := faultOf(t, err, why...)
	require.Equal(t, [2]string{place, rule}, [2]string{fault.Place, fault.Rule}, "%v: %v", why, fault)
	_, known := rules.Lookup(rule)
	require.True(t, known, rule)
}

// rowsOf returns all rows that answer a query.
func rowsOf(t testing.TB, c *platform.Connection, req *wire.QueryRequest) [][]wire.Value {
	t.Helper()
	rows, _, err := casetest.Rows(t.Context(), c, req)
	require.NoError(t, err)
	return rows
}

// requireRight requires the rows that the oracle finds in tables, or others that are as right.
func requireRight(t testing.TB, req *wire.QueryRequest, rows [][]wire.Value, tables ...memsource.Table) {
	t.Helper()
	all := oracle.Tables{}
	for _, table := range tables {
		all[table.Name] = &oracle.Table{Name: table.Name, Columns: table.Columns(), PrimaryKey: table.PrimaryKey, Rows: table.Rows}
	}
	require.Nil(t, oracle.Verify(all, req, rows))
}
