package sqlsource

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// dialer fails to connect with one error after the other, the last one for ever.
type dialer struct {
	errs  []error
	tried int
}

func (d *dialer) Connect(context.Context) (driver.Conn, error) {
	d.tried++
	return nil, d.errs[min(d.tried, len(d.errs))-1]
}

func (d *dialer) Driver() driver.Driver { return nil }

// check asks a source whose databases are connected to so.
func (d *dialer) check(t *testing.T, flavor sqlengine.Flavor) error {
	t.Helper()
	source, err := NewPerTenant(func(context.Context, wire.Credentials) (*sql.DB, error) { return sql.OpenDB(d), nil }, flavor, nil)
	require.NoError(t, err)
	return source.Check(t.Context(), &wire.CheckRequest{})
}

// TestConnectAgain: what failed by chance is tried again, and a password that was
// refused is not: an account may be locked.
func TestConnectAgain(t *testing.T) {
	malformed, refused := errors.New("malformed packet"), errors.New("Error 1045 (28000): Access denied")
	for _, c := range []struct {
		why   string
		errs  []error
		tried int
		says  string
	}{
		{"a challenge that the driver takes for malformed", []error{malformed, refused}, 2, "refused the user name"},
		{"another one", []error{malformed, malformed, refused}, 3, "refused the user name"},
		{"no MySQL at all", []error{malformed}, 3, "it is not MySQL"},
		{"a wrong password", []error{refused}, 1, "refused the user name"},
		{"another error", []error{errors.New("a cause")}, 1, "a cause"},
	} {
		d := &dialer{errs: c.errs}
		err := d.check(t, MySQL())
		require.ErrorContains(t, err, c.says, c.why)
		assert.Equal(t, c.tried, d.tried, c.why)
		assert.Equal(t, c.says != "a cause", wire.CodeOf(err) == wire.CodeCheckFailed, c.why)
	}
}

// TestWordsOfDrivers: what drivers say for themselves when they connect is known, by the flavor
// of their engine alone.
func TestWordsOfDrivers(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/words.tsv", 3) {
		err := errors.New(c[1])
		own, foreign := PostgreSQL(), MySQL()
		if c[0] == "mysql" {
			own, foreign = foreign, own
		}
		require.ErrorContains(t, (&dialer{errs: []error{err}}).check(t, own), c[2])
		require.Empty(t, wire.CodeOf((&dialer{errs: []error{err}}).check(t, foreign)), "%v", err)
	}
}
