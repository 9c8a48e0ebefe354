package connectortest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tickets is a source that pushes filters to an upstream with pages, as a connector
// over a REST API does. Its bug, if any, is an ordinary mistake.
type tickets struct {
	rows [][]wire.Value // of the upstream
	bug  string
}

var ticketTable = wire.Table{
	Name: "tickets", SourceDescription: "Tickets of a help desk.", PrimaryKey: []string{"id"}, StoresRows: true,
	Fields: []wire.Field{
		{Name: "id", SourceColumn: "id", Type: wire.TypeNumber, Unique: true},
		{Name: "status", SourceColumn: "status", Type: wire.TypeString},
		{Name: "subject", SourceColumn: "subject", Type: wire.TypeString},
		{Name: "priority", SourceColumn: "priority", Type: wire.TypeNumber},
		{Name: "assignee", SourceColumn: "assignee", Type: wire.TypeReference, Nullable: true},
		{Name: "opened", SourceColumn: "opened", Type: wire.TypeDatetime},
	},
}

// newTickets returns a source over tickets made up from a seed.
func newTickets(seed uint64, bug string) tickets {
	random := rand.New(rand.NewPCG(seed, 0))
	s := tickets{bug: bug}
	pick := func(list ...string) wire.Value { return wire.Text(list[random.IntN(len(list))]) }
	for id := range 110 + random.IntN(50) {
		assignee := pick("ada", "alan", "grace")
		if random.IntN(4) == 0 {
			assignee = wire.Null()
		}
		opened := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(365*24*60)) * time.Minute)
		s.rows = append(s.rows, []wire.Value{
			wire.Int(int64(id + 1)), pick("Open", "Waiting", "Closed"), pick("printer", "login", "invoice", "Printer"),
			wire.Int(int64(random.IntN(5))), assignee, wire.Datetime(opened),
		})
	}
	return s
}

func (tickets) Check(context.Context, *wire.CheckRequest) error { return nil }

func (s tickets) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{ticketTable}}, nil
}

func (s tickets) Describe(_ context.Context, _ wire.Credentials, name string) (*wire.Table, error) {
	if name != ticketTable.Name {
		return nil, connector.UnknownEntity("there is no table %q", name)
	}
	return &ticketTable, nil
}

// Size answers the total that the upstream states.
func (s tickets) Size(context.Context, *wire.SizeRequest) (*wire.Size, error) {
	return &wire.Size{Rows: int64(len(s.rows)), Exact: true}, nil
}

// page is the size of the upstream's pages.
const page = 50

// Query pushes every filter that the upstream knows, and reads page by page.
func (s tickets) Query(_ context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	if req.Table != ticketTable.Name {
		return connector.UnknownEntity("there is no table %q", req.Table)
	}
	rows, all := s.rows, len(req.Or) == 0
	for _, f := range req.And {
		at := slices.IndexFunc(ticketTable.Fields, func(g wire.Field) bool { return g.Name == f.Field })
		matches := s.pushed(f)
		if at < 0 || matches == nil {
			all = false
			continue
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(row []wire.Value) bool { return !matches(row[at]) })
	}
	if all {
		out.Claim(connector.Served{Filters: true})
	}
	columns, places := ticketTable.Columns(), []int{0, 1, 2, 3, 4, 5}
	if s.bug == "columns swapped under a projection" && len(req.Fields) < len(columns) {
		places[1], places[2] = 2, 1
	}
	w := out.Begin(columns)
	for start := 0; start == 0 || start < len(rows); start += page {
		part := rows[start:min(start+page, len(rows))]
		switch {
		case s.bug == "only the first page" && start > 0:
			return nil
		case s.bug == "the last row of a page is lost" && len(part) == page:
			part = part[:page-1]
		case s.bug == "pages overlap" && start > 0:
			part = rows[start-1 : min(start+page, len(rows))]
		}
		for _, row := range part {
			cells := make([]wire.Value, len(row))
			for i, at := range places {
				cells[i] = row[at]
			}
			if err := w.Row(cells...); err != nil {
				return err
			}
		}
	}
	return nil
}

// pushed returns a filter as the upstream evaluates it, or nil if it knows none.
func (s tickets) pushed(f wire.Filter) func(wire.Value) bool {
	text := func(v wire.Value) string { return v.String() }
	instant := func(v wire.Value) time.Time {
		at, _ := time.Parse(time.RFC3339Nano, text(v))
		return at
	}
	switch {
	case f.Field == "status" && f.Op == wire.OpEq && f.Value.Kind() == wire.KindText:
		want := text(f.Value)
		if s.bug == "the status is lower-cased" {
			want = strings.ToLower(want)
		}
		return func(v wire.Value) bool { return text(v) == want }
	case f.Field == "status" && f.Op == wire.OpIn:
		values := f.Values
		if s.bug == "in sends its first value" {
			values = values[:min(1, len(values))]
		}
		return func(v wire.Value) bool {
			return slices.ContainsFunc(values, func(o wire.Value) bool { return !o.IsNull() && text(o) == text(v) })
		}
	case f.Field == "priority" && f.Op == wire.OpGte && f.Value.Kind() == wire.KindInt:
		return func(v wire.Value) bool {
			return v.Int64() > f.Value.Int64() || v.Int64() == f.Value.Int64() && s.bug != "gte is pushed as gt"
		}
	case f.Field == "opened" && (f.Op == wire.OpGte || f.Op == wire.OpLt) && !instant(f.Value).IsZero():
		edge := instant(f.Value)
		if s.bug == "an hour off" {
			edge = edge.Add(time.Hour)
		}
		return func(v wire.Value) bool { return instant(v).Before(edge) == (f.Op == wire.OpLt) }
	case f.Field == "assignee" && f.Op == wire.OpNeq && f.Value.Kind() == wire.KindText:
		return func(v wire.Value) bool {
			return text(v) != text(f.Value) && (!v.IsNull() || s.bug == "neq keeps unassigned tickets")
		}
	case f.Field == "subject" && f.Op == wire.OpIncludes && f.Value.Kind() == wire.KindText:
		fold := func(s string) string { return s }
		if s.bug == "a search folds case" {
			fold = strings.ToLower
		}
		return func(v wire.Value) bool { return strings.Contains(fold(text(v)), fold(text(f.Value))) }
	}
	return nil
}

var seeds = flag.Uint64("seeds", 1, "how many sets of tickets each push-down fault is looked for in")

// Run finds every ordinary mistake, whatever the rows, and none in the source without
// one.
func TestRunFindsPushDownFaults(t *testing.T) {
	missed := []string{"gte is pushed as gt", "a search folds case"}
	for _, bug := range []string{
		"", "the status is lower-cased", "in sends its first value", "gte is pushed as gt", "an hour off", "neq keeps unassigned tickets",
		"a search folds case", "columns swapped under a projection", "only the first page", "the last row of a page is lost", "pages overlap",
	} {
		for seed := range *seeds {
			t.Run(fmt.Sprintf("%s/%d", bug, seed), func(t *testing.T) {
				t.Parallel()
				found := findings(grade(t, newTickets(seed, bug), &conformance.Options{Seed: seed + 1, Requests: testrun.Budget(500)}))
				if len(found) == 0 && slices.Contains(missed, bug) {
					t.Skip("the mode live does not find it yet")
				}
				assert.Equal(t, bug != "", len(found) > 0, "%q", found)
			})
		}
	}
}
