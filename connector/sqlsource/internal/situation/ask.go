package situation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Request is a request of a section: the last part of its path, and its body without what all have.
type Request struct{ Route, Body string }

// Parse returns a request in one line.
func Parse(line string) Request {
	route, body, _ := strings.Cut(strings.TrimSpace(line), " ")
	return Request{route, body}
}

// usual are the members of a route that need not be written.
var usual = map[string]string{
	wire.PathQuery:     `, "and": [], "sort": []`,
	wire.PathCount:     `, "and": []`,
	wire.PathAggregate: fmt.Sprintf(`, "and": [], "groupBy": [], "measures": [], "limit": %d`, wire.AggregateLimit),
}

// Path returns the path of the route.
func (r Request) Path() string { return "/" + r.Route }

// Decode returns the request as a message.
func (r Request) Decode(t testing.TB) wire.Request {
	t.Helper()
	return r.As(t, nil)
}

// As returns the request as a message of a tenant.
func (r Request) As(t testing.TB, credentials map[string]string) wire.Request {
	t.Helper()
	route := routes.At(r.Path())
	require.NotNil(t, route, "no route %q", r.Route)
	m, _ := route.Request()
	members := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(`{"credentials": {}, "timeoutMs": 300000`+usual[route.Path]+`}`), &members))
	own := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal([]byte(cmp.Or(r.Body, "{}")), &own), r.Body)
	for name, value := range own {
		members[name] = value
	}
	if credentials != nil {
		members["credentials"] = credentials
	}
	body, err := json.Marshal(members)
	require.NoError(t, err)
	require.NoError(t, wire.Decode(body, m), r.Body)
	return m
}

// Blocks returns a text with other answers. A line that begins with # says why, one that begins
// with a route asks, and goes on until its JSON ends. All others are the answer before.
func Blocks(text string, answer func(Request) string) string {
	var b strings.Builder
	var open Request
	flush := func() {
		if open.Route != "" {
			b.WriteString(answer(open))
			open = Request{}
		}
	}
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		next := Request{word, rest}
		switch {
		case strings.HasPrefix(line, "#"):
			flush()
			b.WriteString(line)
		case open.Route != "" && !json.Valid([]byte(cmp.Or(open.Body, "{}"))):
			open.Body += line
			b.WriteString(line)
		case routes.At(next.Path()) != nil:
			flush()
			open = next
			b.WriteString(line)
		}
	}
	flush()
	return b.String()
}

// Asking asks as one tenant. Ordered says that rows have an order without a sort too.
type Asking struct {
	Tenant  *connectortest.Tenant
	Ordered bool
}

// Ask asks a request in one line, and returns what [Asking.Answer] does.
func Ask(t *testing.T, tenant *connectortest.Tenant, line string) string {
	t.Helper()
	return (&Asking{Tenant: tenant}).Answer(t, Parse(line))
}

// Answer asks a request, and returns the answer in lines: of JSON, or what went wrong.
func (a *Asking) Answer(t *testing.T, r Request) string {
	t.Helper()
	lines, err := a.ask(t, r.Decode(t))
	var refusal *wire.Error
	switch {
	case errors.Is(err, connector.ErrDecline):
		lines = []string{"declined"}
	case errors.As(err, &refusal):
		if len(lines) > 0 {
			lines = []string{"rows, and then"}
		}
		lines = append(lines, fmt.Sprintf("%s: %s", refusal.Code, refusal.Message))
	default:
		require.NoError(t, err, r.Body)
	}
	return strings.Join(append(lines, ""), "\n")
}

// ask returns the answer to a request in lines. An error may stand beside rows before it.
func (a *Asking) ask(t *testing.T, m wire.Request) (lines []string, err error) {
	t.Helper()
	tenant := a.Tenant.In(t)
	switch q := m.(type) {
	case *wire.CheckRequest:
		return nil, tenant.Check()
	case *wire.DiscoveryRequest:
		found, err := tenant.Discover()
		if err != nil {
			return nil, err
		}
		for i := range found.Tables {
			lines = append(lines, strings.TrimSuffix(described(&found.Tables[i]), "\n"))
		}
		return append(lines, found.Warnings...), nil
	case *wire.SizeRequest:
		size, err := tenant.Size(q.Table)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("%d exact %t", size.Rows, size.Exact)}, nil
	case *wire.CountRequest:
		n, err := tenant.Count(*q)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprint(n)}, nil
	case *wire.QueryRequest:
		answer, err := tenant.Query(*q)
		if answer == nil {
			return nil, err
		}
		return Lines(answer.Rows, a.Ordered || len(q.Sort) > 0), err
	case *wire.CardinalityRequest:
		counts, err := tenant.Cardinality(q.Table, q.Columns...)
		for _, name := range q.Columns {
			if c := counts[name]; c != nil {
				lines = append(lines, fmt.Sprintf("%s %d distinct of %d", name, c.Distinct, c.NonNull))
			} else if err == nil {
				lines = append(lines, name+" unknown")
			}
		}
		return lines, err
	case *wire.AggregateRequest:
		groups, err := tenant.Aggregate(*q)
		rows := make([][]wire.Value, len(groups))
		for i, group := range groups {
			for _, k := range q.GroupBy {
				rows[i] = append(rows[i], group[k.As])
			}
			for _, m := range q.Measures {
				rows[i] = append(rows[i], group[m.As])
			}
		}
		return Lines(rows, false), err
	case *wire.LinkHitRateRequest:
		rate, err := tenant.LinkHitRate(*q)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("%d not null, %d orphans %q", rate.FromNonNull, rate.OrphanCount, rate.OrphanSamples)}, nil
	}
	panic(fmt.Sprintf("no route of a %T", m))
}

// Lines returns rows as JSON, each in a line: sorted, unless their order is part of the answer.
func Lines(rows [][]wire.Value, ordered bool) []string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		line := []byte{'['}
		for j, v := range row {
			if j > 0 {
				line = append(line, ", "...)
			}
			line, _ = v.AppendJSON(line)
		}
		lines[i] = string(append(line, ']'))
	}
	if !ordered {
		slices.Sort(lines)
	}
	return lines
}

// WholeTables returns all rows of all tables.
func (a *Asking) WholeTables(t *testing.T) string {
	t.Helper()
	tenant := a.Tenant.In(t)
	found, err := tenant.Discover()
	require.NoError(t, err)
	var b bytes.Buffer
	for _, table := range found.Tables {
		fmt.Fprintln(&b, shown(table.Name))
		q := wire.QueryRequest{Table: table.Name, Sort: []wire.SortKey{}}
		for _, f := range table.Fields {
			q.Fields = append(q.Fields, f.Name)
		}
		answer, err := tenant.Query(q)
		require.NoError(t, err, table.Name)
		for _, line := range Lines(answer.Rows, a.Ordered) {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}
