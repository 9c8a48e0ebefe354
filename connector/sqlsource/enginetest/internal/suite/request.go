package suite

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Request measures what a request costs besides its statement: one /count of the
// table t for a tenant, against the driver that opens the same database and
// counts the same rows.
func Request(b *testing.B, d connector.Definition, s *sqlsource.Source, creds map[string]string, open func() (*sql.DB, error)) {
	token, err := wire.NewToken(Token)
	require.NoError(b, err)
	handler, err := connector.New(d, s, token, nil)
	require.NoError(b, err)
	body, err := wire.EncodeRequest(&wire.CountRequest{
		Table: "t", Envelope: wire.Envelope{Credentials: wire.NewCredentials(creds), TimeoutMS: 30_000},
	})
	require.NoError(b, err)
	b.Run("connector", func(b *testing.B) {
		for b.Loop() {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, wire.PathCount, strings.NewReader(string(body)))
			r.Header.Set("Authorization", "Bearer "+Token)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			require.JSONEq(b, `{"count":3}`, answer.Body.String())
		}
	})
	b.Run("driver", func(b *testing.B) {
		for b.Loop() {
			db, err := open()
			require.NoError(b, err)
			var n int64
			require.NoError(b, db.QueryRowContext(b.Context(), "SELECT COUNT(*) FROM t").Scan(&n))
			require.NoError(b, db.Close())
			require.Equal(b, int64(3), n)
		}
	})
}
