package killtest

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTenantOfTheConnection requires that a connector is found which takes all that
// comes over one connection for the tenant that came first.
func TestTenantOfTheConnection(t *testing.T) {
	t.Parallel()
	for i, path := range []string{wire.PathQuery, wire.PathCount, wire.PathCardinality} {
		if !testrun.Runs(i, 3) {
			continue
		}
		var first sync.Map
		h := picking(func(r *http.Request, set map[string]string) int {
			if known(set) < 0 {
				return -1
			}
			tenant, _ := first.LoadOrStore(r.RemoteAddr, known(set))
			if r.URL.Path == path {
				return tenant.(int)
			}
			return known(set)
		})()
		srv := httptest.NewServer(h)
		report, err := gradeAt(t.Context(), conformance.Target{
			URL: srv.URL, Token: wire.NewBearer(testToken), Credentials: credentialsOf(hostSets),
		}, &conformance.Options{Mode: conformance.ModeLive, Match: `^T2$`, Seed: 1})
		srv.Close()
		require.NoError(t, err)
		require.Equal(t, conformance.Fail, report.Outcome("T2").Verdict, "%s: %s", path, report.Outcome("T2").Detail)
	}
}

// TestOnlyOwnCredentials requires that hardly anything but parts of a tenant's own credentials
// is sent unless the run may send wrong ones, and no two wrong ones in a row.
func TestOnlyOwnCredentials(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, allowed := range []bool{false, true} {
		var mu sync.Mutex
		strange, row, longest := 0, 0, 0
		f := newSharedHost()
		h := between(func(_ http.ResponseWriter, _ *http.Request, body *[]byte) bool {
			set, ok := credentialsIn(*body)
			own := slices.ContainsFunc(hostSets, func(own map[string]string) bool {
				for key, value := range set {
					if own[key] != value && key != "key" {
						return false
					}
				}
				return true
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case !own:
				strange++
				row++
				longest = max(longest, row)
			case ok && known(set) >= 0:
				row = 0
			}
			return false
		})(f)
		var g grading
		apart(&g)
		g.WrongCredentials = allowed
		r := grade(t, h, g)
		require.Equal(t, check.ExitPass, r.Exit(), "%v", r.Err())
		require.Positive(t, strange)
		if allowed {
			require.LessOrEqual(t, strange, 100)
		} else {
			require.LessOrEqual(t, strange, 5)
			require.Equal(t, 1, longest)
		}
	}
}

// TestTenantsOnABudget requires that every check about tenants judges something with few
// requests.
func TestTenantsOnABudget(t *testing.T) {
	t.Parallel()
	var g grading
	wrongly(&g)
	g.Requests = 600
	r := grade(t, newSharedHost(), g)
	for _, id := range []string{"P1.1", "P1.1b", "P1.2a", "P1.2b", "P1.3", "T1", "T2", "T3", "T4", "T5", "T6", "T7"} {
		o := r.Outcome(id)
		require.Equal(t, conformance.Pass, o.Verdict, "%s: %s", id, o.Detail)
		require.Positive(t, o.Cases, id)
	}
	t.Log(r.Coverage().Requests, "requests")
}

// TestWhoseAnswer requires that T8 says whose answer it was given, or that it has nothing to ask of accounts without a table in
// common; then it does not count as left out.
func TestWhoseAnswer(t *testing.T) {
	t.Parallel()
	var g grading
	apart(&g)
	g.Match = "^(L4|T8)$"
	own := [2][]memsource.Table{{hostTable("acme_sites", "acme", 9)}, {hostTable("globex_depots", "globex", 7)}}
	o := grade(t, sharedHostOf(hostDefinition, own), g).Outcome("T8")
	require.Equal(t, conformance.NoData, o.Reason, o.Detail)
	o = grade(t, lastCardinalities(newSharedHost()), g).Outcome("T8")
	require.Contains(t, o.Detail, "what the other account is answered")
}

// TestSilenceIsAwaitedOnce requires that a host which never answers a wrong token does
// not cost a wait for each of them.
func TestSilenceIsAwaitedOnce(t *testing.T) {
	t.Parallel()
	h := between(func(_ http.ResponseWriter, r *http.Request, _ *[]byte) bool {
		if r.Method == http.MethodPost && r.Header.Get("Authorization") != "Bearer "+testToken {
			<-r.Context().Done()
			return true
		}
		return false
	})(newSharedHost())
	g := grading{Options: conformance.Options{Mode: conformance.ModeLive, Match: `^P1\.`}, credentials: hostSets}
	r := grade(t, h, g)
	require.Equal(t, conformance.Fail, r.Outcome("P1.1").Verdict)
	require.Less(t, r.Duration, 90*time.Second)
}

// TestTenantsWhoseDataMove requires that two users of one company, whose data change
// while they are read, fail nothing.
func TestTenantsWhoseDataMove(t *testing.T) {
	t.Parallel()
	for i, every := range []int64{3, 1, 5, 13} {
		if !testrun.Runs(i, 4) {
			continue
		}
		same := serve(hostDefinition, newMoving(every), nil)
		f := newSharedHost()
		f.handlers = [2]http.Handler{same, same}
		var g grading
		wrongly(&g)
		g.Match = `^(T|A\.3[12])`
		r := grade(t, f, g)
		for _, o := range r.Failures() {
			t.Errorf("every %d: %s %s\nexpected %s\nreceived %s", every, o.ID, o.Detail, o.Expected, o.Received)
		}
	}
}

// TestLostRowsAreNoLeak grades hosts whose reads without a limit lose rows. What compares with whole reads is then
// blocked by L11, so that no leak is reported where there is none; a leak beside it still is.
func TestLostRowsAreNoLeak(t *testing.T) {
	t.Parallel()
	cut := bodies(func(body map[string]any) {
		if integer(body, "limit") == 0 {
			body["limit"] = 600
		}
	}, wire.PathQuery)
	for _, c := range []struct {
		name  string
		outer layer
		t2    conformance.Verdict
	}{
		{"rows are lost", func(h http.Handler) http.Handler { return h }, conformance.Skip},
		{"rows are lost, and kept for the other tenant", keeping(wire.PathQuery, byRequest), conformance.Fail},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables := [2][]memsource.Table{{hostTable("parts", "acme", 612)}, {hostTable("parts", "globex", 717)}}
			for i := range tables {
				tables[i][0].RowCount = nil
			}
			r := grade(t, c.outer(cut(sharedHostOf(hostDefinition, tables))), grading{credentials: hostSets,
				Options: conformance.Options{Mode: conformance.ModeLive, Match: `^(L11|T2)$`}})
			require.Equal(t, conformance.Fail, r.Outcome("L11").Verdict)
			o := r.Outcome("T2")
			require.Equal(t, c.t2, o.Verdict, o.Detail)
			if c.t2 == conformance.Skip {
				require.Equal(t, "L11", r.blockedBy()["T2"])
			}
		})
	}
}

// TestRefusedForGood grades a host that mixes up its customers, and refuses all requests of one after so many: what was
// wrong is asked again of tables that cannot be read any more. Whatever the verdict, the program itself must not fail.
func TestRefusedForGood(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	kept := keeping(wire.PathQuery, func(r *http.Request, body map[string]any) string {
		if !strings.Contains(fmt.Sprint(body["and"]), "op:eq") {
			return rand.Text() // is not found again
		}
		return byRequest(r, body)
	})
	for most := int32(20); most < 120; most += 3 {
		t.Run(fmt.Sprint("after ", most), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			g := grading{Options: conformance.Options{Mode: conformance.ModeLive, Match: "^T2$"}, credentials: hostSets}
			r := grade(t, over(newSharedHost, kept, refusesWhere(http.StatusInternalServerError, "internal", "internal error",
				func(_ *http.Request, body []byte) bool {
					set, ok := credentialsIn(body)
					return ok && known(set) == 1 && asked.Add(1) > most
				}))(), g)
			require.NotEmpty(t, r.Outcomes)
		})
	}
}

// TestWrongRowsAreNoLeak grades hosts that answer wrongly and no tenant with the other's rows: the check of the fault tells
// it, and none of tenants.
func TestWrongRowsAreNoLeak(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	nulls := bodies(func(body map[string]any) {
		filters := body["and"].([]any)
		for _, f := range filters {
			if f := f.(map[string]any); f["op"] == "nin" {
				filters = append(filters, map[string]any{"field": f["field"], "op": "notnull"})
			}
		}
		body["and"] = filters
	}, wire.PathQuery, wire.PathCount, wire.PathAggregate)
	hop := forSecond(wire.PathQuery, func(body map[string]any) bool { return len(listOf(body, "joins")) > 0 },
		func(body map[string]any) {
			for _, f := range listOf(listOf(body, "joins")[0], "fields") {
				if f["field"] == "city" {
					f["field"] = "id"
				}
			}
		})
	rate := forSecond(wire.PathLinkHitRate, func(body map[string]any) bool { return body["fromTable"] != body["toTable"] },
		func(body map[string]any) { body["fromColumn"] = "city" })
	joined := func(t *memsource.Table) {
		if t.Name == "invoices" {
			t.ForeignKeys = []wire.ForeignKey{{Field: "id", TargetTable: "parts", TargetField: "id"}}
		}
	}
	for _, c := range []struct {
		name, kills string
		wrong       layer
		change      func(*memsource.Table)
	}{
		{"nin drops nulls, where the first text has some", "L2", nulls, func(t *memsource.Table) {
			t.Fields[0], t.Fields[2] = t.Fields[2], t.Fields[0]
			for _, row := range t.Rows {
				row[0], row[2] = row[2], row[0]
			}
		}},
		{"the second tenant's joins answer another column", "M21", hop, joined},
		{"the second tenant's links go from another column", "L9", rate, joined},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tables := hostTables()
			for i := range tables {
				for n := range tables[i] {
					c.change(&tables[i][n])
				}
			}
			r := grade(t, c.wrong(sharedHostOf(hostDefinition, tables)), grading{credentials: hostSets,
				Options: conformance.Options{Mode: conformance.ModeLive, Match: `^(L2|L9|M21|T.*)$`}})
			require.Equal(t, conformance.Fail, r.Outcome(c.kills).Verdict)
			for _, o := range r.Failures() {
				require.Equal(t, c.kills, o.ID, o.Detail)
			}
		})
	}
}
