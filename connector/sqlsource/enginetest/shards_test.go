package enginetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
)

// askShards asks the requests of testdata/shards.txtar about a table orders, whose rows are on several
// servers by the column shop, and about a table whole with the same rows: the answers are the same. seen is
// called with the section of each, when orders was asked last; again asks orders once more.
func askShards(t *testing.T, db *database, seen func(t *testing.T, section string, again func())) {
	t.Helper()
	a := &situation.Asking{Tenant: db.caller(t, nil).Unverified()}
	for _, section := range situation.Open(t, "testdata/shards.txtar").Sections {
		asked := situation.Blocks(section.Text, func(r situation.Request) string {
			t.Run(r.Route+" "+r.Body, func(t *testing.T) {
				whole := situation.Request{Route: r.Route, Body: strings.Replace(r.Body, `"orders"`, `"whole"`, 1)}
				want := a.Answer(t, whole)
				require.Regexp(t, `^(\[|\d|shop )`, want, "an answer")
				require.Equal(t, want, a.Answer(t, r))
				seen(t, section.Name, func() { a.Answer(t, r) })
			})
			return ""
		})
		require.NotEmpty(t, asked, section.Name)
	}
}
