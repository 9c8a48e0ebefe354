package platform_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/entity"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// instead replaces the answer of one route.
func instead(h http.Handler, path, body string) http.Handler {
	return testkit.OnPath(h, path, testkit.JSON(http.StatusOK, body))
}

// groupsOf returns an answer of n groups.
func groupsOf(n int) string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`{"k":%d,"n":%d}`, i, n-i))
	}
	return `{"rows":[` + strings.Join(rows, ",") + `]}`
}

var perID = groups("numbered by=id:k count():n")

// TestThousandAndOneGroups takes 1,000 groups and throws 1,001 away, whoever has
// computed them (aggregate-14).
func TestThousandAndOneGroups(t *testing.T) {
	t.Parallel()
	one, declines := tabled(numbered(1, true), ""), testkit.JSON(http.StatusNoContent, "")
	for _, c := range []struct {
		name         string
		h            http.Handler
		folded, many bool
	}{
		{"1000 answered", instead(one, wire.PathAggregate, groupsOf(1000)), false, false},
		{"1001 answered", instead(one, wire.PathAggregate, groupsOf(1001)), false, true},
		{"1000 folded", testkit.OnPath(tabled(numbered(1000, true), ""), wire.PathAggregate, declines), true, false},
		{"1001 folded", testkit.OnPath(tabled(numbered(1001, true), ""), wire.PathAggregate, declines), true, true},
		{"1000 without the route", tabled(numbered(1000, true), "-/aggregate"), true, false},
		{"1001 without the route", tabled(numbered(1001, true), "-/aggregate"), true, true},
	} {
		conn, r := recording(t, c.h)
		groups, err := conn.Aggregate(t.Context(), perID)
		if c.many {
			require.ErrorIs(t, err, platform.ErrGroups, c.name)
			require.ErrorContains(t, err, "1001")
			continue
		}
		require.NoError(t, err, c.name)
		require.Len(t, groups.Rows, 1000, c.name)
		require.Equal(t, c.folded, groups.Stats.Folded, c.name)
		require.Len(t, r.asked(t), groups.Stats.Requests, "one that was declined counts")
	}
	for _, words := range []string{"", "-/aggregate"} {
		answered(t, connectTo(t, tabled(numbered(4, true), words), nil), "aggregate numbered by=id:k limit=5")
		_, _, err := ask(t, connectTo(t, tabled(numbered(5, true), words), nil), groups("numbered by=id:k limit=5"))
		require.ErrorContains(t, err, "the aggregate has 5 groups or more", "whoever finds out")
	}
}

// TestAggregateAsked looks at an aggregate that the connector is asked for.
func TestAggregateAsked(t *testing.T) {
	t.Parallel()
	conn, r := recording(t, connectorCases[0].build())
	answered(t, conn, "aggregate orders orders.customer_id>customers.id>name by=status:s by=name:n max(status):l sum(total):sum count():c")
	requests := r.asked(t)
	require.Equal(t, []string{wire.PathAggregate}, paths(requests))
	asked := requests[0].body
	require.Equal(t, []string{"status", "name"}, asked.StringFields, "text is grouped by its bytes (aggregate-5)")
	require.Equal(t, map[string]wire.Type{"status": wire.TypeString, "total": wire.TypeDecimal}, asked.FieldTypes)
	require.Equal(t, "[map[fields:[map[as:name field:name type:string]] fromField:customer_id fromTable:orders toField:id toTable:customers]]",
		fmt.Sprint(asked.Joins), "joined fields have a name and a type")

	table := numbered(3, true)
	table.Fields[2].Type = wire.TypeReference
	conn, r = recording(t, tabled(table, ""))
	answered(t, conn, "aggregate numbered by=text:t max(text):last max(id):most")
	require.Equal(t, []string{"text"}, r.asked(t)[0].body.StringFields, "a reference is text")
}

// TestTop takes the first groups out of all of them, by any of their columns
// (aggregate-15). The connector is asked for all.
func TestTop(t *testing.T) {
	t.Parallel()
	for _, served := range connectorCases[:2] { // everything, and nothing
		conn, r := recording(t, served.build())
		req := groups("orders by=status:s sum(total):sum count():n")
		top := testkit.Must(conn.Top(t.Context(), req, by("-n", "s"), 2))(t)
		require.Equal(t, "[[paid 776.82 14] [Paid 1305.75 7]]", fmt.Sprint(top.Rows), "of seven groups, three of which have 7 rows")
		require.True(t, top.Stats.Sorted && top.Stats.Windowed)
		require.Empty(t, testkit.Must(conn.Top(t.Context(), req, nil, -1))(t).Rows)
		_, err := conn.Top(t.Context(), req, by("colour"), 2)
		require.ErrorAs(t, err, new(*platform.RequestError))
		for _, one := range r.asked(t) {
			limit := int64(0)
			if one.path == wire.PathAggregate {
				limit = wire.AggregateLimit
			}
			require.Equal(t, limit, one.body.Limit, "all groups are asked for, and no more than one too many")
		}
	}
}

// TestSize takes the size from the route that states it, and otherwise counts rows
// up to the reach (measure-10, connect-9).
func TestSize(t *testing.T) {
	t.Parallel()
	table := numbered(100, false)
	for _, c := range []struct {
		name    string
		h       http.Handler
		reach   int64
		size    string // "": none
		read    int64
		refused string
	}{
		{"stated", tabled(table, ""), 100, "100", 0, ""},
		{"beyond reach", tabled(table, ""), 99, "100", 0,
			`table "numbered" has 100 rows by /size, and /query reaches no more than 99 of them (the reach of one query)`},
		{"unknown", instead(tabled(table, ""), wire.PathSize, `{"size":null}`), 100, "100", 100, ""},
		{"no route", tabled(table, "-/size"), 100, "100", 100, ""},
		{"no route, in pages", tabled(table, "pageSizeMax=30 -/size"), 100, "100", 100, ""},
		{"no route, beyond reach", tabled(table, "-/size"), 60, "", 61,
			`table "numbered" may have more than the 60 rows that /query reaches (the reach of one query)`},
		{"beyond rowsPerTableMax", tabled(table, "rowsPerTableMax=80"), 100, "100", 0,
			`table "numbered" has 100 rows by /size, and /query reaches no more than 80 of them (rowsPerTableMax)`},
		{"no route, beyond rowsPerTableMax", bodies(tabled(table, "rowsPerTableMax=80 -/size"), atMost(80)), 100, "", 80,
			`table "numbered" may have more than the 80 rows that /query reaches (rowsPerTableMax)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := record(c.h)
			conn := connectTo(t, r, &platform.ConnectionOptions{Reach: c.reach})
			size, work, err := ask(t, conn, question("size numbered"))
			if c.refused == "" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, platform.ErrReach)
				require.EqualError(t, err, c.refused)
			}
			require.Equal(t, cmp.Or(strings.Replace(c.size, "100", `{"rows":100,"exact":true}`, 1), "null"), size)
			require.Equal(t, c.read, work.RowsRead, "the pull is bounded")
			require.Len(t, r.asked(t)[2:], work.Requests, "after /check and /discovery")
		})
	}
}

// TestCountedField counts rows by one field of each.
func TestCountedField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		keys []string
		id   bool // the field id is unique
		want []string
	}{
		{"the key is short", []string{"id"}, false, []string{"id"}},
		{"one field of a key is enough", []string{"half", "id"}, false, []string{"half"}},
		{"a unique field is a key", nil, true, []string{"id"}},
		{"any field does", nil, false, []string{"text"}},
	} {
		table := numbered(7, false)
		table.PrimaryKey, table.Fields[0].Unique = c.keys, c.id
		slices.Reverse(table.Fields)
		for _, row := range table.Rows {
			slices.Reverse(row)
		}
		conn, r := recording(t, tabled(table, "-/size"))
		size, _ := answered(t, conn, "size numbered")
		require.Equal(t, `{"rows":7,"exact":true}`, size, c.why)
		require.Equal(t, c.want, r.asked(t)[0].body.Fields, c.why)
	}
}

// TestNullCardinality counts a column here that the connector cannot count, and no
// other (measure-7).
func TestNullCardinality(t *testing.T) {
	t.Parallel()
	h := instead(tabled(numbered(10, true), ""), wire.PathCardinality,
		`{"columns":{"id":{"nonNull":10,"distinct":10},"text":null}}`)
	conn, r := recording(t, h)
	counts, work := answered(t, conn, "cardinality numbered text,id,text")
	require.Equal(t, `{"id":{"nonNull":10,"distinct":10},"text":{"nonNull":6,"distinct":6}}`, counts)
	require.True(t, work.Counted)
	requests := r.asked(t)
	require.Equal(t, []string{wire.PathCardinality, wire.PathQuery}, paths(requests))
	require.Equal(t, 2, work.Requests)
	require.Equal(t, []string{"id", "text"}, requests[0].body.Columns, "each once")
	require.Equal(t, []string{"text"}, requests[1].body.Fields)
}

// entityOf returns the entity of a table.
func entityOf(c *platform.Connection, table string) *entity.Entity {
	list := entity.All(c)
	return list[slices.IndexFunc(list, func(e *entity.Entity) bool { return e.Table.Name == table })]
}

// TestEntities makes one entity of each table (discovery-12), measures it when it is
// asked for and once, and derives what one row of it stands for (measure-12).
func TestEntities(t *testing.T) {
	t.Parallel()
	for _, served := range connectorCases[:2] { // everything, and nothing
		conn, r := recording(t, served.build())
		all := entity.All(conn)
		require.Len(t, all, len(conn.Tables))
		for i, e := range all {
			require.Equal(t, conn.Tables[i].Name, e.Table.Name)
		}
		require.Empty(t, r.asked(t), "nothing is measured before it is needed")

		orders := entityOf(conn, "orders")
		require.Equal(t, int64(48), testkit.Must(orders.Size(t.Context()))(t).Rows)
		require.Equal(t, "id", testkit.Must(orders.Grain(t.Context()))(t))
		counts := testkit.Must(orders.Counts(t.Context(), "id"))(t)
		require.Equal(t, map[string]*wire.Cardinality{"id": {NonNull: 48, Distinct: 48}}, counts)
		require.Len(t, r.asked(t), 2, "size, then the counts of the keys: each once")
	}
}

// TestGrainOfAnyColumn finds the column that tells rows apart, also where no key is declared,
// and none where there is none.
func TestGrainOfAnyColumn(t *testing.T) {
	t.Parallel()
	undeclared := func(first func(i int) wire.Value) memsource.Table {
		table := keylessNumbered(12, true)
		for i := range table.Rows {
			table.Rows[i][0] = first(i)
		}
		return table
	}
	ids := undeclared(func(i int) wire.Value { return wire.Int(int64(i)) })
	list := undeclared(func(i int) wire.Value { return wire.JSON(fmt.Sprintf("[%d]", i)) })
	list.Fields[0].Type = wire.TypeJSON
	for _, c := range []struct {
		why  string
		h    http.Handler
		want string
	}{
		{"the key", tabled(numbered(12, true), ""), "id"},
		{"no key is declared: half repeats, and text has nulls", tabled(ids, ""), "id"},
		{"nothing is the same number as an estimate", instead(tabled(numbered(12, true), ""), wire.PathSize,
			`{"size":{"rows":12,"exact":false}}`), ""},
		{"no row stands for nothing", tabled(numbered(0, true), ""), ""},
		{"a JSON value identifies no object", tabled(list, ""), ""},
		{"no column tells rows apart", tabled(undeclared(func(int) wire.Value { return wire.Int(7) }), ""), ""},
	} {
		grain := testkit.Must(entityOf(connectTo(t, c.h, nil), "numbered").Grain(t.Context()))(t, c.why)
		require.Equal(t, c.want, grain, c.why)
	}
}

// TestEntityOwnsItsNumbers changes what an entity returns, and looks again.
func TestEntityOwnsItsNumbers(t *testing.T) {
	t.Parallel()
	ten := tabled(numbered(10, true), "")
	entity := entityOf(connectTo(t, ten, nil), "numbered")
	counts := testkit.Must(entity.Counts(t.Context(), "id"))(t)
	counts["id"].Distinct = 3
	counts = testkit.Must(entity.Counts(t.Context(), "id"))(t)
	require.Equal(t, int64(10), counts["id"].Distinct)

	far := entityOf(connectTo(t, ten, &platform.ConnectionOptions{Reach: 9}), "numbered")
	for range 2 {
		size, err := far.Size(t.Context())
		require.ErrorIs(t, err, platform.ErrReach, "the second time too")
		require.Equal(t, int64(10), size.Rows)
	}
}

// TestEntityNotes takes measurements that contradict the size, which moves, and refuses those that
// contradict themselves (measure-13). A contradiction is noted once, whatever finds it.
func TestEntityNotes(t *testing.T) {
	t.Parallel()
	h := instead(tabled(numbered(10, true), ""), wire.PathCardinality, `{"columns":{"id":{"nonNull":9,"distinct":10}}}`)
	_, err := entityOf(connectTo(t, h, nil), "numbered").Counts(t.Context(), "id")
	require.ErrorAs(t, err, new(*platform.AnswerError), "ten different values in nine cells")

	h = instead(tabled(numbered(10, true), ""), wire.PathSize, `{"size":{"rows":5,"exact":false}}`)
	numbers := entityOf(connectTo(t, h, nil), "numbered")
	counts := testkit.Must(numbers.Counts(t.Context(), "id"))(t, "an estimate can be less")
	require.Equal(t, int64(10), counts["id"].NonNull)
	require.Empty(t, numbers.Notes())

	h = instead(staff(t, ""), wire.PathLinkHitRate, `{"fromNonNull":6,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`)
	h = instead(h, wire.PathSize, `{"size":{"rows":5,"exact":true}}`)
	h = instead(h, wire.PathCardinality, `{"columns":{"id":{"nonNull":7,"distinct":7}}}`)
	people := entityOf(connectTo(t, h, nil), "people")
	testkit.Must(people.Size(t.Context()))(t)
	for range 2 {
		people.Previewed(&platform.Preview{Size: &wire.Size{Rows: 5, Exact: true}, Notes: []string{"the size was another before"}})
		link := testkit.Must(people.Link(t.Context(), 0))(t, "six keys in a table of five rows")
		require.Equal(t, int64(6), link.HitRate.FromNonNull)
		counts = testkit.Must(people.Counts(t.Context(), "id"))(t)
		require.Equal(t, int64(7), counts["id"].NonNull)
	}
	want := []string{
		"the size was another before",
		`table "people", field "boss": 6 cells are not null, and the exact size is 5 rows`,
		`table "people", field "id": 7 cells are not null, and the exact size is 5 rows`,
	}
	require.Equal(t, want, people.Notes())
	people.Notes()[0] = "changed"
	require.Equal(t, want, people.Notes(), "an entity owns its notes")
}

// TestNullKeyOfGroups refuses a null key of a field that is not nullable.
func TestNullKeyOfGroups(t *testing.T) {
	t.Parallel()
	h := instead(staff(t, ""), wire.PathAggregate, `{"rows":[{"k":null},{"k":"Ada"}]}`)
	conn := connectTo(t, h, nil)
	_, _, err := ask(t, conn, groups("people by=name:k"))
	require.Equal(t, "rows[0].k", faultOf(t, err).Place)
	answered(t, conn, "aggregate people by=boss_text:k")
}

// TestLinks measures the declared foreign keys, and decides by their orphans
// whether they are joined over (measure-11).
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"", "-/linkHitRate"} {
		r := record(staff(t, words))
		people := entityOf(connectTo(t, r, nil), "people")
		link := testkit.Must(people.Link(t.Context(), 0))(t)
		require.Equal(t, &wire.LinkHitRate{FromNonNull: 4, OrphanCount: 1, OrphanRate: 0.25, OrphanSamples: []string{"9"}}, link.HitRate)
		require.True(t, link.Joined)
		r.seen()
		require.Equal(t, link, testkit.Must(people.Link(t.Context(), 0))(t))
		require.Empty(t, r.asked(t), "a measurement is taken once")
		whole, _ := answered(t, connectTo(t, r, nil), "linkHitRate people.id>people.id")
		require.Equal(t, "5 0 0 []", whole, "no orphans")
	}
	for orphans, joined := range map[int]bool{50: true, 51: false} {
		h := instead(staff(t, ""), wire.PathLinkHitRate,
			fmt.Sprintf(`{"fromNonNull":100,"orphanCount":%d,"orphanRate":0.%d,"orphanSamples":[]}`, orphans, orphans))
		link := testkit.Must(entityOf(connectTo(t, h, nil), "people").Link(t.Context(), 0))(t)
		require.Equal(t, joined, link.Joined, "%d of 100", orphans)
	}
	failing := instead(staff(t, ""), wire.PathLinkHitRate, `{}`)
	_, err := entityOf(connectTo(t, failing, nil), "people").Link(t.Context(), 0)
	require.ErrorAs(t, err, new(*platform.AnswerError), "a measurement that fails is none")
}

// TestAverage takes averages from the sums and counts of a connector, and from its rows.
func TestAverage(t *testing.T) {
	t.Parallel()
	for _, c := range testkit.Table(t, "testdata/averages.tsv", 3) {
		why, amounts, want := c[0], c[1], c[2]
		for _, words := range []string{"", "-/aggregate"} {
			r := record(tabled(cells.TableOf(t, "priced", "amount:decimal? "+amounts), words))
			groups := testkit.Must(connectTo(t, r, nil).Aggregate(t.Context(), groups("priced avg(amount):mean")))(t, why)
			require.Equal(t, words != "", groups.Stats.Folded)
			require.Equal(t, "[["+want+"]]", fmt.Sprint(groups.Rows), why)
			require.Equal(t, []wire.Column{{Name: "mean", Type: wire.TypeDecimal}}, groups.Columns)
			r.asked(t)
		}
	}
}

// TestAverageAmongOthers asks for averages beside their sum and count, and beside names that
// those would have. The measures come in their order.
func TestAverageAmongOthers(t *testing.T) {
	t.Parallel()
	conn := connectTo(t, tabled(numbered(9, true), ""), nil)
	req := groups("numbered by=half:sum_id count(id):n max(id):count_half avg(id):mean sum(id):total avg(id):again avg(half):other")
	top := testkit.Must(conn.Top(t.Context(), req, by("-mean"), 2))(t)
	require.Equal(t, "[[0 1 9 9 9 9 0] [1 2 8 7.5 15 7.5 1]]", fmt.Sprint(top.Rows))
	var names []string
	for _, c := range top.Columns {
		names = append(names, c.Name)
	}
	require.Equal(t, "sum_id n count_half mean total again other", strings.Join(names, " "))
	require.Equal(t, platform.Avg, req.Measures[2].Fn, "the question stays as it is")

	asked, most, err := conn.Explain(req)
	require.NoError(t, err)
	require.Equal(t, 2, most.Requests)
	fns := ""
	for _, m := range asked[0].(*wire.AggregateRequest).Measures {
		fns += string(m.Fn) + " "
	}
	require.Equal(t, "count max sum sum count ", fns)
}

// TestAverageRefused refuses an average whose sum and count contradict each other.
func TestAverageRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []string{`{"sum_amount":null,"count_amount":2}`, `{"sum_amount":"2","count_amount":0}`} {
		h := instead(tabled(cells.TableOf(t, "priced", "amount:decimal? | decimal:1"), ""), wire.PathAggregate, `{"rows":[`+row+`]}`)
		_, _, err := ask(t, connectTo(t, h, nil), groups("priced avg(amount):a"))
		require.Equal(t, "aggregate-1b", faultOf(t, err).Rule)
	}
}

// TestPeriods checks the keys of groups by period: each is a day that exists, and the first
// of its period. Any other key is a group that is wrong, or two that are one.
func TestPeriods(t *testing.T) {
	for keys, rule := range map[string]string{
		`year "2024-01-01"`: "", `year "2024-04-01" "2024-12-31"`: "aggregate-4",
		`quarter "2024-10-01"`: "", `quarter "2024-11-01" "2024-10-02"`: "aggregate-4",
		`month "2024-02-01" null`: "", `month "2024-02-15" "2024-02-31" "2024-99-99" "2024-00-01" "2024-02" "2024-2-1"` +
			` "2024-02-01T00:00:00Z" 20240201`: "aggregate-4",
		`day "2024-02-29" "0000-02-29"`: "", `day "2023-02-29"`: "aggregate-4",
	} {
		grain, keys, _ := strings.Cut(keys, " ")
		for key := range strings.FieldsSeq(keys) {
			_, _, err := saysJSON(t, `{"rows":[{"p":`+key+`}]}`).Aggregate(t.Context(), nobody,
				groups("t by=at/"+grain+":p"), []wire.Column{{Name: "p", Type: wire.TypeDate}})
			requireFault(t, err, "rows[0].p", rule, "%s %s", grain, key)
		}
	}
}
