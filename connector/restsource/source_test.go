package restsource_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/record"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestIsolation asks as two tenants, and with wrong credentials.
func TestIsolation(t *testing.T) {
	src, err := restsource.New(shopAPI, shopTables(), &restsource.Options{Transport: handlerTransport{newShopOf(13)}})
	require.NoError(t, err)
	connectortest.Isolation(t, shopDefinition, src, shopCredentials, map[string]string{"token": "tok-of-another-tenant"})
}

var shopCredentials = map[string]string{"token": shopToken}

// asTenant serves a source over an API for one tenant.
func asTenant(t *testing.T, api http.Handler, tables []restsource.Table) *connectortest.Tenant {
	t.Helper()
	src, err := restsource.New(shopAPI, tables, &restsource.Options{Transport: handlerTransport{api}})
	require.NoError(t, err)
	return connectortest.Start(t, shopDefinition, src, nil).As(shopCredentials)
}

// serve serves a source over whatever answers its requests, for one tenant.
func serve(t *testing.T, api restsource.API, tables []restsource.Table, upstream http.RoundTripper) *connectortest.Tenant {
	t.Helper()
	tenant, _ := logged(t, api, tables, upstream)
	return tenant
}

// logged serves as serve does, and returns the log of the connector. Requests come one after the
// other, so that an upstream of a test can count them.
func logged(
	t *testing.T, api restsource.API, tables []restsource.Table, upstream http.RoundTripper,
) (*connectortest.Tenant, *bytes.Buffer) {
	t.Helper()
	src, err := restsource.New(api, tables, &restsource.Options{Transport: upstream, Concurrency: 1})
	require.NoError(t, err)
	log := &bytes.Buffer{}
	options := &connector.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}
	return connectortest.Start(t, shopDefinition, src, options).As(shopCredentials).Unverified(), log
}

// query asks for rows in virtual time. It returns what the log says too, with quotation
// marks that are escaped once.
func query(
	t *testing.T, tables []restsource.Table, upstream http.RoundTripper, req wire.QueryRequest,
) (answer *connectortest.Answer, said string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tenant, log := logged(t, shopAPI, tables, upstream)
		answer, err = tenant.Query(req)
		synctest.Wait() // the request is logged when it is over
		said = strings.ReplaceAll(log.String(), `\\`, `\`)
	})
	return answer, said, err
}

// idsOf returns the column id of an answer.
func idsOf(answer *connectortest.Answer) []int64 {
	ids := []int64{}
	for _, v := range answer.Column("id") {
		ids = append(ids, v.Int64())
	}
	return ids
}

// TestRecordedRun grades a source over the shop, and again over a recording, which asks
// the API nothing: the author of a connector over a limited API may grade it as often as needed. The
// requests suffice for all questions: a run that uses its last one asks others when
// the machine is slow.
func TestRecordedRun(t *testing.T) {
	dir, api := t.TempDir(), newShopOf(13)
	for _, upstream := range []http.RoundTripper{handlerTransport{api}, nil} {
		recorder := &record.Recorder{Dir: dir, Upstream: upstream}
		src, err := restsource.New(shopAPI, shopTables(), &restsource.Options{Transport: recorder})
		require.NoError(t, err)
		connectortest.Run(t, shopDefinition, src, &connectortest.Options{Credentials: shopCredentials, Requests: 1000})
	}
}
