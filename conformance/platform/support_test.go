package platform_test

import (
	"iter"
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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
	return clientOver(t, testkit.Always(http.StatusOK, body, "Content-Type: "+media))
}

// clientOver returns a client of https://connector.test whose requests a transport answers.
func clientOver(t testing.TB, answers http.RoundTripper) *platform.Client {
	t.Helper()
	return clientWith(t, platform.Options{HTTP: &http.Client{Transport: answers}})
}

// clientWith returns a client of https://connector.test.
func clientWith(t testing.TB, opts platform.Options) *platform.Client {
	t.Helper()
	return testkit.Must(platform.NewClient("https://connector.test", wire.NewBearer(testToken), &opts))(t)
}

// counted reads all rows, none of which may fail, and returns their number.
func counted(t testing.TB, rows iter.Seq2[[]wire.Value, error]) (n int64) {
	t.Helper()
	for _, err := range rows {
		require.NoError(t, err)
		n++
	}
	return n
}

// where selects the rows that pass one filter.
func where(field string, op wire.Op, v wire.Value) wire.Where {
	return wire.Where{And: []wire.Filter{testkit.Filter(field, op, v)}}
}

// by sorts by these fields; one that follows a minus descends.
func by(fields ...string) (keys []wire.SortKey) {
	for _, field := range fields {
		key := wire.SortKey{Field: field, Dir: wire.Asc}
		if name, desc := strings.CutPrefix(field, "-"); desc {
			key = wire.SortKey{Field: name, Dir: wire.Desc}
		}
		keys = append(keys, key)
	}
	return keys
}

// hop joins a table.
func hop(from, field, to, toField string, fields ...wire.JoinField) wire.JoinHop {
	return wire.JoinHop{FromTable: from, FromField: field, ToTable: to, ToField: toField, Fields: fields}
}

// joins is a list of one hop.
func joins(from, field, to, toField string, fields ...wire.JoinField) []wire.JoinHop {
	return []wire.JoinHop{hop(from, field, to, toField, fields...)}
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
