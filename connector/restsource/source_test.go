package restsource_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/record"
)

// TestConformance grades a source over the shop.
func TestConformance(t *testing.T) {
	src, err := restsource.New(shopAPI, shopTables(), &restsource.Options{Transport: handlerTransport{newShopOf(13)}})
	require.NoError(t, err)
	connectortest.Run(t, shopDefinition, src, &connectortest.Options{Credentials: shopCredentials, Requests: 500})
}

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
	src, err := restsource.New(api, tables, &restsource.Options{Transport: upstream})
	require.NoError(t, err)
	return connectortest.Start(t, shopDefinition, src, quiet).As(shopCredentials).Unverified()
}

// TestRecordedRun requires that a run over a recording asks the API nothing, so that
// the author of a connector over a limited API may grade it as often as needed. The
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
