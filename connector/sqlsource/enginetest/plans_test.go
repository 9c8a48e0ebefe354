package enginetest

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// plan is a request and what the engine's plans of its statements must be like.
type plan struct {
	why string
	// ask is a *wire.QueryRequest, *wire.AggregateRequest or *wire.LinkHitRateRequest.
	ask wire.Request
	// want are regular expressions that the plans of all its statements together
	// match. never are some that they do not match.
	want, never []string
}

// plansOf is how an engine says how it executes requests about the tables events,
// places and visits, which have the columns of the tables of BenchmarkSpeed.
type plansOf struct {
	script string
	// explain stands before a statement.
	explain string
	// searched matches a plan that finds rows by the index of a column, and ordered
	// one that reads them in its order.
	searched, ordered func(column string) string
	// scans match plans that read the whole table, the first those that do without an
	// index; sorts match these and plans that sort it.
	scans, sorts []string
	// tiesSorted are requests of which a few rows may be sorted, read by an index.
	tiesSorted []string
	// more are requests that each engine answers in its own way.
	more []plan
}

// TestRequestPlans asks each engine how it executes what requests become: by an
// index, and without a sort of more than the ties of a few rows.
func TestRequestPlans(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		if e == &sqlite {
			skipShort(t)
		}
		of := e.plans
		var plans []plan
		for _, c := range []struct {
			why, column string
			ask         wire.Request
			ordered     bool
		}{
			{"equal text", "label", filterOf("label", "eq", "label 007919"), false},
			{"greater text", "label", filterOf("label", "gt", "label 999900"), false},
			{"a day of an instant", "moment", rangeOf("moment", "2024-03-01T00:00:00Z", "2024-03-01T06:00:00Z"), false},
			{"first dates", "day", firstBy("day", false), true},
			{"last dates", "day", firstBy("day", true), true},
			{"first instants", "moment", firstBy("moment", false), true},
			{"last instants", "moment", firstBy("moment", true), true},
			{"last decimals", "amount", firstBy("amount", true), true},
			{"first texts", "label", firstBy("label", false), true},
			{"last texts", "label", firstBy("label", true), true},
			{"first nullable integers", "rank", firstBy("rank", false), true},
			{"last nullable integers", "rank", firstBy("rank", true), true},
			{"last integers", "whole", firstBy("whole", true), true},
			{"the latest instant", "moment", extremeOf("moment", "max"), true},
			{"the least date", "day", extremeOf("day", "min"), true},
			{"the greatest text", "label", extremeOf("label", "max"), true},
		} {
			p := plan{c.why, c.ask, []string{of.searched(c.column)}, of.scans}
			switch {
			case slices.Contains(of.tiesSorted, c.why):
				p.never = of.scans[:1]
			case c.ordered:
				p.want, p.never = []string{of.ordered(c.column)}, of.sorts
			}
			plans = append(plans, p)
		}
		db := e.plain(t)
		db.execute(t, of.script)
		explainAll(t, db, of.explain, append(plans, of.more...))
	})
}

// explainAll sends requests to a database and asks the engine for the plan of each
// statement on a table.
func explainAll(t *testing.T, db *database, explain string, plans []plan) {
	logged, log := db.logged(t)
	tenant := logged.caller(t, nil).Unverified()
	for _, p := range plans {
		t.Run(p.why, func(t *testing.T) {
			log.take()
			ask(t, tenant.In(t), p.ask)
			var text strings.Builder
			for _, s := range log.take() {
				if strings.Contains(s.query, " t0") {
					fmt.Fprintf(&text, "%s\n%s\n", s.query, explained(t, db.DB, explain+s.query, s.args))
				}
			}
			for _, want := range p.want {
				require.Regexp(t, regexp.MustCompile("(?m)"+want), text.String())
			}
			for _, never := range p.never {
				require.NotRegexp(t, regexp.MustCompile("(?m)"+never), text.String())
			}
		})
	}
}

// ask sends a request.
func ask(t *testing.T, tenant *connectortest.Tenant, request wire.Request) {
	t.Helper()
	var err error
	switch r := request.(type) {
	case *wire.QueryRequest:
		_, err = tenant.Query(*r)
	case *wire.AggregateRequest:
		_, err = tenant.Aggregate(*r)
	case *wire.LinkHitRateRequest:
		_, err = tenant.LinkHitRate(*r)
	}
	require.NoError(t, err)
}

// explained returns the engine's answer to EXPLAIN, a line for each row.
func explained(t *testing.T, db *sql.DB, statement string, args []any) string {
	t.Helper()
	var text strings.Builder
	names, rows := textsOf(t, db, statement, args...)
	for _, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(&text, "%s=%s ", names[i], cell.String)
		}
		text.WriteByte('\n')
	}
	return text.String()
}
