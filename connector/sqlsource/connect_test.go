package sqlsource

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		source, err := NewPerTenant(func(context.Context, wire.Credentials) (*sql.DB, error) { return sql.OpenDB(d), nil }, MySQL(), nil)
		require.NoError(t, err)
		err = source.Check(t.Context(), &wire.CheckRequest{})
		require.ErrorContains(t, err, c.says, c.why)
		assert.Equal(t, c.tried, d.tried, c.why)
		assert.Equal(t, c.says != "a cause", wire.CodeOf(err) == wire.CodeCheckFailed, c.why)
	}
}
