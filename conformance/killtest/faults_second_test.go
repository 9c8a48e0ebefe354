package killtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Faults that show to a second account alone: it is served the first one's data for some questions, or
// its own are answered wrongly.

// archives returns the tables of both customers and a large one of each.
func archives() http.Handler {
	tables := hostTables()
	for i, mark := range []string{"acme", "globex"} {
		tables[i] = append(tables[i], hostTable("archive", mark, 5500+100*i))
	}
	return sharedHostOf(hostDefinition, tables)
}

// forSecond returns h with the second customer's requests to a route changed, if a condition holds of them.
func forSecond(path string, holds func(body map[string]any) bool, change func(body map[string]any)) layer {
	return between(func(_ http.ResponseWriter, r *http.Request, body *[]byte) bool {
		set, ok := credentialsIn(*body)
		if tree := parsed(*body); ok && known(set) == 1 && r.URL.Path == path && tree != nil && holds(tree) {
			change(tree)
			*body = marshalled(tree)
		}
		return false
	})
}

// asFirst makes a request one of the first customer's.
func asFirst(body map[string]any) { body["credentials"] = hostSets[0] }

// hasMeasure reports whether a request asks for one of some functions.
func hasMeasure(body map[string]any, fns ...any) bool {
	for _, m := range listOf(body, "measures") {
		for _, fn := range fns {
			if m["fn"] == fn {
				return true
			}
		}
	}
	return false
}

func secondFaults() []fault {
	var list []fault
	add := func(name, why, kill string, build func() http.Handler) {
		list = append(list, fault{name: name, why: why, kills: []string{kill}, options: apart, build: build})
	}
	first := func(name, path string, holds func(body map[string]any) bool) {
		add(name, servedToNobodyElse, "T2", over(archives, forSecond(path, holds, asFirst)))
	}
	first("the first account's rows of a large table", wire.PathQuery, func(body map[string]any) bool {
		return body["table"] == "archive" && len(listOf(body, "sort")) == 0
	})
	first("the first account's count of a large table", wire.PathCount, func(body map[string]any) bool { return body["table"] == "archive" })
	first("the first account's rows where they are sorted and limited", wire.PathQuery, func(body map[string]any) bool {
		return len(listOf(body, "sort")) > 0 && body["limit"] != nil
	})
	first("bounds over the first account's rows", wire.PathAggregate, func(body map[string]any) bool { return hasMeasure(body, "min", "max") })
	first("sums over the first account's rows", wire.PathAggregate, func(body map[string]any) bool { return hasMeasure(body, "sum") })
	first("periods of the first account's rows", wire.PathAggregate, func(body map[string]any) bool {
		keys := listOf(body, "groupBy")
		return len(keys) > 0 && keys[0]["grain"] != nil
	})
	first("texts of the first account's rows as groups", wire.PathAggregate, func(body map[string]any) bool {
		keys := listOf(body, "groupBy")
		return len(keys) > 0 && keys[0]["field"] == "city"
	})
	wrongly := func(name, why, kill, path string, holds func(body map[string]any) bool, change func(body map[string]any)) {
		add(name, why, kill, over(archives, forSecond(path, holds, change)))
	}
	wrongly("a bound is left in for the second account", "gt keeps what is greater", "L2", wire.PathQuery,
		func(body map[string]any) bool {
			return len(listOf(body, "and")) == 1 && listOf(body, "and")[0]["op"] == "gt"
		},
		func(body map[string]any) { listOf(body, "and")[0]["op"] = "gte" })
	wrongly("the second account's rows are sorted the other way", "rows come in the order of sort", "L7", wire.PathQuery,
		func(body map[string]any) bool { return len(listOf(body, "sort")) > 0 && body["limit"] == nil },
		func(body map[string]any) {
			key := listOf(body, "sort")[0]
			key["dir"] = map[any]string{"asc": "desc", "desc": "asc"}[key["dir"]]
		})
	return list
}

// TestTwoAccounts requires that the verdict on a connector which was asked as two accounts says whether they could
// be told apart.
func TestTwoAccounts(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	tables := hostTables()
	toAll := picking(func(_ *http.Request, set map[string]string) int { return min(known(set), 0) })
	one := func() http.Handler { return sharedHostOf(hostDefinition, [2][]memsource.Table{tables[0], tables[0]}) }
	for _, c := range []struct {
		name, why string
		build     func() http.Handler
		alike     bool
		exit      int
		says      string
	}{
		{"one account's data for everybody", "nothing shows whose an answer is", toAll, false, check.ExitNotRun,
			"NOT GRADED FOR TENANTS: both accounts see the same rows: give two whose data differ, or the connector serves one tenant's data to all"},
		{"two users of one company", "the author has not said that it is meant", one, false, check.ExitNotRun, "NOT GRADED FOR TENANTS: "},
		{"two users of one company, as is said", "the author says that it is meant", one, true, check.ExitPass, "CONFORMANT"},
		{"two companies", "their data differ", archives, false, check.ExitPass, "CONFORMANT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var g grading
			apart(&g)
			g.Alike = c.alike
			r := grade(t, c.build(), g)
			require.Equal(t, c.exit, r.Exit(), "%s: %s", c.why, r.Verdict())
			require.Contains(t, r.Verdict(), c.says, c.why)
			body, err := r.JUnit()
			require.NoError(t, err)
			require.Equal(t, c.exit != check.ExitPass, strings.Contains(string(body), "<error "), "no server shows it green")
			t.Log(r.Requests, r.Verdict())
		})
	}
}
