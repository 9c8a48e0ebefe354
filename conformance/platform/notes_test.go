package platform_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestNotesOfCounts asks for counts that contradict an exact size, what discovery says, or the size before. Live data
// may move, so that they are answered, with a note.
func TestNotesOfCounts(t *testing.T) {
	t.Parallel()
	one, three := tabled(numbered(1, false), ""), tabled(numbered(3, false), "")
	for path, body := range map[string]string{
		wire.PathSize:        `{"size":{"rows":1,"exact":true}}`,
		wire.PathCount:       `{"count":77}`,
		wire.PathCardinality: `{"columns":{"half":{"distinct":2,"nonNull":5},"id":{"distinct":0,"nonNull":1}}}`,
		wire.PathLinkHitRate: `{"fromNonNull":9,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`,
	} {
		one = instead(one, path, body)
	}
	sizes := []string{`{"rows":3,"exact":true}`, `{"rows":9,"exact":false}`, `{"rows":3,"exact":true}`, `{"rows":2,"exact":true}`}
	three = instead(three, wire.PathCardinality, `{"columns":{"half":{"distinct":1,"nonNull":1},"text":{"distinct":1,"nonNull":1}}}`)
	three = testkit.OnPath(three, wire.PathSize, func(w http.ResponseWriter, r *http.Request) {
		testkit.JSON(http.StatusOK, `{"size":`+sizes[0]+`}`)(w, r)
		sizes = sizes[1:]
	})
	const few, cells = "count numbered id.gt=0", "cardinality numbered half,id"
	var conn *platform.Connection
	for _, c := range []struct {
		why, question, notes string
		h                    http.Handler // another connector than before
	}{
		{"a count of some rows is not compared", few, "", one},
		{"no size is known", "count numbered", "", nil},
		{"what discovery says is", cells, `table "numbered", field "id" is unique: 0 of 1 cells are different`, nil},
		{"no size is known", "linkHitRate numbered.half>numbered.id", "", nil},
		{"the size is known from now on", "size numbered", "", nil},
		{"a count of some rows is not compared", few, "", nil},
		{"more rows", "count numbered", `table "numbered": 77 rows are counted, and the exact size is 1`, nil},
		{"more cells", cells, `table "numbered", field "half": 5 cells are not null, and the exact size is 1 rows; ` +
			`table "numbered", field "id" is unique: 0 of 1 cells are different`, nil},
		{"more cells with a target", "linkHitRate numbered.half>numbered.id",
			`table "numbered", field "half": 9 cells are not null, and the exact size is 1 rows`, nil},

		{"the first size", "size numbered", "", three},
		{"an estimate is not compared", "size numbered", "", nil},
		{"nor is an exact size with it", "size numbered", "", nil},
		{"another size", "size numbered", `table "numbered": the exact size is 2, and was 3 before`, nil},
		{"fewer cells than rows, in a field that is not nullable", "cardinality numbered half,text",
			`table "numbered", field "half" is not nullable: 1 cells are not null, and the exact size is 2 rows`, nil},

		{"the size is known", "size people", "", instead(staff(t, "-/linkHitRate"), wire.PathSize, `{"size":{"rows":1,"exact":true}}`)},
		{"what is counted here", "linkHitRate people.boss>people.id",
			`table "people", field "boss": 4 cells are not null, and the exact size is 1 rows`, nil},
	} {
		if c.h != nil {
			conn = connectTo(t, c.h, nil)
		}
		_, stats := answered(t, conn, c.question)
		require.Equal(t, c.notes, strings.Join(stats.Notes, "; "), c.why)
	}
	rate, _ := answered(t, conn, "linkHitRate people.boss>people.id")
	require.Equal(t, "4 1 0.25 [9]", rate, "it is answered as it is counted here")
}

// TestNoteOfADeclaredOperator filters rows here that a declared operator should have left out. The
// connector says that it did not filter, so that the rows are right; the answer has a note.
func TestNoteOfADeclaredOperator(t *testing.T) {
	t.Parallel()
	h := bodies(unclaimed(tabled(numbered(9, true), ""), noneServed), func(_ string, body map[string]any) { delete(body, "and") })
	for id, notes := range map[int64][]string{
		0: nil, // all rows pass
		4: {`table "numbered": the connector declares gt, and left rows in that do not pass; they were filtered here`},
	} {
		conn := connectTo(t, h, nil)
		answer := testkit.Must(conn.Query(t.Context(), query(fmt.Sprint("numbered id id.gt=", id))))(t)
		require.Equal(t, 9-id, counted(t, answer.All()))
		require.Equal(t, notes, answer.Stats.Notes)
	}
}

// TestNoteOfAKeyThatLeadsNowhere connects to a table whose foreign keys lead to itself and to a table that
// discovery does not list, which is a note; discovered again, it leads somewhere.
func TestNoteOfAKeyThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	discovery := func(target string) http.Handler {
		return instead(tabled(numbered(9, true), ""), wire.PathDiscovery, `{"tables":[{"name":"numbered",
			"sourceDescription":"","storesRows":true,"primaryKey":["id"],"foreignKeys":[
				{"field":"id","targetTable":"numbered","targetField":"id"},{"field":"id","targetTable":"`+target+`","targetField":"id"}],
			"fields":[{"name":"id","sourceColumn":"id","type":"number","nullable":false,"unique":true,"samples":[],"sourceDescription":""}]}]}`)
	}
	h := &switched{handlers: []http.Handler{discovery("nmbered"), discovery("numbered")}}
	conn := connectTo(t, h, nil)
	require.Equal(t, []string{`the foreign key "id" of table "numbered" leads to table "nmbered", which discovery does not list`}, conn.Notes)
	h.now.Store(1)
	conn = testkit.Must(conn.Refresh(t.Context()))(t)
	require.Empty(t, conn.Notes)
}
