//go:build unix

package enginetest

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPostgresRestart stops the server in the middle of a stream. The stream ends in an
// error line, requests say that nobody answers, and are served when the server is
// back.
func TestPostgresRestart(t *testing.T) {
	own := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n")
	for name, flavor := range map[string]sqlengine.Flavor{"sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
		for signal, code := range map[syscall.Signal]wire.Code{
			syscall.SIGINT:  wire.CodeTimeout, // the server says that it ends the session
			syscall.SIGQUIT: wire.CodeTimeout, // the connection breaks off
		} {
			t.Run(name+"/"+signal.String(), func(t *testing.T) {
				db := own.database(t)
				db.execute(t, "DROP VIEW IF EXISTS endless; "+endless)
				c := db.with(flavor).client(t)
				answer, err := c.query(t.Context(), "endless", "id", 600_000)
				require.NoError(t, err)
				stream := ndjson.NewReader(answer.Body)
				defer func() { require.NoError(t, answer.Body.Close()) }()
				stopped := false
				var broken error
				for _, err := range stream.Rows() {
					if !stopped {
						own.stop(t, signal)
						stopped = true
					}
					broken = err
				}
				var line *wire.Error
				require.ErrorAs(t, broken, &line, "the stream ends in an error line")
				assert.Equal(t, code, line.Code)

				answer, err = c.post(t.Context(), wire.PathCheck, &wire.CheckRequest{Envelope: c.envelope(30_000)})
				status, told := refused(t, answer, err)
				assert.Equal(t, http.StatusBadRequest, status)
				assert.Contains(t, told.Message, "cannot be reached")

				own.start(t)
				answer, err = c.post(t.Context(), wire.PathCheck, &wire.CheckRequest{Envelope: c.envelope(30_000)})
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, answer.StatusCode)
				require.NoError(t, answer.Body.Close())
			})
		}
	}
}
