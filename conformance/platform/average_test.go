package platform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
	require.Equal(t, "sum_id n count_half mean total again other", namesOf(top.Columns))
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
