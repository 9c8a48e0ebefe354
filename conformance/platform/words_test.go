package platform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// built serves a source. Words say what its document declares: "pageSizeMax=9" is a limit, "sort=single" what it sorts
// by, and "-gt", "-offset" and "-/size" are left out of all that there is; "-operators" are all operators.
func built(src connector.Source, words string) http.Handler {
	def, opts := connector.Definition{Slug: "corpus"}, connectors.Quiet()
	omit := &opts.Omit
	left := map[string]*bool{"offset": &omit.Offset, "join": &omit.Join, "dateBucket": &omit.DateBucket}
	for word := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		switch {
		case name == "sort":
			omit.Sort = wire.SortSupport(value)
		case value != "":
			if err := json.Unmarshal([]byte(`{"`+name+`":`+value+`}`), &def.Limits); err != nil {
				panic(err)
			}
		case left[name] != nil:
			*left[name] = true
		case name == "operators":
			omit.Operators = filter.Operators()
		case name[0] == '/':
			omit.Endpoints = append(omit.Endpoints, wire.Endpoint(name[1:]))
		default:
			omit.Operators = append(omit.Operators, wire.Op(name))
		}
	}
	return connectors.New(testToken, def, src, opts)
}

// bent is a source in memory whose first table may be described in another way, and whose rows may be those
// of other sources from the second query on.
type bent struct {
	*memsource.Source
	describe func(*wire.Table)
	later    func(query int) *memsource.Source
	queries  atomic.Int64
}

func (b *bent) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	d, err := b.Source.Discover(ctx, req)
	if err == nil && b.describe != nil {
		d.Tables = slices.Clone(d.Tables)
		b.describe(&d.Tables[0])
	}
	return d, err
}

func (b *bent) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	src := b.Source
	if n := b.queries.Add(1); n > 1 && b.later != nil {
		src = b.later(int(n))
	}
	return src.Query(ctx, req, out)
}

// tabled serves one table, which states its number of rows only if it is given.
func tabled(t memsource.Table, words string) http.Handler {
	return built(&bent{Source: inMemory(t), describe: func(own *wire.Table) { own.RowCount = t.RowCount }}, words)
}

// several serves tables.
func several(words string, tables ...memsource.Table) http.Handler {
	return built(inMemory(tables...), words)
}

// question reads a question: what is asked, about which table, and the rest, some words of
//
//	id,total                                fields, or columns to count
//	total.gt=5 text.notnull                 filters; behind the word or they are a group
//	sort=-half,id offset=1 limit=2          keys that ascend, or descend; "id:up" has the direction up
//	orders.shop>shops.id>name:shop,city     a hop, and the fields that it joins; of a link the hop alone
//	by=day/month:m sum(total):t count():n   keys of groups, and measures
func question(words string) wire.Request {
	list := strings.Fields(words)
	kind, table, rest := list[0], list[1], list[2:]
	q, a := &wire.QueryRequest{Table: table}, &wire.AggregateRequest{Table: table}
	link := &wire.LinkHitRateRequest{}
	for _, word := range rest {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch {
		case word == "or":
			q.Or = append(q.Or, nil)
		case name == "sort":
			q.Sort = by(strings.Split(value, ",")...)
		case name == "offset":
			q.Offset = n
		case name == "limit":
			q.Limit, a.Limit = n, n
		case name == "by":
			field, as, _ := strings.Cut(value, ":")
			field, grain, _ := strings.Cut(field, "/")
			a.GroupBy = append(a.GroupBy, wire.GroupKey{Field: field, As: as, Grain: wire.Grain(grain)})
		case strings.Contains(word, "("):
			fn, of, _ := strings.Cut(word, "(")
			field, as, _ := strings.Cut(of, "):")
			a.Measures = append(a.Measures, wire.Measure{Fn: wire.AggFunc(fn), Field: field, As: as})
		case strings.Contains(word, ">"):
			part := strings.Split(word+">", ">")
			var hop wire.JoinHop
			for one := range strings.SplitSeq(part[2], ",") {
				if field, as, _ := strings.Cut(one, ":"); field != "" {
					hop.Fields = append(hop.Fields, wire.JoinField{Field: field, As: as})
				}
			}
			hop.FromTable, hop.FromField, _ = strings.Cut(part[0], ".")
			hop.ToTable, hop.ToField, _ = strings.Cut(part[1], ".")
			q.Joins = append(q.Joins, hop)
		case strings.Contains(name, "."):
			field, op, _ := strings.Cut(name, ".")
			f := cells.Filter(field, wire.Op(op), cellsOf(value)...)
			if last := len(q.Or) - 1; last >= 0 {
				q.Or[last] = append(q.Or[last], f)
			} else {
				q.And = append(q.And, f)
			}
		default:
			q.Fields = strings.Split(word, ",")
		}
	}
	a.Joins, a.Where = q.Joins, q.Where
	switch kind {
	case "query":
		return q
	case "count":
		return &wire.CountRequest{Table: table, Where: q.Where}
	case "aggregate":
		return a
	case "size":
		return &wire.SizeRequest{Table: table}
	case "cardinality":
		return &wire.CardinalityRequest{Table: table, Columns: q.Fields}
	}
	from, to, _ := strings.Cut(table, ">")
	link.FromTable, link.FromColumn, _ = strings.Cut(from, ".")
	link.ToTable, link.ToColumn, _ = strings.Cut(to, ".")
	return link
}

// query returns a query in the words of a question.
func query(words string) *wire.QueryRequest { return question("query " + words).(*wire.QueryRequest) }

// groups returns an aggregate in the words of a question.
func groups(words string) *wire.AggregateRequest {
	return question("aggregate " + words).(*wire.AggregateRequest)
}

// ask asks a question, and returns the answer as text and what it took.
func ask(t testing.TB, c *platform.Connection, q wire.Request) (text string, stats platform.Stats, err error) {
	t.Helper()
	switch q := q.(type) {
	case *wire.QueryRequest:
		var rows [][]wire.Value
		answer, err := c.Query(t.Context(), q)
		if err != nil {
			return "", stats, err
		}
		for row, failed := range answer.All() {
			if err = failed; err == nil {
				rows = append(rows, slices.Clone(row))
			}
		}
		return fmt.Sprint(rows), answer.Stats, err
	case *wire.CountRequest:
		n, stats, err := c.Count(t.Context(), q)
		return fmt.Sprint(n), stats, err
	case *wire.AggregateRequest:
		groups, err := c.Aggregate(t.Context(), q)
		if err != nil {
			return "", stats, err
		}
		return fmt.Sprint(groups.Rows), groups.Stats, nil
	case *wire.SizeRequest:
		size, stats, err := c.Size(t.Context(), q.Table)
		return string(testkit.Must(json.Marshal(size))(t)), stats, err
	case *wire.CardinalityRequest:
		counts, stats, err := c.Cardinality(t.Context(), q.Table, q.Columns...)
		return string(testkit.Must(json.Marshal(counts))(t)), stats, err
	}
	rate, stats, err := c.LinkHitRate(t.Context(), q.(*wire.LinkHitRateRequest))
	if err != nil {
		return "", stats, err
	}
	return fmt.Sprint(rate.FromNonNull, rate.OrphanCount, rate.OrphanRate, rate.OrphanSamples), stats, nil
}

// answered returns the answer to a question, which has one.
func answered(t testing.TB, c *platform.Connection, words string) (string, platform.Stats) {
	t.Helper()
	text, stats, err := ask(t, c, question(words))
	require.NoError(t, err, words)
	return text, stats
}

// workOf returns what an answer took: F, S, W for the filters, the sort and the window that the connector served, what was
// done here, the number of requests and of rows that were read.
func workOf(s platform.Stats) string {
	var list []string
	for _, part := range []struct {
		done bool
		word string
	}{{s.Served.Filters, "F"}, {s.Served.Sort, "S"}, {s.Served.Window, "W"}, {s.Filtered, "filtered"}, {s.Sorted, "sorted"},
		{s.Windowed, "windowed"}, {s.Joined, "joined"}, {s.Folded, "folded"}, {s.Counted, "counted"}} {
		if part.done {
			list = append(list, part.word)
		}
	}
	return strings.Join(append(list, fmt.Sprint(s.Requests), fmt.Sprint(s.RowsRead)), " ")
}

// cellsOf reads cells, which are written in JSON.
func cellsOf(words string) (cells []wire.Value) {
	for word := range strings.FieldsSeq(words) {
		var v wire.Value
		if err := v.UnmarshalJSON([]byte(word)); err != nil {
			panic(err)
		}
		cells = append(cells, v)
	}
	return cells
}
