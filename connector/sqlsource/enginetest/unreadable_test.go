package enginetest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// strict returns a flavor that fails to read a text of the column word that is not "ok", as one
// does whose engine holds a value that its author did not think of.
func strict(f sqlengine.Flavor) sqlengine.Flavor {
	return withColumn(f, func(ref string, c sqlengine.CatalogColumn, column *sqlengine.Column) {
		if c.Name != "word" {
			return
		}
		column.Class, column.Type = sqlengine.ClassOpaque, wire.TypeString // a driver's own decoder of texts is not asked
		column.Cell, column.Key, column.Tie = "CASE WHEN "+ref+" = 'ok' THEN 1 WHEN "+ref+" = 'secret' THEN 2 END", ref, ""
		column.Decode = func(driver any) (wire.Value, error) {
			v, err := (&sqlengine.Column{Type: wire.TypeNumber, Class: sqlengine.ClassInteger}).Decoder()(driver)
			if err != nil || v.Int64() != 1 {
				return wire.Null(), errors.New("the driver returned something else than ok")
			}
			return wire.Text("ok"), nil
		}
	})
}

// TestUnreadable describes a table one value of which cannot be read: it is listed with
// all of its fields, and only what meets the value fails, by a sentence that says where.
func TestUnreadable(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) { unreadable(t, e.create(t)) })
	t.Run("pgxrows", func(t *testing.T) { unreadable(t, newPostgres(t).with(pgxrows.PostgreSQL())) })
}

func unreadable(t *testing.T, db *database) {
	db.execute(t, "CREATE TABLE odd (id INTEGER PRIMARY KEY, word VARCHAR(20), n INTEGER); "+
		"INSERT INTO odd VALUES (1, 'ok', 5), (2, 'secret', 7), (3, NULL, 9); CREATE TABLE other (id INTEGER PRIMARY KEY)")
	db = db.with(strict(db.flavor))
	tables, warnings := db.discover(t, nil, time.Minute)
	require.Len(t, tables, 2)
	require.Contains(t, warnings, `In table "odd", the field "word" has a value that cannot be read, and a request that meets it fails: `+
		`correct it, or leave the column out.`)
	require.NotContains(t, warnings, "secret")
	require.Equal(t, []wire.Value{wire.Text("ok")}, tables["odd"].Field("word").Samples)
	require.Equal(t, []string{"id"}, tables["odd"].PrimaryKey)
	require.Equal(t, wire.Int(9), *tables["odd"].Field("n").Stats.Max, "what is said of the other fields")
	require.EqualValues(t, 3, *tables["odd"].RowCount)

	tenant := db.caller(t, nil).Unverified()
	const says = `Table "odd" has a value in its field "word" that cannot be read. Correct it, or leave the column out`
	_, err := tenant.Query(wire.QueryRequest{Table: "odd", Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}, Fields: []string{"word"}})
	require.ErrorContains(t, err, says)
	answer, err := tenant.Query(wire.QueryRequest{Table: "odd", Sort: []wire.SortKey{}, Fields: []string{"id", "n"}})
	require.NoError(t, err)
	require.Len(t, answer.Rows, 3)
	_, err = tenant.Aggregate(wire.AggregateRequest{
		Table: "odd", GroupBy: []wire.GroupKey{}, Measures: []wire.Measure{{Fn: wire.AggMax, Field: "word", As: "w"}}, Limit: 1001,
	})
	if !errors.Is(err, connector.ErrDecline) {
		require.ErrorContains(t, err, says)
	}
}
