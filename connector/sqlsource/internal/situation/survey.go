package situation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Asked is a connector in this process, whose token is that of package connectortest, and the tenant who asks it.
type Asked struct {
	Handler     http.Handler
	Credentials map[string]string
}

// Post answers a message, without a connection.
func (a Asked) Post(t testing.TB, path string, m wire.Request) *httptest.ResponseRecorder {
	t.Helper()
	body, err := wire.EncodeRequest(m)
	require.NoError(t, err)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(string(body)))
	r.Header.Set("Authorization", "Bearer "+connectortest.Token)
	answer := httptest.NewRecorder()
	a.Handler.ServeHTTP(answer, r)
	return answer
}

// Survey is a set of requests about the tables of a database, to be asked of it in several
// ways: what comes back must be the same.
type Survey []Question

// Question is a request of a survey.
type Question struct {
	What    string
	request Request
	sorted  bool // the order of the rows is part of the answer
}

// NewSurvey asks for a discovery, and about each column of each table that it lists: all cells,
// a page by a sort, counts by comparisons with a sample, groups and measures.
func NewSurvey(t testing.TB, a Asked) Survey {
	t.Helper()
	s := Survey{{What: "discovery", request: Request{"discovery", "{}"}}}
	var found wire.Discovery
	body := a.Post(t, wire.PathDiscovery, s[0].request.As(t, a.Credentials)).Body.Bytes()
	require.NoError(t, wire.DecodeAnswer(body, &found), "%.300s", body)
	for i := range found.Tables {
		s = append(s, about(t, &found.Tables[i])...)
	}
	return s
}

// members are those of a JSON object.
type members = map[string]any

// about returns the questions about a table.
func about(t testing.TB, table *wire.Table) (s Survey) {
	ask := func(what, route string, sorted bool, body members) {
		body["table"] = table.Name
		text, err := json.Marshal(body)
		require.NoError(t, err)
		s = append(s, Question{what + " of " + table.Name, Request{route, string(text)}, sorted})
	}
	var names []string
	for _, f := range table.Fields {
		names = append(names, f.Name)
	}
	ask("rows", "query", false, members{"fields": names})
	ask("distinct values", "cardinality", false, members{"columns": names})
	ask("size", "size", false, members{})
	var measures []members
	for i, f := range table.Fields {
		sort := []members{{"field": f.Name, "dir": []wire.Direction{wire.Asc, wire.Desc}[i%2]}}
		ask("a page by "+f.Name, "query", true, members{"fields": names, "sort": sort, "limit": 7, "offset": 3})
		for _, where := range wheres(f) {
			ask(fmt.Sprintf("rows with %s %s", f.Name, where["op"]), "count", false, members{"and": []members{where}})
		}
		if f.Type == wire.TypeJSON || f.Type == wire.TypeArray {
			continue
		}
		fns := []wire.AggFunc{wire.AggMin, wire.AggMax}
		if f.Type == wire.TypeNumber || f.Type == wire.TypeDecimal {
			fns = append(fns, wire.AggSum)
		}
		for _, fn := range fns {
			measures = append(measures, members{"fn": fn, "field": f.Name, "as": fmt.Sprintf("m%d", len(measures))})
		}
		key := members{"field": f.Name, "as": "k"}
		switch f.Type {
		case wire.TypeDate, wire.TypeDatetime:
			key["grain"] = wire.GrainDay
		case wire.TypeString:
		default:
			continue
		}
		ask("groups by "+f.Name, "aggregate", false, members{"groupBy": []members{key}, "measures": []members{{"fn": wire.AggCount, "as": "n"}}})
	}
	for some := range slices.Chunk(measures, 8) {
		ask("measures", "aggregate", false, members{"measures": some})
	}
	return s
}

// wheres returns filters on a column, by one of its samples.
func wheres(f wire.Field) (all []members) {
	ops := []wire.Op{wire.OpEq, wire.OpGt}
	switch f.Type {
	case wire.TypeJSON, wire.TypeArray:
		return []members{{"field": f.Name, "op": wire.OpContains, "value": "paid"}}
	case wire.TypeBoolean:
		ops = ops[:1]
	case wire.TypeString:
		ops = []wire.Op{wire.OpIncludes, wire.OpEq}
	}
	at := slices.IndexFunc(f.Samples, func(v wire.Value) bool { return !v.IsNull() })
	if at < 0 {
		return nil
	}
	sample, err := f.Samples[at].AppendJSON(nil)
	if err != nil {
		return nil
	}
	for _, op := range ops {
		all = append(all, members{"field": f.Name, "op": op, "value": json.RawMessage(sample)})
	}
	return all
}

// Answers asks all questions, and returns the answers in their order.
func (s Survey) Answers(t testing.TB, a Asked) []string {
	t.Helper()
	all := make([]string, len(s))
	for i, q := range s {
		all[i] = q.answer(t, a)
	}
	return all
}

// Same reports whether all questions are answered so. It asks none after the first that is not.
func (s Survey) Same(t testing.TB, a Asked, want []string) bool {
	t.Helper()
	for i, q := range s {
		if q.answer(t, a) != want[i] {
			return false
		}
	}
	return true
}

// answer asks one question. It returns the rows of the answer in the order of their texts, if
// they may have any.
func (q Question) answer(t testing.TB, a Asked) string {
	t.Helper()
	w := a.Post(t, q.request.Path(), q.request.As(t, a.Credentials))
	if w.Code != http.StatusOK || q.request.Route != "query" && q.request.Route != "aggregate" {
		return fmt.Sprintf("%d %s", w.Code, w.Body)
	}
	var rows, rest []string
	for line := range strings.Lines(w.Body.String()) { // a line has as many rows as were there in time
		var part struct{ Rows []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(line), &part), "%.300s", line)
		if part.Rows == nil {
			rest = append(rest, line)
		}
		for _, row := range part.Rows {
			rows = append(rows, string(row))
		}
	}
	if !q.sorted {
		slices.Sort(rows)
	}
	return fmt.Sprintf("%d %s %s", w.Code, rows, rest)
}

// Differences returns the questions that are answered differently, with both answers from where they differ.
func (s Survey) Differences(want, got []string) []string {
	var all []string
	for i, q := range s {
		if want[i] == got[i] {
			continue
		}
		at := 0
		for at < min(len(want[i]), len(got[i])) && want[i][at] == got[i][at] {
			at++
		}
		from := max(0, at-40)
		all = append(all, fmt.Sprintf("%s: %.120q, expected %.120q", q.What, got[i][min(from, len(got[i])):], want[i][min(from, len(want[i])):]))
	}
	return all
}
