package killtest

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestNothingJudged requires that a run over no row is not graded.
func TestNothingJudged(t *testing.T) {
	t.Parallel()
	r := grade(t, plain(), with(live))
	require.Equal(t, check.ExitNotRun, r.Exit())
	require.Contains(t, r.Text(false, false), "NOT GRADED: nothing was judged: discovery lists no table;")
}

// TestSelectionIsNoVerdict requires that a run of some checks does not say that the connector is conformant.
func TestSelectionIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, o := range []conformance.Options{
		{Mode: conformance.ModeLive, Phases: []int{0}}, {Mode: conformance.ModeLive, Match: "^P0"},
	} {
		r := grade(t, untouched(), grading{Options: o})
		require.Equal(t, check.ExitPass, r.Exit())
		require.Contains(t, r.Text(false, false), "NO SELECTED CHECK FAILED: ")
		require.Contains(t, string(testkit.Must(r.JSON())(t)), `"selection": {`)
	}
}

// TestMissingCredentials requires that a run without the credentials that the document requires ends at once and names them.
func TestMissingCredentials(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	h := serve(connector.Definition{Credentials: []wire.CredentialField{
		{Key: "tenant", Label: "Tenant", Type: wire.CredentialText},
		{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword},
		{Key: "region", Label: "Region", Type: wire.CredentialText, Optional: true},
	}}, liveShop(), nil)
	r := grade(t, watched(func(path, _ string) { asked[path]++ })(h), grading{
		Options:     conformance.Options{Mode: conformance.ModeLive},
		credentials: []map[string]string{{"tenant": "a", "apiKey": "0123456789"}, {"tenant": "b", "apiKey": " "}},
	})
	require.Equal(t, check.ExitNotRun, r.Exit())
	require.Contains(t, r.Text(false, false), "NOT GRADED: the document requires credentials that were not given: API key;")
	require.Contains(t, r.Problem, `-credentials '{"apiKey":"..."}'`)
	require.Less(t, strings.Count(r.Text(false, false), "\n"), 12)
	require.Equal(t, map[string]int{wire.PathDocument: 1}, asked, "nothing else was asked")
}

// TestEqualRunsAskTheSame requires that a run without a seed asks what another such run asks.
func TestEqualRunsAskTheSame(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	run := func(h http.Handler, o conformance.Options) (bodies []string) {
		recorded := watched(func(path, body string) { bodies = append(bodies, path+" "+body) })(h)
		synctest.Test(t, func(t *testing.T) {
			target, stop := conformance.InProcess(recorded, testToken)
			defer stop()
			testkit.Must(conformance.Run(t.Context(), target, &o))(t)
		})
		slices.Sort(bodies) // some are sent at once
		return bodies
	}
	live := conformance.Options{Mode: conformance.ModeLive}
	live.Requests = 180 // runs of the default take a minute
	once := run(untouched(), live)
	live.Seed = defaults.Seed // which is that of no seed
	require.Equal(t, once, run(untouched(), live))
	corpus := conformance.Options{}
	require.Equal(t, run(usual(), corpus), run(usual(), corpus))
}

// TestBudgetAndPace requires that a run stays within its budget of requests, spreads them, and tells how far it is.
func TestBudgetAndPace(t *testing.T) {
	t.Parallel()
	const pace = 100 * time.Millisecond
	var starts []time.Time
	var events []conformance.Event
	h := watched(func(string, string) { starts = append(starts, time.Now()) })(untouched())
	r := grade(t, h, grading{Options: conformance.Options{Mode: conformance.ModeLive, Requests: 300, Pace: pace,
		Progress: func(e conformance.Event) { events = append(events, e) }}})
	require.NoError(t, r.Err())
	for i := 1; i < len(starts); i++ {
		require.GreaterOrEqual(t, starts[i].Sub(starts[i-1]), pace, "request %d", i)
	}
	require.LessOrEqual(t, len(starts), 300)
	last := events[len(events)-1]
	require.Equal(t, 300, last.Budget)
	require.Equal(t, r.Coverage().Requests, last.Requests)
	require.True(t, slices.ContainsFunc(events, func(e conformance.Event) bool { return e.Left > 0 }))
	perCheck := 0
	for _, e := range events {
		if e.ID == "L2" {
			perCheck++
		}
	}
	require.Greater(t, perCheck, 2, "a check that takes long tells so")
}

// TestRequestsAreACap requires that no run sends more requests than it may, that a small number reads rows rather than it
// varies malformed requests, and that the verdict names what was left out.
func TestRequestsAreACap(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, c := range []struct {
		requests int
		exit     int
		says     string
		judged   []string // among others
		leftOut  []string // among others
	}{
		{1, check.ExitNotRun, "NOT GRADED: nothing was judged: the requests were too few to read a row of any table",
			nil, []string{"L2", "A.12"}},
		{30, check.ExitNotRun, "NOT GRADED: nothing was judged: the requests were too few",
			[]string{"P0.1", "P0.5"}, []string{"L2", "M11", "P3.3"}},
		{100, check.ExitPass, "NOT WHOLE: no check failed, but ", []string{"P0.5", "P1.6", "L1", "L5"}, []string{"P3.15b", "A.12", "L2"}},
		{600, check.ExitPass, "CONFORMANT: no check failed; judged 130 rows of 2 tables",
			[]string{"P0.5", "P1.6", "L2", "L8", "M11", "P3.14a", "A.12"}, nil},
	} {
		t.Run(strconv.Itoa(c.requests), func(t *testing.T) {
			asked := 0
			h := watched(func(string, string) { asked++ })(untouched())
			r := grade(t, h, with(live, atMost(c.requests)))
			require.LessOrEqual(t, asked, c.requests)
			require.Equal(t, asked, r.Requests)
			require.Contains(t, r.Verdict(), c.says)
			require.Equal(t, c.exit, r.Exit())
			require.Empty(t, r.Failures())
			r.has(t, conformance.Pass, c.judged...)
			for _, id := range c.leftOut {
				require.Equal(t, conformance.NotReached, r.Outcome(id).Reason, "%s: %s", id, r.Outcome(id).Detail)
			}
			for _, o := range r.Outcomes {
				require.NotEqual(t, conformance.Blocked, o.Reason, "%s: %s", o.ID, o.Detail)
			}
			if c.exit != check.ExitPass || c.leftOut != nil {
				return
			}
			// A whole pass over the shop names the rows that it rests on, and each of its fields was judged.
			require.NoError(t, r.Err())
			require.NotContains(t, string(testkit.Must(r.JSON())(t)), `"selection": {`)
			b := r.Coverage().Basis
			require.Equal(t, 130, b.Rows)
			require.Equal(t, 2, b.Tables)
			require.Equal(t, 14*13, b.Pairs)
			require.Positive(t, b.Judged)
			for _, table := range r.Coverage().Tables {
				require.Empty(t, table.Partly)
				for _, f := range table.Fields {
					require.NotEmpty(t, f.Judged, "%s.%s was not judged at all", table.Name, f.Name)
				}
			}
		})
	}
}

// TestPaceOfTheConnector requires that a run over a slow connector asks less, unless it was
// told how much to ask, and comes to its end.
func TestPaceOfTheConnector(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, c := range []struct {
		why         string
		slow        time.Duration // by which each answer is late
		options     conformance.Options
		least, most int // requests
		longest     time.Duration
	}{
		{"a fast one is asked a lot", 0, conformance.Options{}, 1000, 1500, time.Minute},
		{"one that answers twice a second is asked for ten minutes", 500 * time.Millisecond, conformance.Options{}, 800, 1300, 12 * time.Minute},
		{"a very slow one is asked what is needed", 5 * time.Second, conformance.Options{}, 250, 450, 40 * time.Minute},
		{"who gives a number gets it", 5 * time.Second, conformance.Options{Requests: 600}, 500, 600, 60 * time.Minute},
		{"a pace is one that the connector shows", 0, conformance.Options{Pace: 2 * time.Second}, 250, 450, 20 * time.Minute},
	} {
		t.Run(c.why, func(t *testing.T) {
			c.options.Mode = conformance.ModeLive
			r := grade(t, delayed(late(c.slow))(untouched()), grading{Options: c.options})
			require.NoError(t, r.Err())
			t.Log(r.Requests, r.Duration)
			require.GreaterOrEqual(t, r.Requests, c.least)
			require.LessOrEqual(t, r.Requests, c.most)
			require.LessOrEqual(t, r.Duration, c.longest)
		})
	}
}

// TestBusyConnectorIsAskedAgain requires that an answer which says that there is no time now is no fault, if the connector
// answers a minute later, and that one which never has time is not asked again for ever.
func TestBusyConnectorIsAskedAgain(t *testing.T) {
	t.Parallel()
	busy := func(every int64, status int, code string) http.Handler {
		var n atomic.Int64
		return between(func(w http.ResponseWriter, r *http.Request, _ *[]byte) bool {
			authorized := r.URL.Path == wire.PathQuery && r.Header.Get("Authorization") == "Bearer "+testToken
			if !authorized || n.Add(1)%every != 0 {
				return false
			}
			w.Header().Set("Retry-After", "7")
			refuses(w, status, code, "Later.")
			return true
		})(untouched())
	}
	for _, c := range []struct {
		why  string
		h    http.Handler
		exit int

		shortest, longest time.Duration
	}{
		{"every third answer is a gateway's", busy(3, 429, "bad_request"), check.ExitPass, time.Minute, time.Hour},
		{"every third answer is a 408", busy(3, 408, "timeout"), check.ExitPass, time.Minute, time.Hour},
		{"there is never time", busy(1, 408, "timeout"), check.ExitFail, 0, 2 * time.Minute},
	} {
		r := grade(t, c.h, with(live, matching("^(L11|L7)$"), atMost(200)))
		require.Equal(t, c.exit, r.Exit(), "%s: %v", c.why, r.Err())
		require.LessOrEqual(t, r.Duration, c.longest, c.why)
		require.GreaterOrEqual(t, r.Duration, c.shortest, "%s: the connector asks for pauses", c.why)
	}
}

// TestDialectOnly grades connectors that take queries in SQL alone. What needs rows is
// skipped, everything else is judged, and the verdict says so.
func TestDialectOnly(t *testing.T) {
	t.Parallel()
	stream := func(w http.ResponseWriter, _ string) {
		sends(w, 200, terms.MediaNDJSON, served+`{"rows":[{"n":1}]}`+"\n"+`{"end":1}`+"\n")
	}
	broken := func(w http.ResponseWriter, _ string) { sends(w, 200, terms.MediaNDJSON, `{"rows":[]}`+"\n") }
	for i, c := range []struct {
		why   string
		build http.Handler
		mode  conformance.Mode
		fails []string
	}{
		{"it fails nothing", sqlOnly(stream), conformance.ModeLive, nil},
		{"also over the corpus, which it does not serve", sqlOnly(stream), conformance.ModeBoth, nil},
		{"statements may be refused", sqlOnly(func(w http.ResponseWriter, _ string) {
			refuses(w, 422, "unsupported", "only statements of the platform")
		}), conformance.ModeLive, nil},
		{"its other routes are judged", answers(func(body map[string]any, status int) (any, int) {
			return body, 200
		}, wire.PathSize)(sqlOnly(stream)), conformance.ModeLive, []string{"P0.6"}},
		{"its streams are judged", sqlOnly(broken), conformance.ModeLive, []string{"P3.6c"}},
		{"a caller without the token is refused", refusesWhere(400, "bad_request", "sql is missing", func(r *http.Request, body []byte) bool {
			return r.URL.Path == wire.PathQuery && r.Header.Get("Authorization") == ""
		})(sqlOnly(stream)), conformance.ModeLive, []string{"P1.1"}},
	} {
		if !testrun.Runs(i, 3) {
			continue
		}
		t.Run(c.why, func(t *testing.T) {
			r := grade(t, c.build, grading{Options: conformance.Options{Mode: c.mode}})
			require.Equal(t, "tsql", r.DialectOnly)
			r.has(t, conformance.Fail, c.fails...)
			if c.fails != nil {
				return
			}
			require.NoError(t, r.Err())
			require.Contains(t, r.Text(false, false),
				`CONFORMANT AS FAR AS IT CAN BE JUDGED: no check failed; queries are taken in the dialect "tsql"`)
			require.Greater(t, r.Summary().Passed, 30)
			require.Contains(t, string(testkit.Must(r.JSON())(t)), `"dialectOnly": "tsql"`)
		})
	}
}

// TestFirstFindingSaysWhatToDo requires that what stands in the way of everything is one
// failure, with the right advice, on one screen.
func TestFirstFindingSaysWhatToDo(t *testing.T) {
	t.Parallel()
	onCheck := func(status int, code, message string) http.Handler {
		return refusesWhere(status, code, message, func(r *http.Request, _ []byte) bool {
			return r.URL.Path == wire.PathCheck && r.Header.Get("Authorization") == "Bearer "+testToken
		})(untouched())
	}
	for _, c := range []struct {
		why, found, fix, not, verdict string
		build                         http.Handler
	}{
		{"the token", "The connector rejected the token", "redeploy", "credentials of an account",
			"NOT GRADED: The connector rejected the token (exit 1)",
			refusesWhere(401, "unauthorized", "no", func(r *http.Request, _ []byte) bool { return r.Method == http.MethodPost })(untouched())},
		{"the credentials", "the connector refused the credentials", "Give this run the credentials of an account that the source accepts",
			"redeploy",
			"NOT GRADED: the connector refused the credentials: Wrong password. (exit 1)",
			onCheck(400, "check_failed", "Wrong password.")},
		{"a database that is not there", "the connector refused the credentials", "a source that can be reached", "redeploy",
			"NOT GRADED: the connector refused the credentials: There is no database shop on db1. (exit 1)",
			onCheck(400, "check_failed", "There is no database shop on db1.")},
		{"no answer", "no answer within 20s", "Answer /check before the request's timeoutMs", "redeploy",
			"NOT CONFORMANT: 1 check failed (exit 1)",
			between(func(_ http.ResponseWriter, r *http.Request, _ *[]byte) bool {
				if r.URL.Path == wire.PathCheck {
					<-r.Context().Done()
				}
				return r.URL.Path == wire.PathCheck
			})(untouched())},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := grade(t, c.build, with(live))
			require.Len(t, r.Failures(), 1)
			o := r.Failures()[0]
			require.Equal(t, "P1.6", o.ID)
			require.Contains(t, o.Detail, c.found)
			require.Contains(t, o.Fix, c.fix)
			require.NotContains(t, o.Fix, c.not)
			require.Greater(t, r.Summary().Blocked, 50)
			text := r.Text(false, false)
			require.Contains(t, text, c.verdict)
			require.LessOrEqual(t, strings.Count(text, "\n"), 26, text)
			if strings.HasPrefix(c.verdict, "NOT GRADED") {
				require.Equal(t, 1, strings.Count(text, r.Problem), "it is said once")
			}
		})
	}
}

// TestSlowConnector requires that a connector whose whole reads are slow is asked the rest as if they were not, that
// the verdict on one which is slow throughout says how little was asked and how long a whole run takes, and that a
// run with that time is whole.
func TestSlowConnector(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	isWhole := func(r *http.Request) bool {
		tree := parsed([]byte(bodyOf(r)))
		return r.URL.Path == wire.PathQuery && len(listOf(tree, "and")) == 0 && tree["or"] == nil && tree["limit"] == nil
	}
	slowly := func(whole, rest time.Duration, s connector.Source) http.Handler {
		return delayed(func(r *http.Request) time.Duration {
			if isWhole(r) {
				return whole
			}
			return rest
		})(serve(connector.Definition{}, s, nil))
	}
	wrong := stockedSource(shop, eachFilter(func(f wire.Filter) wire.Filter {
		if f.Field == shop()[0].Fields[0].Name {
			f.Op = wire.OpGte
		}
		return f
	}, wire.OpGt))
	const wholeRun = 225 * time.Minute // of a connector that is slow throughout; it takes 173
	for _, c := range []struct {
		why         string
		whole, rest time.Duration
		timeout     time.Duration
		source      connector.Source
		says        []string
		never       string
	}{
		{"nothing is slow", 0, 0, 0, liveShop(), []string{"CONFORMANT: no check failed"}, "slow"},
		{"whole reads are slow, and L2 is asked as if they were not", 9 * time.Second, 0, 0, liveShop(),
			[]string{"; the connector was slow: a whole run takes about ", ": -timeout "}, "AS FAR AS ASKED"},
		{"whole reads are slow, and a filter is read wrongly", 9 * time.Second, 0, 0, wrong, []string{"NOT CONFORMANT"}, "slow"},
		{"all of it is slow", 8 * time.Second, 8 * time.Second, 0, liveShop(),
			[]string{"; the connector was slow: a whole run takes about "}, "CONFORMANT: "},
		{"and there is time", 8 * time.Second, 8 * time.Second, wholeRun, liveShop(), []string{"CONFORMANT: no check failed"}, "slow"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			r := grade(t, slowly(c.whole, c.rest, c.source), grading{Options: conformance.Options{Mode: conformance.ModeLive, Timeout: c.timeout}})
			t.Log(r.Requests, r.Duration, r.Verdict())
			for _, text := range c.says {
				require.Contains(t, r.Verdict(), text)
			}
			require.NotContains(t, r.Verdict(), c.never)
			if c.whole == c.rest {
				require.LessOrEqual(t, r.Whole, wholeRun, "the time that is asked for is what a whole run takes, and some")
			}
		})
	}
}

// TestTimeThatIsLeft requires that the checks which a connector was slow for are judged once more with the time that is
// left, all of them: no verdict rests on less than half of what it rests on where nothing is slow.
func TestTimeThatIsLeft(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	var cases [2]map[string]int
	for i, slow := range []int32{0, 80} {
		var filtered atomic.Int32
		r := grade(t, delayed(func(r *http.Request) time.Duration {
			filters := len(listOf(parsed([]byte(bodyOf(r))), "and"))
			if r.URL.Path == wire.PathQuery && filters > 0 && filtered.Add(1) <= slow {
				return 5 * time.Second
			}
			return 0
		})(untouched()), with(live))
		require.Greater(t, filtered.Load(), slow)
		require.Contains(t, r.Verdict(), "CONFORMANT: no check failed; judged ", "nothing is cut short in the end")
		require.LessOrEqual(t, r.Requests, defaults.Requests)
		require.Less(t, r.Duration, defaults.Timeout)
		cases[i] = map[string]int{}
		for _, id := range []string{"L2", "M11", "M25"} {
			cases[i][id] = r.Outcome(id).Cases
		}
	}
	t.Log(cases)
	for id, n := range cases[0] {
		require.Greater(t, 2*cases[1][id], n, id)
	}
}

// TestTimeThatIsLeftForTenants requires that the checks about tenants, too, are judged once more where a connector was
// slow for a while, and that the verdict says that it was slow if it stays so.
func TestTimeThatIsLeftForTenants(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	graded := func(late func(tenant int) time.Duration) *result {
		return grade(t, delayed(func(r *http.Request) time.Duration {
			set, _ := credentialsIn([]byte(bodyOf(r)))
			return late(known(set))
		})(newSharedHost()), with(apart))
	}
	var seconds atomic.Int32
	fast := graded(func(int) time.Duration { return 0 })
	slow := graded(func(tenant int) time.Duration {
		if tenant != 1 || seconds.Add(1) > 20 {
			return 0
		}
		return 10 * time.Second
	})
	always := graded(func(int) time.Duration { return 4 * time.Second })
	for _, r := range []*result{fast, slow} {
		require.Contains(t, r.Verdict(), "CONFORMANT: no check failed; judged ", "nothing is cut short in the end")
	}
	for _, id := range []string{"T1", "T2", "T3", "T4", "T6"} {
		t.Log(id, fast.Outcome(id).Cases, slow.Outcome(id).Cases, always.Outcome(id).Cases)
		require.Greater(t, 2*slow.Outcome(id).Cases, fast.Outcome(id).Cases, id)
	}
	require.Contains(t, always.Verdict(), "the connector was slow: a whole run takes about ")
}

// TestAsFarAsAsked requires that every form of a report says of a connector that was asked too little that it is
// conformant as far as asked, and how far.
func TestAsFarAsAsked(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	r := grade(t, delayed(late(1200*time.Millisecond))(plain(hotelTables(0)...)), with(live))
	words := regexp.MustCompile(`^CONFORMANT AS FAR AS ASKED \((\d+) %\): `).FindStringSubmatch(r.Verdict())
	require.NotNil(t, words, r.Verdict())
	require.Less(t, words[1], "80")
	lower := "conformant as far as asked (" + words[1] + " %)"
	body := testkit.Must(r.JSON())(t)
	require.Contains(t, string(body), `"words": "`+lower+`"`)
	require.Contains(t, string(body), `"share": `+words[1]+",")
	body = testkit.Must(r.JUnit())(t)
	require.Contains(t, string(body), `<property name="verdict" value="`+lower+`"></property>`)
	body = testkit.Must(r.HTML())(t)
	require.Contains(t, string(body), "<h1>"+lower+"</h1>")
}

// TestWarnings requires that what discovery warns of is quoted before other advice, and fails a strict run.
func TestWarnings(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, strict := range []bool{false, true} {
		r := grade(t, warning(), grading{Options: conformance.Options{Mode: conformance.ModeLive, Strict: strict}})
		require.Equal(t, strict, r.Exit() == check.ExitFail, "%s", r.Verdict())
		require.Contains(t, r.Outcome("A.37").Detail, "items[].total")
		if !strict {
			require.Equal(t, "A.37", r.Advice()[0].ID)
		}
		require.Contains(t, r.Text(false, false), "items[].total")
	}
}
