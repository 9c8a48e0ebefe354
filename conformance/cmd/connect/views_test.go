package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func testPage(t *testing.T) *page {
	t.Helper()
	p := newPage(lifecycle.NewForm(nil), "127.0.0.1:1")
	t.Cleanup(p.close)
	return p
}

// shows requires the parts of a view that testdata/shown.tsv names.
func shows(t *testing.T, view, html string) {
	t.Helper()
	seen := 0
	for _, c := range testkit.Table(t, "testdata/shown.tsv", 3) {
		if c[0] == view {
			seen++
			require.Contains(t, html, c[2], c[1])
		}
	}
	require.NotZero(t, seen, view)
}

// TestConnectForm looks at the inputs of the connect form [rule connect-2] [rule connect-4].
func TestConnectForm(t *testing.T) {
	p := testPage(t)
	index := p.render("index.html", nil)
	for id, label := range map[string]string{"name": "Name", "url": "Base URL", "token": "Bearer token"} {
		require.Contains(t, index, fmt.Sprintf(`<label for="%s">%s</label>`, id, label))
		require.Contains(t, index, fmt.Sprintf(`<input id="%s"`, id))
	}
	require.Contains(t, index, `<input id="token" type="password"`)
	require.NotContains(t, index, "<script>", "the policy forbids scripts in the page")
	require.NotContains(t, index, "style=", "the policy forbids styles in the page")

	fields := p.render("fields.html", newInputs([]wire.CredentialField{
		{Key: `a"b`, Label: "API <key>", Type: wire.CredentialPassword, Help: "Under **API**.", Placeholder: `"sk"`},
		{Key: "account", Label: "Account", Type: wire.CredentialText},
		{Key: "certificate", Label: "Certificate", Type: wire.CredentialTextarea, Optional: true},
	}))
	shows(t, "form", fields)
	require.Less(t, strings.Index(fields, "<strong>API</strong>"), strings.Index(fields, `id="credential-0"`), "help stands above its input")
	require.Equal(t, 2, strings.Count(fields, " required"), "the optional one is not required")
}

// TestStatus shows sources in each state.
func TestStatus(t *testing.T) {
	p := testPage(t)
	chip := func(s lifecycle.Status) string { return p.render("chip.html", newStatusView(s)) }
	verdict := func(s lifecycle.Status) string { return p.render("verdict.html", newStatusView(s)) }

	s := lifecycle.Status{State: lifecycle.Verifying, Progress: conformance.Event{ID: "P2.1", Title: "the title", Index: 5, Planned: 20,
		Requests: 30, Budget: 120, Left: 90 * time.Second}}
	require.Contains(t, chip(s), `class="chip verifying"`)
	require.Contains(t, chip(s), "25 %")
	require.Contains(t, verdict(s), "<p>30 of 120 requests, about 1m30s left</p>")
	require.Contains(t, verdict(s), "6 of 20: the title")

	s = lifecycle.Status{State: lifecycle.Verifying, Problem: "the run was <interrupted>"}
	require.Contains(t, verdict(s), "came to no verdict: the run was &lt;interrupted&gt;")
	require.NotContains(t, verdict(s), "<progress")

	report := &conformance.Report{}
	for i := range 12 {
		report.Outcomes = append(report.Outcomes, conformance.Outcome{
			Check:   conformance.Check{ID: fmt.Sprint("X", i), Title: "title", Rules: []string{"filter-6"}, Fix: "Compare digits."},
			Verdict: conformance.Fail, Detail: "a \"detail\" <b>", Expected: "<1>", Received: "<2>",
			Request: &conformance.Request{Method: "POST", URL: "https://shop.test/query", Body: `{"credentials":$CONNECTOR_CREDENTIALS}`},
		})
	}
	s = lifecycle.Status{State: lifecycle.Failed, Detail: "a \"detail\" <b>", Report: report}
	require.Contains(t, chip(s), `class="chip failed" data-show="verdict" title="a &#34;detail&#34; &lt;b&gt;">failed conformance<`,
		"the tooltip has the detail of the first failure")
	html := verdict(s)
	shows(t, "failed", html)
	require.Equal(t, 2, strings.Count(html, "beyond the ten that the platform keeps"))

	outcome := func(id string, v conformance.Verdict, reason conformance.Reason) conformance.Outcome {
		return conformance.Outcome{Check: conformance.Check{ID: id, Title: "title of " + id, Rules: []string{"filter-6"}, Fix: "fix of " + id},
			Verdict: v, Reason: reason, Detail: "detail of " + id}
	}
	before := &conformance.Report{Outcomes: []conformance.Outcome{
		outcome("A", conformance.Fail, ""), outcome("B", conformance.Skip, conformance.Blocked), outcome("C", conformance.Pass, "")}}
	now := &conformance.Report{Outcomes: []conformance.Outcome{
		outcome("A", conformance.Pass, ""), outcome("B", conformance.Skip, conformance.NoData), outcome("C", conformance.Pass, ""),
		outcome("D", conformance.Advise, "")}}
	html = verdict(lifecycle.Status{State: lifecycle.Failed, Report: before})
	shows(t, "skipped", html)
	require.NotContains(t, html, "fix of B", "the cure of a failure that it has not")
	require.NotContains(t, html, `id="changes"`, "there was no run before")
	html = verdict(lifecycle.Status{State: lifecycle.Conformant, Report: now, Previous: before})
	require.Contains(t, html, `<code>A</code> title of A: fail → <b>pass</b>`)
	require.Contains(t, html, `title of B: skipped: blocked → <b>skipped: data cannot exercise it</b>`)
	require.Contains(t, html, `title of D: not run → <b>advice</b>`)
	require.Contains(t, html, "Nothing is wrong. The check runs once there is what it lacks", "the cure of B's reason")
	require.NotContains(t, html, "title of C:", "it is as before")
	html = verdict(lifecycle.Status{State: lifecycle.Conformant, Report: now, Previous: now})
	require.Contains(t, html, "Nothing has changed since the last run.")

	s = lifecycle.Status{State: lifecycle.Conformant, Report: &conformance.Report{}}
	require.Contains(t, chip(s), `class="chip conformant" data-show="verdict">conformant</button>`)
}

// TestWords looks at what is said of tables and columns.
func TestWords(t *testing.T) {
	rows, percent, no := int64(66700), 100.0/12, false
	low, high := wire.Decimal("-1000.50"), wire.Decimal("9")
	html := testPage(t).render("tables.html", tablesView{Enforced: true, Tables: []wire.Table{
		{Name: "view", RowCount: &rows, PrimaryKey: []string{"a"}, Fields: []wire.Field{
			{Name: "a", Type: wire.TypeDecimal, Unique: true, Filterable: &no, Samples: []wire.Value{wire.Decimal("12345.0")},
				Stats: &wire.Stats{DistinctCount: 1234, NullPercent: &percent, Min: &low, Max: &high}},
			{Name: "b", Type: wire.TypeDecimal, Samples: []wire.Value{wire.Decimal("12345.0")},
				Stats: &wire.Stats{DistinctCount: 1234, NullPercent: &percent, Min: &low, Max: &high}}}},
		{Name: "bare", StoresRows: true, Fields: []wire.Field{{Name: "a", Type: wire.TypeDate}, {Name: "b", Type: wire.TypeDate}}},
	}})
	view, bare, _ := strings.Cut(html, "<b>bare</b>")
	shows(t, "table", view)
	require.Contains(t, bare, "2 columns</span>")
	require.NotContains(t, html, "<th>Description</th>", "no column has one")
	for _, heading := range []string{"Notes", "Statistics", "Examples"} {
		require.Contains(t, view, "<th>"+heading+"</th>")
		require.NotContains(t, bare, "<th>"+heading+"</th>", "nothing stands below it")
	}
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		value wire.Value
		want  string
	}{
		{wire.Null(), `<span class="null">null</span>`},
		{wire.Text("null"), "null"},
		{wire.Text("<b>"), "&lt;b&gt;"},
		{wire.Text("a\u202eb"), `a\u202eb`}, // it would turn the text around
		{wire.Decimal("10.250"), "10.250"},
		{wire.Text(strings.Repeat("é", 200)), strings.Repeat("é", 150) + "…"},
	} {
		require.Equal(t, c.want, string(testPage(t).cell(c.value, false)))
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -100: "-100"} {
		require.Equal(t, want, grouped(n))
	}
}

// TestFeed resumes where a page has stopped reading.
func TestFeed(t *testing.T) {
	var f feed
	f.init()
	ids := func(revision int) (list []string) {
		patches, _ := f.since(revision)
		for _, p := range patches {
			list = append(list, p.ID+p.HTML)
		}
		return list
	}
	f.put("a", "1")
	f.put("b", "1")
	_, changed := f.since(2)
	f.put("b", "1")
	select {
	case <-changed:
		t.Fatal("nothing has changed")
	default:
	}
	f.put("a", "2")
	<-changed
	require.Equal(t, []string{"b1", "a2"}, ids(0), "the latest of each, in the order of the changes")
	require.Equal(t, []string{"a2"}, ids(2))
	require.Empty(t, ids(3))
	f.clear()
	require.Empty(t, ids(0))
	f.put("a", "3")
	require.Equal(t, []string{"a3"}, ids(3), "revisions go on, so that a page that is open gets it")
}

// TestWorkShowsNotes shows the notes of an answer beside who did what.
func TestWorkShowsNotes(t *testing.T) {
	res := &result{Stats: platform.Stats{Notes: []string{"the exact size is <1>"}}}
	require.Contains(t, testPage(t).render("work", res.work(0)), "the exact size is &lt;1&gt;")
}

// TestQuestion turns what was typed into requests. The cases are in a file.
func TestQuestion(t *testing.T) {
	tables := []wire.Table{
		{Name: "orders", Fields: []wire.Field{
			{Name: "id", Type: wire.TypeNumber}, {Name: "total", Type: wire.TypeDecimal}, {Name: "status", Type: wire.TypeString},
			{Name: "paid", Type: wire.TypeBoolean}, {Name: "customer", Type: wire.TypeReference}, {Name: "placed", Type: wire.TypeDatetime}}},
		{Name: "customers", Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString}}},
	}
	data := testkit.Must(os.ReadFile("testdata/questions.json"))(t)
	var cases []struct {
		Name     string
		Question question
		Request  json.RawMessage // without credentials and times
		Top      int
		Problem  string
		Why      string
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			a, err := c.Question.ask(tables)
			if c.Problem != "" {
				require.ErrorContains(t, err, c.Problem, c.Why)
				return
			}
			require.NoError(t, err, c.Why)
			require.Equal(t, c.Top, a.top)
			_, message := a.route()
			body := testkit.Must(wire.EncodeRequest(message))(t)
			var got map[string]any
			require.NoError(t, json.Unmarshal(body, &got))
			delete(got, "credentials")
			delete(got, "timeoutMs")
			require.JSONEq(t, string(c.Request), string(testkit.Must(json.Marshal(got))(t)), c.Why)

			v := testkit.Must(a.show(&connected{url: "https://shop.test/a/"}))(t)
			require.Contains(t, v.JSON, `"credentials": $CONNECTOR_CREDENTIALS`)
			require.Contains(t, v.Curl, "'https://shop.test/a/")
			require.Contains(t, v.Curl, `"$PLATFORM_CONNECTOR_TOKEN"`)
		})
	}
}

// TestAverageAsARequest shows an average as what the connector is asked for.
func TestAverageAsARequest(t *testing.T) {
	q := question{Kind: "groups", Table: "orders", GroupBy: []groupKey{{Field: "status"}},
		Measures: []measure{{Fn: platform.Avg, Field: "total"}}}
	tables := []wire.Table{{Name: "orders", Fields: []wire.Field{
		{Name: "total", Type: wire.TypeDecimal}, {Name: "status", Type: wire.TypeString}}}}
	for _, c := range []struct {
		why       string
		endpoints []wire.Endpoint
		curl      string
		json      []string
	}{
		{"its sum and its count", []wire.Endpoint{wire.EndpointAggregate}, "/aggregate'", []string{`"fn": "sum"`, `"fn": "count"`}},
		{"or the rows, where it computes neither", nil, "/query'", []string{`"fields": [`}},
	} {
		a := testkit.Must(q.ask(tables))(t)
		v, err := a.show(&connected{Connection: &platform.Connection{Document: &wire.Document{Endpoints: c.endpoints}, Tables: tables}})
		require.NoError(t, err, c.why)
		require.Contains(t, v.Curl, c.curl, c.why)
		for _, text := range c.json {
			require.Contains(t, v.JSON, text, c.why)
		}
		require.NotContains(t, v.JSON, "avg", c.why)
	}
}
