package sqlsourcetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// wrong is what is wrong with an answer.
type wrong struct {
	detail string
	asIf   func() string // completes "as if"; nil or "": nothing that is known would answer so
}

func refused(err error) *wrong { return &wrong{detail: "the connector refused: " + err.Error()} }

// differs returns what is wrong with an answer that differs from the right one so, or nil.
func differs(d *oracle.Difference) *wrong {
	if d == nil {
		return nil
	}
	return &wrong{detail: d.String()}
}

// judged is a test whose end, which a client brings about that cannot read an answer, is a wrong answer.
type judged struct{ testing.TB }

type unreadable string

// Fatalf implements testing.TB.
func (judged) Fatalf(format string, args ...any) { panic(unreadable(fmt.Sprintf(format, args...))) }

// check asks a question and returns what is wrong with the answer, or nil. declined is set if the connector
// left it to the platform.
func (f *fixture) check(t testing.TB, q question) (found *wrong, declined bool) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case unreadable:
			found = &wrong{detail: string(end)}
		default:
			panic(end)
		}
	}()
	tenant := f.server.As(nil).Unverified().In(judged{t})
	switch req := q.message().(type) {
	case *wire.CountRequest:
		return f.checkCount(tenant, q, req), false
	case *wire.AggregateRequest:
		return f.checkAggregate(tenant, req)
	case *wire.LinkHitRateRequest:
		got, err := tenant.LinkHitRate(*req)
		if err != nil {
			return refused(err), false
		}
		return differs(oracle.VerifyLinkHitRate(f.known, req, got)), false
	case *wire.QueryRequest:
		if q.paged {
			return f.checkPages(tenant, req, req.Limit+20), false
		}
		return f.checkQuery(tenant, q, req), false
	}
	panic("a question without a request")
}

// checkQuery compares a query's answer with the one in memory.
func (f *fixture) checkQuery(tenant *connectortest.Tenant, q question, req *wire.QueryRequest) *wrong {
	got, err := tenant.Query(*req)
	if err != nil {
		return refused(err)
	}
	if !got.Served.Filters {
		return &wrong{detail: "the filters were not served"}
	}
	served := *req
	if !got.Served.Sort {
		served.Sort = nil
	}
	if !got.Served.Window {
		served.Limit, served.Offset = 0, 0
	}
	found := differs(f.verify(&served, got.Rows))
	if found == nil {
		found = f.misspelled(req, got.Rows)
	}
	if found != nil && len(req.Joins) == 0 {
		found.asIf = func() string { return q.RowsAsIf(req, &oracle.Table{Rows: got.Rows}) }
	}
	return found
}

// verify compares rows with the right ones. Where a sort or a window asks for an order, the primary key of a
// table that is read alone breaks ties: it ascends, or goes the way of the last key of the sort.
func (f *fixture) verify(req *wire.QueryRequest, rows [][]wire.Value) (first *oracle.Difference) {
	key := f.known[req.Table].PrimaryKey
	if len(req.Sort) == 0 && req.Limit+req.Offset == 0 || len(req.Joins) > 0 || key == nil {
		return oracle.Verify(f.known, req, rows)
	}
	ways := []wire.Direction{wire.Asc}
	if n := len(req.Sort); n > 0 && req.Sort[n-1].Dir == wire.Desc {
		ways = append(ways, wire.Desc)
	}
	for _, dir := range ways {
		total := *req
		total.Sort = slices.Clone(req.Sort)
		for _, name := range key {
			total.Sort = append(total.Sort, wire.SortKey{Field: name, Dir: dir})
		}
		d := oracle.Verify(f.known, &total, rows)
		if d == nil {
			return nil
		}
		if first == nil {
			first = d
		}
	}
	return first
}

// misspelled compares rows, which are the right ones, with the texts of their cells.
func (f *fixture) misspelled(req *wire.QueryRequest, rows [][]wire.Value) *wrong {
	whole := *req
	whole.Limit, whole.Offset, whole.Sort = 0, 0, nil
	right, err := oracle.Query(f.known, &whole)
	if err != nil {
		return &wrong{detail: "the reference cannot answer: " + err.Error()}
	}
	if extra := without(spellAll(rows), spellAll(right.Rows)); len(extra) > 0 {
		return &wrong{detail: "rows are spelled otherwise:" + some(extra)}
	}
	return nil
}

// checkCount compares a count with the one in memory.
func (f *fixture) checkCount(tenant *connectortest.Tenant, q question, req *wire.CountRequest) *wrong {
	want, err := oracle.Count(f.known, req)
	if err != nil {
		return &wrong{detail: "the reference cannot count: " + err.Error()}
	}
	got, err := tenant.Count(*req)
	switch {
	case err != nil:
		return refused(err)
	case got != want:
		return &wrong{fmt.Sprintf("expected a count of %d, got %d", want, got), func() string { return q.CountAsIf(got) }}
	}
	return nil
}

// checkAggregate compares groups with those in memory. It accepts a decline.
func (f *fixture) checkAggregate(tenant *connectortest.Tenant, req *wire.AggregateRequest) (found *wrong, declined bool) {
	got, err := tenant.Aggregate(*req)
	switch {
	case errors.Is(err, connector.ErrDecline):
		return nil, true
	case err != nil:
		return refused(err), false
	}
	return differs(oracle.VerifyGroups(f.known, req, got)), false
}

// checkCardinality compares the counts of all columns. It accepts nil.
func (f *fixture) checkCardinality(tenant *connectortest.Tenant, t *oracle.Table) *wrong {
	got, err := tenant.Cardinality(t.Name, fields(t)...)
	if err != nil {
		return refused(err)
	}
	var problems []string
	for _, name := range fields(t) {
		want, err := oracle.Cardinality(t, name)
		if err != nil {
			return &wrong{detail: "the reference cannot answer: " + err.Error()}
		}
		if c := got[name]; c != nil && *c != want {
			problems = append(problems, fmt.Sprintf("column %s: expected %+v, got %+v", name, want, *c))
		}
	}
	if len(problems) > 0 {
		return &wrong{detail: strings.Join(problems, "\n")}
	}
	return nil
}
