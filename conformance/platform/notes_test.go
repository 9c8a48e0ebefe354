package platform_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestNotesOfCounts asks for counts that contradict an exact size of 1. Live data may move, so
// that they are answered, with a note.
func TestNotesOfCounts(t *testing.T) {
	t.Parallel()
	h := tabled(numbered(1, false), "")
	for path, body := range map[string]string{
		wire.PathSize:        `{"size":{"rows":1,"exact":true}}`,
		wire.PathCount:       `{"count":77}`,
		wire.PathCardinality: `{"columns":{"half":{"distinct":2,"nonNull":5},"id":{"distinct":0,"nonNull":1}}}`,
		wire.PathLinkHitRate: `{"fromNonNull":9,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`,
	} {
		h = instead(h, path, body)
	}
	conn := connectTo(t, h, nil)
	notes := func() (list []string) {
		_, some := answered(t, conn, "count numbered id.gt=0")
		require.Empty(t, some.Notes, "a count of some rows is not compared")
		for _, words := range []string{"count numbered", "cardinality numbered half,id", "linkHitRate numbered.half>numbered.id"} {
			_, stats := answered(t, conn, words)
			list = append(list, stats.Notes...)
		}
		return list
	}
	require.Len(t, notes(), 1, "the unique field alone, while no size is known")
	_, stats := answered(t, conn, "size numbered")
	require.Empty(t, stats.Notes)
	require.Equal(t, []string{
		`table "numbered": 77 rows are counted, and the exact size is 1`,
		`table "numbered", field "half": 5 cells are not null, and the exact size is 1 rows`,
		`table "numbered", field "id" is unique: 0 of 1 cells are different`,
		`table "numbered", field "half": 9 cells are not null, and the exact size is 1 rows`,
	}, notes())
}

// TestNotesOfCellsAndSizes answers a size that was another before, and fewer cells than rows in a
// field that is not nullable, with a note each. A nullable field has none.
func TestNotesOfCellsAndSizes(t *testing.T) {
	t.Parallel()
	sizes := []string{`{"rows":3,"exact":true}`, `{"rows":9,"exact":false}`, `{"rows":3,"exact":true}`, `{"rows":2,"exact":true}`}
	whole := tabled(numbered(3, false), "")
	conn := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := instead(whole, wire.PathCardinality, `{"columns":{"half":{"distinct":1,"nonNull":1},"text":{"distinct":1,"nonNull":1}}}`)
		if r.URL.Path == wire.PathSize {
			h = instead(whole, wire.PathSize, `{"size":`+sizes[0]+`}`)
			sizes = sizes[1:]
		}
		h.ServeHTTP(w, r)
	}), nil)
	for i, want := range []string{"", "", "", `table "numbered": the exact size is 2, and was 3 before`} {
		_, stats := answered(t, conn, "size numbered")
		require.Equal(t, want, strings.Join(stats.Notes, "; "), "size %d; an estimate is not compared", i)
	}
	_, stats := answered(t, conn, "cardinality numbered half,text")
	require.Equal(t, []string{
		`table "numbered", field "half" is not nullable: 1 cells are not null, and the exact size is 2 rows`,
	}, stats.Notes)
}

// TestNotesOfRowsCounted compares what is counted here like what the connector counts.
func TestNotesOfRowsCounted(t *testing.T) {
	t.Parallel()
	conn := connectTo(t, instead(staff("-/linkHitRate"), wire.PathSize, `{"size":{"rows":1,"exact":true}}`), nil)
	answered(t, conn, "size people")
	rate, stats := answered(t, conn, "linkHitRate people.boss>people.id")
	require.Equal(t, "4 1 0.25 [9]", rate)
	require.Equal(t, []string{`table "people", field "boss": 4 cells are not null, and the exact size is 1 rows`}, stats.Notes)
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
