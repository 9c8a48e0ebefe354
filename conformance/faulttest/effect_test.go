package faulttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// An effect is what a fault does on some data.
type effect int

const (
	// none: no answer of the sample differs from the right one.
	none effect = iota
	// consistent: answers differ, but the connector answers as a right one over
	// other rows would. Nobody who does not know the rows can see it.
	consistent
	// visible: answers contradict the rows that the same connector serves.
	visible
)

// effectOf asks a connector for a sample of requests about a table, and compares the
// answers with the rows of the set, then with the rows that the connector itself
// serves. detail describes the first difference.
func effectOf(h http.Handler, set *Set, table string) (e effect, detail string) {
	asks := sample(set, table)
	truth := oracle.Tables{}
	for _, t := range set.Tables {
		truth[t.Name] = known(&t)
	}
	described := tablesOf(h)
	if detail = rediscovered(set, described); detail == "" {
		detail = misanswered(h, table, truth, asks)
	}
	if detail == "" {
		return none, ""
	}
	own := served(h, described)
	if d := misdescribed(described, own); d != "" {
		return visible, d
	}
	if d := misanswered(h, table, own, asks); d != "" {
		return visible, d
	}
	return consistent, detail
}

// known returns a table of a set as the oracle takes it.
func known(t *memsource.Table) *oracle.Table {
	return &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}
}

// misanswered asks until an answer is wrong over some tables, and describes it.
func misanswered(h http.Handler, table string, tables oracle.Tables, asks []wire.Request) string {
	for _, m := range asks {
		if d := wrong(tables, m, post(h, m)); d != "" {
			return d
		}
	}
	return misread(h, tables[table], tables)
}

// misread describes how the pages of a table without a sort differ from the table.
func misread(h http.Handler, t *oracle.Table, tables oracle.Tables) string {
	var all [][]wire.Value
	page := wholeOf(t)
	for page.Limit = 40; page.Offset < int64(len(t.Rows)); page.Offset += page.Limit {
		s, rows, complete := streamed(post(h, page), t.Columns)
		final, err := oracle.Finish(&oracle.Table{Name: t.Name, Columns: t.Columns, Rows: rows}, page, s)
		if !complete || err != nil {
			return "no page of " + t.Name
		}
		all = append(all, final.Rows...)
	}
	return different("pages of "+t.Name, oracle.Verify(tables, wholeOf(t), all))
}

// wholeOf returns a request for all fields and rows of a table.
func wholeOf(t *oracle.Table) *wire.QueryRequest {
	req := &wire.QueryRequest{Table: t.Name, Envelope: envelope}
	for _, c := range t.Columns {
		req.Fields = append(req.Fields, c.Name)
	}
	return req
}

// response is an answer over HTTP.
type response struct {
	status int
	body   []byte
}

var routes = map[string]string{
	"*wire.QueryRequest": "/query", "*wire.CountRequest": "/count", "*wire.AggregateRequest": "/aggregate",
	"*wire.SizeRequest": "/size", "*wire.CardinalityRequest": "/cardinality",
	"*wire.LinkHitRateRequest": "/linkHitRate", "*wire.DiscoveryRequest": "/discovery",
}

func post(h http.Handler, m wire.Request) response {
	body, err := wire.EncodeRequest(m)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodPost, routes[fmt.Sprintf("%T", m)], bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return response{w.Code, w.Body.Bytes()}
}

func tablesOf(h http.Handler) []wire.Table {
	var found wire.Discovery
	_ = wire.Decode(post(h, &wire.DiscoveryRequest{Envelope: envelope}).body, &found)
	return found.Tables
}

// served reads all tables as a connector describes them.
func served(h http.Handler, tables []wire.Table) oracle.Tables {
	own := oracle.Tables{}
	for _, t := range tables {
		whole := &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey}
		_, whole.Rows, _ = streamed(post(h, wholeOf(whole)), whole.Columns)
		own[t.Name] = whole
	}
	return own
}

// streamed reads the rows of a stream, in the order of the columns.
func streamed(r response, columns []wire.Column) (s wire.Served, rows [][]wire.Value, complete bool) {
	for line := range bytes.Lines(r.body) {
		var kinds struct {
			Served *wire.Served
			Rows   []map[string]wire.Value
			End    int
		}
		if json.Unmarshal(line, &kinds) != nil {
			return s, nil, false
		}
		if kinds.Served != nil {
			s = *kinds.Served
		}
		for _, members := range kinds.Rows {
			row := make([]wire.Value, len(columns))
			for i, c := range columns {
				row[i] = members[c.Name]
			}
			rows = append(rows, row)
		}
		complete = complete || kinds.End == 1
	}
	return s, rows, complete && r.status == http.StatusOK
}

// wrong describes how an answer differs from the right one over some tables, or is
// empty. An answer that a connector may give to anything, such as a refusal of what it
// never declared, does not differ.
func wrong(tables oracle.Tables, m wire.Request, r response) string {
	switch {
	case r.status == http.StatusNoContent, r.status == http.StatusUnprocessableEntity,
		r.status == http.StatusNotFound && bytes.Contains(r.body, []byte("not_found")):
		return ""
	}
	if r.status != http.StatusOK {
		return fmt.Sprintf("%T: status %d", m, r.status)
	}
	switch req := m.(type) {
	case *wire.QueryRequest:
		return wrongRows(tables, req, r)
	case *wire.CountRequest:
		var got wire.CountAnswer
		want, err := oracle.Count(tables, req)
		if wire.Decode(r.body, &got) != nil || err != nil || want != got.Count {
			return fmt.Sprintf("count %v: %d, not %d", req.And, got.Count, want)
		}
	case *wire.AggregateRequest:
		var got wire.AggregateAnswer
		if err := wire.Decode(r.body, &got); err != nil {
			return err.Error()
		}
		return different("aggregate", oracle.VerifyGroups(tables, req, got.Rows))
	case *wire.SizeRequest:
		var got wire.SizeAnswer
		want := int64(len(tables[req.Table].Rows))
		if wire.Decode(r.body, &got) != nil || got.Size == nil || got.Size.Exact && got.Size.Rows != want {
			return fmt.Sprintf("size of %s is not %d", req.Table, want)
		}
	case *wire.CardinalityRequest:
		var got wire.CardinalityAnswer
		if err := wire.Decode(r.body, &got); err != nil {
			return err.Error()
		}
		for name, c := range got.Columns {
			want, err := oracle.Cardinality(tables[req.Table], name)
			if c != nil && (err != nil || *c != want) {
				return fmt.Sprintf("cardinality of %s.%s is %v, not %v", req.Table, name, *c, want)
			}
		}
	case *wire.LinkHitRateRequest:
		var got wire.LinkHitRate
		if err := wire.Decode(r.body, &got); err != nil {
			return err.Error()
		}
		return different("link", oracle.VerifyLinkHitRate(tables, req, &got))
	}
	return ""
}

func wrongRows(tables oracle.Tables, req *wire.QueryRequest, r response) string {
	t := tables[req.Table]
	columns := slices.Clone(t.Columns)
	for i, hop := range req.Joins {
		for _, f := range hop.Fields {
			columns = append(columns, wire.Column{Name: f.As, Type: f.Type, Hop: i + 1})
		}
	}
	s, rows, complete := streamed(r, columns)
	if !complete {
		return "query: broken stream"
	}
	final, err := oracle.Finish(&oracle.Table{Name: t.Name, Columns: columns, Rows: rows}, req, s)
	if err != nil {
		return err.Error()
	}
	asked := fmt.Sprintf("query and=%v or=%v sort=%v", req.And, req.Or, req.Sort)
	return different(asked, oracle.Verify(tables, req, final.Rows))
}

func different(what string, d *oracle.Difference) string {
	if d == nil {
		return ""
	}
	return what + ": " + d.String()
}

// rediscovered describes how a discovery differs from the right one.
func rediscovered(set *Set, tables []wire.Table) string {
	if len(tables) != len(set.Tables) {
		return "other tables"
	}
	spell := func(t wire.Table) string {
		body, _ := wire.EncodeAnswer(&wire.Discovery{Tables: []wire.Table{t}})
		return string(body)
	}
	for i, t := range tables {
		if spell(t) != spell(set.Tables[i].Table) {
			return "other discovery of " + t.Name
		}
	}
	return ""
}

// misdescribed describes how a discovery contradicts the rows.
func misdescribed(tables []wire.Table, own oracle.Tables) string {
	for _, t := range tables {
		rows := own[t.Name].Rows
		if t.RowCount != nil && *t.RowCount != int64(len(rows)) {
			return "rowCount of " + t.Name
		}
		if len(t.PrimaryKey) == 1 {
			c, _ := oracle.Cardinality(own[t.Name], t.PrimaryKey[0])
			if c.Distinct != int64(len(rows)) {
				return "primary key of " + t.Name
			}
		}
		for _, f := range t.Fields {
			c, _ := oracle.Cardinality(own[t.Name], f.Name)
			if !f.Nullable && c.NonNull < int64(len(rows)) || f.Unique && c.Distinct < c.NonNull {
				return "constraints of " + t.Name + "." + f.Name
			}
			if f.Stats != nil && f.Stats.DistinctCount != c.Distinct {
				return "stats of " + t.Name + "." + f.Name
			}
		}
	}
	return ""
}
