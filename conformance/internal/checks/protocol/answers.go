package protocol

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func discoveryChecks() []session.Check {
	return []session.Check{
		{ID: "P3.1a", Phase: 3, Judge: discoveryValid,
			Rules: []string{"discovery-3", "discovery-1", "discovery-5", "discovery-6"},
			Title: "/discovery answers a valid body",
			Fix: "Compare the answer with the rulebook's section on discovery; " +
				"every member that is not optional must be there, empty arrays included."},
		{ID: "P3.1b", Phase: 3, Judge: discoveryConsistent, Rules: []string{"discovery-8"},
			Title: "names, keys and foreign keys of the discovery refer to what exists",
			Fix:   "Name every table and field once, and in keys only fields that the same discovery lists."},
		{ID: "P3.1c", Phase: 3, Judge: tablesRead, Rules: []string{"tenant-9", "query-16", "route-4"},
			Title: "every discovered table within the row budget can be read",
			Fix: "Leave tables that these credentials cannot read out of the discovery. " +
				"If it is a fault of the connector, its log has the cause."},
	}
}

func discoveryValid(run *session.Run) *check.Finding {
	_, f := run.Discovery(0)
	if f == nil {
		return nil
	}
	// Once more, for what was expected and received.
	_, again := run.Post(wire.PathDiscovery, &wire.DiscoveryRequest{}).Decode()
	return cmp.Or(again, f)
}

func discoveryConsistent(run *session.Run) *check.Finding {
	d, f := run.Discovery(0)
	if f != nil {
		return f
	}
	names := map[string]bool{}
	for i := range d.Tables {
		t := &d.Tables[i]
		run.Cases++
		switch {
		case t.Name == "":
			return check.Fail("a table has an empty name")
		case names[t.Name]:
			return check.Fail("two tables are called %s", terms.QuoteName(t.Name))
		}
		names[t.Name] = true
		if f := tableConsistent(d, t); f != nil {
			return f
		}
	}
	return nil
}

func tableConsistent(d *session.Discovery, t *wire.Table) *check.Finding {
	table := "table " + terms.QuoteName(t.Name)
	fields := map[string]bool{}
	for _, f := range t.Fields {
		switch {
		case f.Name == "":
			return check.Fail("%s has a field with an empty name", table)
		case fields[f.Name]:
			return check.Fail("%s has two fields called %s", table, terms.QuoteName(f.Name))
		}
		fields[f.Name] = true
	}
	keys := map[string]bool{}
	for _, key := range t.PrimaryKey {
		switch {
		case !fields[key]:
			return check.Fail("the primary key of %s names %s, which is no field of it", table, terms.QuoteName(key))
		case keys[key]:
			return check.Fail("the primary key of %s names %s twice", table, terms.QuoteName(key))
		}
		keys[key] = true
	}
	for _, k := range t.ForeignKeys {
		if !fields[k.Field] {
			return check.Fail("a foreign key of %s is on %s, which is no field of it", table, terms.QuoteName(k.Field))
		}
		switch target := d.Lookup[k.TargetTable]; {
		case target == nil:
			return check.Fail("the foreign key %s of %s leads to table %s, which discovery does not list",
				terms.QuoteName(k.Field), table, terms.QuoteName(k.TargetTable))
		case target.Field(k.TargetField) == nil:
			return check.Fail("the foreign key %s of %s leads to field %s of table %s, which has none of that name",
				terms.QuoteName(k.Field), table, terms.QuoteName(k.TargetField), terms.QuoteName(k.TargetTable))
		}
	}
	return nil
}

func tablesRead(run *session.Run) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	tables := run.SmallestFirst()
	if len(tables) == 0 {
		return check.Skip(check.NoData, "no tables")
	}
	for _, t := range tables {
		rows, f := run.Table(t)
		if f != nil {
			return f
		}
		if rows != nil {
			run.Cases++
		}
	}
	return run.Judged("no table within the row budget")
}

func streamChecks() []session.Check {
	return check.Family(session.Check{Phase: 3, Watched: true, Judge: (*session.Run).ReadSomeTables}, []session.Check{
		{ID: "P3.6a", Rules: []string{"stream-10"},
			Title: "a stream's content type is application/x-ndjson",
			Fix:   "Send Content-Type: " + terms.MediaNDJSON + " with the rows of /query."},
		{ID: "P3.6b", Rules: []string{"stream-1", "stream-10"},
			Title: "a stream has known lines only, and served once, before any row",
			Fix:   "Write served, rows, ping, end and error lines as the protocol describes them, served first."},
		{ID: "P3.6c", Rules: []string{"stream-6"},
			Title: "a batch holds 1 to 5,000 rows",
			Fix:   "Cut batches at 5,000 rows, and write none that is empty."},
		{ID: "P3.6d", Rules: []string{"stream-6"},
			Title: "a line is at most 16 MiB",
			Fix:   "Cut batches by their bytes too, and answer an error line for a row that does not fit into a line."},
		{ID: "P3.6e", Rules: []string{"stream-1", "stream-3"},
			Title: "nothing follows the end or error line",
			Fix:   "Close the stream after end, or after error, whichever comes first."},
		{ID: "P3.6f", Rules: []string{"cell-5"},
			Title: "a row is an object of strings, numbers, booleans and nulls",
			Fix:   "Write arrays and JSON as JSON text inside a string, every member once, and text as UTF-8."},
		{ID: "P3.6g", Rules: []string{"stream-13"},
			Title: "no stream closes without end or error",
			Fix:   "Write end when the last row is out, and error when something failed on the way."},
	})
}

// answerChecks returns the checks about answers that are no streams, and about what no answer may hold.
func answerChecks() []session.Check {
	asked := false
	provoked := func(run *session.Run) *check.Finding {
		if !asked {
			provokeRefusals(run)
		}
		asked = true
		return nil
	}
	return []session.Check{
		{ID: "P3.10a", Phase: 3, Watched: true, Judge: provoked, Rules: []string{"error-1"},
			Title: "every error answer is the envelope",
			Fix:   "Let one function write all errors, those of the router and of proxies in front of it included."},
		{ID: "P3.10b", Phase: 3, Watched: true, Judge: provoked, Rules: []string{"http-9"},
			Title: "status and code of an error belong together",
			Fix:   "Derive the status from the code, by the protocol's table."},
		{ID: "P3.10c", Phase: 3, Watched: true, Judge: provoked, Rules: []string{"error-8"},
			Title: "an internal error says only internal error",
			Fix:   "Write the cause to the log and the fixed text to the answer."},
		{ID: "P3.11a", Phase: 3, Judge: answerShapes, Rules: []string{"route-3"},
			Title: "every JSON answer is a wrapped object of the route's shape",
			Fix:   "Compare the answer with the shape in the rulebook's section on the route; counts are JSON integers."},
		{ID: "P3.11b", Phase: 3, Watched: true, Judge: anyDiscovery, Rules: []string{"http-10"},
			Title: "a JSON answer is at most 32 MiB",
			Fix:   "Leave samples out of the discovery before it grows beyond the limit, and refuse what would."},
		{ID: "P3.11c", Phase: 3, Judge: measuresConsistent, Rules: []string{"measure-2", "measure-8", "measure-13"},
			Needs: declared.NeedsAny(wire.PathCardinality, wire.PathLinkHitRate),
			Title: "measurements agree with themselves",
			Fix: "Compute the rate from the two counts that are answered; " +
				"distinct values are among the non-null ones, and orphans among the non-null keys."},
		{ID: "P3.12", Phase: 3, Watched: true, Judge: provoked, Rules: []string{"tenant-6"},
			Title: "no answer holds the token or a credential",
			Fix: "Quote neither requests nor upstream errors in answers; scrub what must be quoted. " +
				"If the tenant's own data hold this text by chance, give this run other credentials."},
	}
}

// anyDiscovery ensures that there is a JSON answer to judge.
func anyDiscovery(run *session.Run) *check.Finding {
	_, f := run.Discovery(0)
	return f
}

// provokeRefusals ensures that there were error answers, with requests that invite a connector to quote them.
func provokeRefusals(run *session.Run) {
	for i, c := range provocations(run) {
		if i > 0 && run.Allowance() == 0 {
			return
		}
		run.Exchange(c)
	}
}

// provocations returns bodies that are cut or have a wrong member, of every route and
// tenant, then such that name what does not exist.
func provocations(run *session.Run) (calls []session.Call) {
	topic := run.Topic()
	for tenant := range run.Tenants {
		for i, path := range run.Document.Paths(true) {
			body := run.Legal(path, topic).With("credentials", string(run.Tenants[tenant].JSON))
			text := body.Text()
			cut := session.Call{Path: path, Body: text[:len(text)-1]}
			wrong := session.Call{Path: path, Body: body.With("timeoutMs", `"soon"`).Text()}
			if i < 2 || run.Requests == 0 {
				calls = append(calls, cut, wrong)
			} else {
				calls = append(calls, []session.Call{cut, wrong}[i%2])
			}
		}
	}
	unused := payload.Topic{Name: payload.UnusedTable, Field: payload.UnusedField}
	filter := strings.ReplaceAll(unknownFilter, "%noField", payload.Quote(payload.UnusedField))
	for _, path := range run.Document.Paths(true) {
		if body := run.Legal(path, unused); body.Has("table") || body.Has("fromTable") {
			calls = append(calls, session.Call{Path: path, Body: body.Text()})
		}
		if body := run.Legal(path, topic); body.Has("and") {
			calls = append(calls, session.Call{Path: path, Body: body.With("and", filter).Text()})
		}
	}
	return calls
}

// maxMeasured is how many tables are measured to see the form of the answers.
const maxMeasured = 4

func answerShapes(run *session.Run) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	tables := measurable(run)
	paths := slices.DeleteFunc(run.Document.Paths(true), func(path string) bool { return routes.At(path).Always })
	switch {
	case len(paths) == 0:
		return check.Skip(check.NotDeclared, "endpoints lists no optional route")
	case len(tables) == 0:
		return check.Skip(check.NoData, "no tables")
	}
	for _, t := range tables[:min(len(tables), maxMeasured)] {
		for _, path := range paths {
			if run.Cases > len(paths) && run.Allowance() == 0 {
				return nil
			}
			if f := answerShape(run, path, t); f != nil {
				return f
			}
		}
	}
	return nil
}

func answerShape(run *session.Run, path string, t *wire.Table) *check.Finding {
	topic := payload.Topic{Table: t, Name: t.Name}
	if len(t.Fields) > 0 {
		topic.Field = t.Fields[0].Name
	} else if path == wire.PathCardinality || path == wire.PathLinkHitRate {
		return nil
	}
	run.Cases++
	a := run.Exchange(session.Call{Path: path, Body: run.Legal(path, topic).Text()})
	if path == wire.PathAggregate && a.Declined() {
		return nil
	}
	name := "table " + terms.QuoteName(t.Name)
	m, f := a.Decode()
	if f != nil {
		return f.In("%s of %s: %s", path, name)
	}
	switch m := m.(type) {
	case *wire.CardinalityAnswer:
		if _, ok := m.Columns[topic.Field]; !ok {
			return check.Differs("columns with a member "+topic.Field, a.Describe(),
				"/cardinality of %s leaves out the column that was asked for", name)
		}
	case *wire.AggregateAnswer:
		for _, row := range m.Rows {
			if _, ok := row["n"]; !ok {
				return check.Differs("rows with a member n", a.Describe(), "/aggregate of %s leaves out the measure n that was asked for", name)
			}
		}
	}
	return nil
}

// measurable returns the tables that store rows, small ones first. What stores none need not be measurable as a whole.
func measurable(run *session.Run) []*wire.Table {
	return slices.DeleteFunc(run.SmallestFirst(), func(t *wire.Table) bool { return !t.StoresRows })
}

func measuresConsistent(run *session.Run) *check.Finding {
	d, f := run.Discovery(0)
	if f != nil {
		return f
	}
	tables := measurable(run)
	for i, t := range tables[:min(len(tables), maxMeasured)] {
		if i > 0 && run.Allowance() == 0 {
			break
		}
		if run.Document.Offers(wire.PathCardinality) {
			if f := cardinalityConsistent(run, t); f != nil {
				return f
			}
		}
	}
	if run.Document.Offers(wire.PathLinkHitRate) {
		for i, req := range linksToMeasure(d, tables) {
			if i > 0 && run.Allowance() == 0 {
				break
			}
			if f := linkConsistent(run, req); f != nil {
				return f
			}
		}
	}
	return run.Judged("no table has fields")
}

func cardinalityConsistent(run *session.Run, t *wire.Table) *check.Finding {
	req := &wire.CardinalityRequest{Table: t.Name}
	for _, f := range t.Fields[:min(len(t.Fields), 16)] {
		req.Columns = append(req.Columns, f.Name)
	}
	if len(req.Columns) == 0 {
		return nil
	}
	run.Cases++
	m, f := run.Post(wire.PathCardinality, req).Decode()
	if f != nil {
		return check.Block("P3.11a", "%s", f.Detail)
	}
	for _, column := range req.Columns {
		if c := m.(*wire.CardinalityAnswer).Columns[column]; c != nil && (c.Distinct > c.NonNull || c.Distinct == 0 && c.NonNull > 0) {
			return check.Differs("at least one distinct value where there is a value, and at most as many as there are values",
				fmt.Sprintf("nonNull %d, distinct %d", c.NonNull, c.Distinct),
				"/cardinality of %s.%s", terms.QuoteName(t.Name), terms.QuoteName(column))
		}
	}
	return nil
}

// linksToMeasure returns the declared links, and some of tables with themselves.
func linksToMeasure(d *session.Discovery, tables []*wire.Table) (list []*wire.LinkHitRateRequest) {
	for _, t := range tables {
		for _, k := range t.ForeignKeys {
			if d.Target(k) != nil && len(list) < maxMeasured {
				list = append(list, &wire.LinkHitRateRequest{
					FromTable: t.Name, FromColumn: k.Field, ToTable: k.TargetTable, ToColumn: k.TargetField,
				})
			}
		}
	}
	most := len(list) + 2
	for _, t := range tables {
		if len(t.Fields) > 0 && len(list) < most {
			// Most values of the last field are no values of the first: there are orphans.
			first, last := t.Fields[0].Name, t.Fields[len(t.Fields)-1].Name
			list = append(list, &wire.LinkHitRateRequest{FromTable: t.Name, FromColumn: last, ToTable: t.Name, ToColumn: first})
		}
	}
	return list
}

const maxRateError = 0.001

func linkConsistent(run *session.Run, req *wire.LinkHitRateRequest) *check.Finding {
	run.Cases++
	a := run.Post(wire.PathLinkHitRate, req)
	answer, f := a.Decode()
	if f != nil {
		return check.Block("P3.11a", "%s", f.Detail)
	}
	m, rate := answer.(*wire.LinkHitRate), 0.0
	if m.FromNonNull > 0 {
		rate = float64(m.OrphanCount) / float64(m.FromNonNull)
	}
	expected := ""
	switch {
	case m.OrphanCount > m.FromNonNull:
		expected = "at most as many orphans as non-null keys"
	case math.Abs(rate-m.OrphanRate) > maxRateError:
		expected = fmt.Sprintf("orphanRate %.6g, which is orphanCount over fromNonNull, 0 over nothing", rate)
	case int64(len(m.OrphanSamples)) > m.OrphanCount:
		expected = "at most as many samples as orphans"
	default:
		return nil
	}
	return check.Differs(expected, a.Describe(), "/linkHitRate of %s.%s to %s.%s", terms.QuoteName(req.FromTable),
		terms.QuoteName(req.FromColumn), terms.QuoteName(req.ToTable), terms.QuoteName(req.ToColumn))
}
