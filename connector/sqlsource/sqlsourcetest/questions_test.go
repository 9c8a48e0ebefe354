package sqlsourcetest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shelf is a fixture of one table without an engine.
func shelf() *fixture {
	own := &oracle.Table{Name: "shelf", PrimaryKey: []string{rowNumber}}
	own.Columns = []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "title", Type: wire.TypeString}}
	for i, title := range []string{"a", "A", "b%", "", "c c"} {
		own.Rows = append(own.Rows, []wire.Value{wire.Int(int64(i)), wire.Text(title)})
	}
	return &fixture{names: []string{own.Name}, known: oracle.Tables{own.Name: own}}
}

// TestQuestions requires that a seed makes the same questions, whichever is asked first, that they do not end,
// that one round has some of all kinds, and that Options.Without leaves kinds out.
func TestQuestions(t *testing.T) {
	one, other := &questions{f: shelf(), seed: 3}, &questions{f: shelf(), seed: 3}
	first := len(one.f.round(3))
	require.Equal(t, show(one.at(first+9)), show(other.at(first+9)))
	kinds := func(q *questions) map[string]bool {
		found := map[string]bool{}
		for i := range first {
			asked := q.at(i)
			require.Equal(t, show(asked), show(q.at(i)))
			switch {
			case asked.link != nil:
				found["link"] = true
				continue
			case asked.paged:
				found["pages"] = true
			case len(asked.Joins) > 0:
				found["join"] = true
			case asked.Path == wire.PathAggregate && len(asked.And)+len(asked.Or) == 0:
				found["alone"] = true
			}
			found[asked.Path] = true
		}
		return found
	}
	require.Equal(t, kinds(other), kinds(one))
	require.Equal(t, map[string]bool{
		wire.PathQuery: true, wire.PathCount: true, wire.PathAggregate: true, "pages": true, "join": true, "link": true, "alone": true,
	}, kinds(one))
	few := shelf()
	few.without = []string{partAggregates, partJoins, partLinks}
	require.Equal(t, map[string]bool{wire.PathQuery: true, wire.PathCount: true, "pages": true}, kinds(&questions{f: few, seed: 3}))
}

// TestUnreadable requires that an answer which the client cannot read is a wrong answer, and not the end of
// the test: a planted bug may be found by it.
func TestUnreadable(t *testing.T) {
	f := shelf()
	f.server = connectortest.Start(t, connector.Definition{Slug: "shelf"}, connectors.Tables(connectors.Planets()), nil)
	f.server.Client = &http.Client{Transport: testkit.Always(http.StatusOK, "no answer")}
	found, _ := f.check(t, (&questions{f: f, seed: 1}).at(0))
	require.NotNil(t, found)
	assert.Contains(t, found.detail, "connectortest: POST")
}
