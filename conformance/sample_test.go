package conformance_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sample returns a report of every check with some of everything: failures with and
// without a request, hostile text, skips of every reason, advice. The checks are those of a file of this test's own, so
// that the golden files do not change with the program's.
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
	text, err := os.ReadFile("testdata/outcomes.json")
	if err = errors.Join(err, json.Unmarshal(text, &r.Outcomes)); err != nil {
		panic(err)
	}
	for i, o := range r.Outcomes {
		o.Rules, o.Fix, o.Duration = []string{"filter-3", "filter-3a"}, "Do what the sentence says.", cmp.Or(o.Duration, 4*time.Millisecond)
		if o.Reason == conformance.Blocked {
			o = conformance.Block(o, "P2.4a")
		}
		r.Outcomes[i] = o
	}
	return r
}

// green returns a report of a run in which nothing failed.
func green() *conformance.Report {
	r := sample()
	r.Outcomes = slices.DeleteFunc(r.Outcomes, func(o conformance.Outcome) bool {
		return o.Verdict == conformance.Fail || o.Reason == conformance.Blocked || o.Reason == conformance.NotReached
	})
	return r
}
