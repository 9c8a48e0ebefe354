package conformance_test

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sample returns a report of every check with some of everything: failures with and
// without a request, hostile text, skips of every reason, advice.
func sample() *conformance.Report {
	r := &conformance.Report{
		Mode: conformance.ModeFixture, Endpoint: "https://connect.example.com/shop", Slug: "shop", Seed: 4503599627370497,
		Began: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC), Duration: 12340 * time.Millisecond,
	}
	*r.Coverage() = conformance.Coverage{
		Counts: conformance.Counts{Requests: 612, Streams: 340, Rows: 184_201, Bytes: 61_204_112, Generated: 120, Telling: 44}, Cases: 540,
		Filters: map[string]int{"eq number": 14, "eq string": 22, "contains array": 4, "gt datetime": 3,
			"isnull undeclared": 1, "nin decimal": 120},
		Operators: []wire.Op{wire.OpEq, wire.OpIsNull},
		Kinds:     []conformance.KindCoverage{{Kind: "filters", All: 4, Asked: 3}, {Kind: "sorts", All: 2, Asked: 1}},
		Unasked: []conformance.Question{{Kind: "filters", Table: "values", Column: "text\n\x1b[31m", How: "isnull"},
			{Kind: "sorts", Table: "values", Column: "id"}},
		Basis: conformance.Basis{Rows: 41, Tables: 1, Pairs: 6, Judged: 3, Empty: 2, Values: 6, Asked: 5, Unjudged: 1,
			Text: "judged 41 rows of 1 table, 3 of 6 fields x operators (2 without data), 5 of 6 values of columns with few"},
		Tables: []conformance.TableCoverage{
			{Name: "values", Rows: 41, Fields: []conformance.FieldCoverage{
				{Name: "id", Type: wire.TypeNumber, Filterable: true, Judged: map[wire.Op]int{wire.OpEq: 12, wire.OpIsNull: 2}, Values: 4, Asked: 4},
				{Name: "text\n\x1b[31m", Type: wire.TypeString, Filterable: true, Judged: map[wire.Op]int{wire.OpEq: 3}, Values: 2, Asked: 1},
				{Name: "note", Type: wire.TypeString, Filterable: true, Empty: true, Judged: map[wire.Op]int{}},
				{Name: "blob", Type: wire.TypeString, Judged: map[wire.Op]int{}},
			}},
			{Name: "log", Partly: "table log has 7000000 rows, more than the row budget of 200000",
				Unjudged: "none of its rows were read", Fields: []conformance.FieldCoverage{}},
		},
	}
	r.Outcomes = sampleOutcomes()
	return r
}

// sampleOutcomes returns outcomes of a table of checks of this test's own, so that the
// golden files do not change with the program's.
func sampleOutcomes() (list []conformance.Outcome) {
	authorized := http.Header{"Authorization": {"Bearer $PLATFORM_CONNECTOR_TOKEN"}}
	add := func(id string, phase int, title string, o conformance.Outcome) {
		o.Check = conformance.Check{ID: id, Phase: phase, Title: title, Rules: []string{"filter-3", "filter-3a"},
			Fix: "Do what the sentence says."}
		if o.Duration == 0 {
			o.Duration = 4 * time.Millisecond
		}
		list = append(list, o)
	}
	add("P0.1", 0, "the document is served without authentication", conformance.Outcome{Verdict: conformance.Pass})
	add("P0.2", 0, "the document does not redirect", conformance.Outcome{Verdict: conformance.Pass, Cases: 1})
	add("P1.4", 1, "a 401 leaks nothing", conformance.Outcome{Verdict: conformance.Fail,
		Detail: "the body of a 401 names a table", Expected: "neither a table's name nor a credential",
		Received: "401 {\"error\":{\"code\":\"unauthorized\",\"message\":\"\x1b[31mno access to customers\x1b[0m \u202eevil\"}}",
		Request: &conformance.Request{Method: http.MethodPost, URL: "https://connect.example.com/shop/discovery",
			Body: `{"credentials":$CONNECTOR_CREDENTIALS,"timeoutMs":60000}`},
		Cases: 8, Failed: 3})
	for i := range 13 {
		add("P2.3"+string(rune('a'+i)), 2, "operator number "+string(rune('a'+i)), conformance.Outcome{Verdict: conformance.Pass, Cases: 12})
	}
	add("P2.4a", 2, "`or` groups beside `and` are one more conjunct",
		conformance.Outcome{Verdict: conformance.Fail, Duration: 1230 * time.Millisecond,
			Detail:   "table values: 3 of 41 rows are missing\nfirst: id 7",
			Expected: `id 7: {"id":7,"text":"It's"}`, Received: "no such row " + strings.Repeat("x", 400),
			Request: &conformance.Request{Method: http.MethodPost, URL: "https://connect.example.com/shop" + wire.PathQuery, Header: authorized,
				Body: `{"table":"values","and":[],"or":[[{"field":"text","op":"eq","value":"It's <b>\n]]>"}]],"sort":[],"fields":["id","text"],"credentials":$CONNECTOR_CREDENTIALS,"timeoutMs":60000}`},
			Cases: 14, Failed: 1})
	add("P2.11a", 2, "count", conformance.Outcome{Verdict: conformance.Skip, Reason: conformance.NotDeclared,
		Detail: "endpoints does not list aggregate"})
	add("P2.11b", 2, "count of a field",
		conformance.Outcome{Verdict: conformance.Skip, Reason: conformance.NotDeclared, Detail: "endpoints does not list aggregate"})
	add("P2.11c", 2, "sum, exact", conformance.Outcome{Verdict: conformance.Skip, Reason: conformance.NotDeclared,
		Detail: "endpoints does not list aggregate"})
	add("P2.15a", 2, "matched rows",
		conformance.Outcome{Verdict: conformance.Skip, Reason: conformance.NotDeclared, Detail: "capabilities.join is false"})
	add("P2.17a", 2, "generated filters",
		conformance.Block(conformance.Outcome{Verdict: conformance.Skip, Reason: conformance.Blocked,
			Detail: "by P2.4a: table values: 3 of 41 rows are missing"}, "P2.4a"))
	add("P3.5a", 3, "timeoutMs gives 408 in time",
		conformance.Outcome{Verdict: conformance.Skip, Reason: conformance.NoData, Detail: "there is no table slow"})
	add("P3.6a", 3, "the stream has its content type", conformance.Outcome{Verdict: conformance.Pass, Cases: 340})
	add("P3.7a", 3, "a ping within 10 s of silence",
		conformance.Outcome{Verdict: conformance.Skip, Reason: conformance.NotReached, Detail: "the run was interrupted"})
	add("P3.10c", 3, "a 500 says only internal error", conformance.Outcome{Verdict: conformance.Fail, Detail: "no request in particular"})
	add("L1", 4, "an exact size equals streamed rows",
		conformance.Outcome{Verdict: conformance.Skip, Reason: conformance.DataChanged, Detail: "orders had 41 rows, then 42"})
	add("A.1", 0, "plain http", conformance.Outcome{Verdict: conformance.Advise, Detail: "the platform takes only https"})
	return list
}

// green returns a report of a run in which nothing failed.
func green() *conformance.Report {
	r := sample()
	r.Outcomes = slices.DeleteFunc(r.Outcomes, func(o conformance.Outcome) bool {
		return o.Verdict == conformance.Fail || o.Reason == conformance.Blocked || o.Reason == conformance.NotReached
	})
	return r
}
