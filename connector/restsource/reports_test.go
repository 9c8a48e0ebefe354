package restsource_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestReportedLosses: what people reported of connectors that lost rows in silence, with an API that
// does what the report tells. A read is whole, or it fails and says why.
func TestReportedLosses(t *testing.T) {
	scroll := restsource.Pages{By: restsource.PagingScroll, Param: "scroll_id", Next: "_scroll_id"}
	const id = `"_scroll_id":"s"`
	total := func(member string) func(*restsource.Table) { return func(t *restsource.Table) { t.Total = member } }
	for _, c := range []struct {
		report  string // repository and number
		what    string
		pages   restsource.Pages
		change  func(*restsource.Table)
		answers []string
		rows    int    // 1 to so many
		err     string // what the log says
	}{
		{"airbytehq/airbyte#27502", "300 of 500: more is said in a box that nobody read", onePage, keyed,
			[]string{rowsOf(1, 3, `"additional_data":{"pagination":{"start":0,"limit":500,"more_items_in_collection":true,"next_start":500}}`)},
			0, "additional_data.pagination.more_items_in_collection"},
		{"airbytehq/airbyte#29358", "50 rows: the member that says how many there are is not in the answer", numberPages, total("length"),
			[]string{rowsOf(1, 4)}, 0, "no number of rows at Total"},
		{"airbytehq/airbyte#45104", "100 of 177: one answer of exactly the size", sized(onePage, 4), keyed,
			[]string{rowsOf(1, 4)}, 0, "as many rows as were asked for"},
		{"airbytehq/airbyte#66592", "100,000 rows: the address of the next page goes at a limit", urlPages, withTotal,
			[]string{rowsOf(1, 4, `"total":9`, `"next":"?c=2"`), rowsOf(5, 8, `"total":9`, `"next":null`)}, 0, "states 9 rows and has answered 8"},
		{"turbot/steampipe-plugin-jira#126", "50 of 168 boards", onePage, keyed,
			[]string{rowsOf(1, 3, `"maxResults":50,"startAt":0,"total":168,"isLast":false`)}, 0, "says that there are more rows"},
		{"open-metadata/OpenMetadata#25263", "20 of 25 pipelines", onePage, keyed,
			[]string{rowsOf(1, 3, `"previous":"","next":"https://api.example.com/v1/connections?offset=20"`)}, 0, `\"next\"`},
		{"dlt-hub/dlt#2586", "100 rows: the way to page was stated elsewhere", onePage, keyed,
			[]string{rowsOf(1, 3, `"links":{"first":"?o=0","next":"?o=100","last":"?o=900"}`)}, 0, "links.next"},
		{"dlt-hub/dlt#4429", "a total that is null on some endpoints", numberPages, withTotal,
			[]string{rowsOf(1, 4, `"total":null`)}, 0, "no number of rows at Total"},
		{"slothflowlabs/duckle#41", "200 and an empty list behind the last page", offsetPages, keyless,
			[]string{rowsOf(1, 4, `"total_count":5`), rowsOf(5, 5, `"total_count":5`), rowsOf(1, 0, `"total_count":5`)}, 5, ""},
		{"mozilla/addons-server#6902", "a next address behind the last page that the API allows", urlPages, keyed,
			[]string{rowsOf(1, 4, `"next":"?page=1001"`), "404"}, 0, "unknown_entity"},
		{"mvanhorn/cli-printing-press#4091", "an endpoint that does not page gives all rows for each page", unsized(numberPages), keyed,
			[]string{rowsOf(1, 4), rowsOf(1, 4), rowsOf(1, 4)}, 0, "check Pages.Param"},
		{"PostHog/posthog#101793", "2 of 10 rows: the parameter of the page is ignored", numberPages, withTotal,
			[]string{rowsOf(1, 4, `"total":10`), rowsOf(1, 4, `"total":10`), rowsOf(1, 4, `"total":10`), rowsOf(1, 2, `"total":10`)}, 0,
			"check Pages.Param"},
		{"NangoHQ/nango-sync#20", "the first page over and over: the cursor is elsewhere", cursorPages, keyed,
			[]string{rowsOf(1, 4, `"paging":{"next":"x"}`)}, 0, "paging.next"},
		{"elastic/elasticsearch#26433", "a scroll that is asked again after a failure skips a page", scroll, keyed,
			[]string{rowsOf(1, 4, id), "503"}, 0, ""},
		{"elastic/elasticsearch#17151", "the cursor of a scroll never changes, and is named once", scroll, keyed,
			[]string{rowsOf(1, 4, id), rowsOf(5, 8), rowsOf(1, 0)}, 8, ""},
		{"OpenBankProject/OBP-API#585", "shards that failed, and no rows", scroll, keyed,
			[]string{rowsOf(1, 4, id, `"timed_out":false,"_shards":{"total":120,"successful":120,"failed":0}`),
				rowsOf(1, 0, id, `"timed_out":false,"_shards":{"total":120,"successful":115,"failed":5,"failures":[{"shard":-1}]}`)}, 0, "_shards.failures"},
	} {
		t.Run(c.report, func(t *testing.T) {
			api := &upstream{t: t, answers: c.answers}
			tenant, log := logged(t, shopAPI, numbersTable(c.pages, c.change), api)
			answer, err := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
			assert.LessOrEqual(t, len(api.asked), len(c.answers), c.what)
			if c.rows > 0 {
				require.NoError(t, err, "%s: %s", c.what, log)
				assert.Len(t, idsOf(answer), c.rows, c.what)
				return
			}
			require.Error(t, err, c.what)
			assert.Contains(t, err.Error()+log.String(), c.err, c.what)
		})
	}
}
