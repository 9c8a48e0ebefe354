package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// discoveryChecks are P3.1: what discovery says can be used.
func discoveryChecks() []Check {
	return []Check{
		{
			ID: "P3.1a", Phase: 3, judge: discoveryValid,
			Title: "/discovery answers a valid body",
			Rule:  "protocol, /discovery; Discovered table",
			Quote: "Answer `{ tables: [Discovered table], warnings?: [string] }`.",
			Fix:   "Hold the answer against the table Discovered table; every member that is not marked as optional must be there, empty arrays included.",
		},
		{
			ID: "P3.1b", Phase: 3, judge: discoveryRefers,
			Title: "names, keys and foreign keys of the discovery refer to what exists",
			Rule:  "protocol, Discovered table",
			Quote: "a key declared unique that is not really unique breaks joins; a foreign key left out means a join the platform never plans",
			Fix:   "Name every table and field once, and in keys only fields that the same discovery lists.",
		},
		{
			ID: wholeTable, Phase: 3, judge: tablesRead,
			Title: "every discovered table within the row budget can be read",
			Rule:  "protocol, What the service does 6",
			Quote: "When the connector declares no server-side capability for something, the platform answers it itself by reading rows through `/query`, so a connector that pushes nothing is correct but slower.",
			Fix:   "Leave a table out of the discovery that these credentials cannot read.",
		},
	}
}

func discoveryValid(x *exam) {
	f := x.attempt(func() { x.discovery(0) })
	if f == nil {
		return
	}
	// Once more, for what was expected and received.
	x.found(x.post(wire.PathDiscovery, &wire.DiscoveryRequest{}).decode("discovery-answer", new(wire.Discovery)))
	x.found(f)
}

func discoveryRefers(x *exam) {
	d := x.discovery(0)
	names := map[string]bool{}
	for _, t := range d.Tables {
		x.cases++
		switch {
		case t.Name == "":
			x.fail("a table has an empty name")
		case names[t.Name]:
			x.fail("two tables are called %s", wire.QuoteName(t.Name))
		}
		names[t.Name] = true
		table := "table " + wire.QuoteName(t.Name)
		fields := map[string]bool{}
		for _, f := range t.Fields {
			switch {
			case f.Name == "":
				x.fail("%s has a field with an empty name", table)
			case fields[f.Name]:
				x.fail("%s has two fields called %s", table, wire.QuoteName(f.Name))
			}
			fields[f.Name] = true
		}
		keys := map[string]bool{}
		for _, key := range t.PrimaryKey {
			switch {
			case !fields[key]:
				x.fail("the primary key of %s names %s, which is no field of it", table, wire.QuoteName(key))
			case keys[key]:
				x.fail("the primary key of %s names %s twice", table, wire.QuoteName(key))
			}
			keys[key] = true
		}
		for _, k := range t.ForeignKeys {
			if !fields[k.Field] {
				x.fail("a foreign key of %s stands on %s, which is no field of it", table, wire.QuoteName(k.Field))
			}
			// A table that is not discovered may be one that these credentials
			// do not see.
			if target := d.tables[k.TargetTable]; target != nil && target.Field(k.TargetField) == nil {
				x.fail("the foreign key %s of %s leads to field %s of table %s, which has none of that name", wire.QuoteName(k.Field), table, wire.QuoteName(k.TargetField), wire.QuoteName(k.TargetTable))
			}
		}
	}
}

func tablesRead(x *exam) {
	x.discovery(0)
	tables := x.tables()
	if len(tables) == 0 {
		x.skip(NoData, "no tables")
	}
	for _, t := range tables {
		if x.table(t) != nil {
			x.cases++
		}
	}
	if x.cases == 0 {
		x.skip(NoData, "no table within the row budget")
	}
}

// streamChecks are P3.6: the form of every stream of the run.
func streamChecks() []Check {
	row := func(id, title, rule, quote, fix string) Check {
		return Check{ID: id, Phase: 3, watched: true, judge: someStreams, Title: title, Rule: rule, Quote: quote, Fix: fix}
	}
	return []Check{
		row("P3.6a", "a stream's content type is application/x-ndjson", "protocol, /query", "Answer: content type `application/x-ndjson`, one JSON object per line, kinds:",
			"Send Content-Type: "+wire.MediaNDJSON+" with the rows of /query."),
		row("P3.6b", "a stream has known lines only, and served once, before any row", "protocol, /query; C1", "first line, before any row; booleans telling which parts of the request were already applied",
			"Write served, rows, ping, end and error lines as the table shows them, served first."),
		row("P3.6c", "a batch holds 1 to 5,000 rows", "protocol, /query; Limits; C6", "between 1 and 5,000 rows",
			"Cut batches at 5,000 rows, and write none that is empty."),
		row("P3.6d", "a line is at most 16 MiB", "protocol, Limits; C6", "one NDJSON line",
			"Cut batches by their bytes too, and answer an error line for a row that no line can hold."),
		row("P3.6e", "nothing follows the end or error line", "protocol, /query", "terminal; no `end` follows",
			"Close the stream after end, or after error, whichever comes first."),
		row("P3.6f", "a row is an object of strings, numbers, booleans and nulls", "protocol, Row values", "A row is an object whose values are string, number, boolean or null.",
			"Write arrays and JSON as JSON text inside a string, every member once, and text as UTF-8."),
		row("P3.6g", "no stream closes without end or error", "protocol, /query 5", "A stream that closes with neither `end` nor `error` is truncated and the reader fails it.",
			"Write end when the last row is out, and error when something failed on the way."),
	}
}

// mostStreamed is how many tables are read for the form of the streams.
const mostStreamed = 16

// someStreams makes sure that there were streams: of the largest table that may
// be read whole, which shows where batches are cut, and of small ones.
func someStreams(x *exam) {
	x.discovery(0)
	tables := x.tables()
	if len(tables) == 0 {
		x.skip(NoData, "no tables")
	}
	for _, t := range tables[:min(len(tables), mostStreamed)] {
		x.table(t)
	}
	var largest *wire.Table
	for _, t := range tables {
		if t.RowCount != nil && *t.RowCount <= int64(x.Rows) && (largest == nil || *t.RowCount > *largest.RowCount) {
			largest = t
		}
	}
	if largest != nil {
		x.table(largest)
	}
}

// answerChecks are P3.10 to P3.12: answers that are no streams, and what none
// may hold.
func answerChecks() []Check {
	const envelope = "Every non-2xx JSON body is `{ error: { code: string, message: string } }`."
	return []Check{
		{
			ID: "P3.10a", Phase: 3, watched: true, judge: someRefusals,
			Title: "every error answer is the envelope",
			Rule:  "protocol, Errors", Quote: envelope,
			Fix: "Let one function write all errors, those of the router and of what stands in front of it included.",
		},
		{
			ID: "P3.10b", Phase: 3, watched: true, judge: someRefusals,
			Title: "status and code of an error belong together",
			Rule:  "protocol, Errors", Quote: "Only deliberately raised errors of the kinds bad request, unauthorized, unknown entity, unsupported and timeout carry their own status; any other thrown error becomes `internal`.",
			Fix: "Derive the status from the code, by the protocol's table.",
		},
		{
			ID: "P3.10c", Phase: 3, watched: true, judge: someRefusals,
			Title: "an internal error says only internal error",
			Rule:  "protocol, Errors; G9", Quote: "anything else; the message is always `internal error`; the real cause goes to the connector's own log",
			Fix: "Write the cause to the log and the fixed text to the answer.",
		},
		{
			ID: "P3.11a", Phase: 3, judge: answersObey,
			Title: "every JSON answer is a wrapped object of the route's shape",
			Rule:  "protocol, Endpoints; Measurement answers", Quote: "Every JSON answer is a wrapped object, never a bare array.",
			Fix: "Hold the answer against the shape that the route's section shows; counts are JSON integers.",
		},
		{
			ID: "P3.11b", Phase: 3, watched: true, judge: func(x *exam) { x.discovery(0) },
			Title: "a JSON answer is at most 32 MiB",
			Rule:  "protocol, Limits", Quote: "JSON answer body",
			Fix: "Leave samples out of the discovery before it grows beyond the limit, and refuse what would.",
		},
		{
			ID: "P3.11c", Phase: 3, judge: measuresAgree,
			needs: func(d *document) string {
				if !d.has(wire.EndpointCardinality) && !d.has(wire.EndpointLinkHitRate) {
					return "endpoints lists neither cardinality nor linkHitRate"
				}
				return ""
			},
			Title: "measurements agree with themselves",
			Rule:  "protocol, Measurement answers; F2", Quote: "`{ fromNonNull: integer, orphanCount: integer, orphanRate: number, orphanSamples: array of at most 20 }`",
			Fix: "Compute the rate from the two counts that are answered; distinct values are among the non-null ones, and orphans among the non-null keys.",
		},
		{
			ID: "P3.12", Phase: 3, watched: true, judge: someRefusals,
			Title: "no answer holds the token or a credential",
			Rule:  "protocol, What the service does 2 and 4", Quote: "Data and metadata of one credential set must never be served to a request with another credential set",
			Fix: "Quote neither requests nor upstream errors in answers; scrub what must be quoted.",
		},
	}
}

// someRefusals makes sure that there were error answers, by requests that
// invite a connector to quote them.
func someRefusals(x *exam) {
	of := x.topic()
	for i := range x.tenants {
		for _, r := range x.mounted() {
			body := x.legal(r, of).with("credentials", string(x.tenants[i].json))
			text := body.text()
			c := to(r, text[:len(text)-1])
			c.tenant = i
			x.send(c)
			c.body = body.with("timeoutMs", `"soon"`).text()
			x.send(c)
		}
	}
	unused := topic{name: unusedTable, field: unusedField}
	for _, r := range x.mounted() {
		if body := x.legal(r, unused); body.has("table") || body.has("fromTable") {
			x.body(r, body.text())
		}
		if body := x.legal(r, of); body.has("and") {
			x.body(r, body.with("and", unknownFilters(of.field)[0]).text())
		}
	}
}

// mostMeasured is how many tables are measured for the form of the answers.
const mostMeasured = 4

func answersObey(x *exam) {
	x.discovery(0)
	tables := x.tables()
	list := slices.DeleteFunc(x.mounted(), func(r route) bool { return r.endpoint == "" })
	switch {
	case len(list) == 0:
		x.skip(NotDeclared, "endpoints lists no optional route")
	case len(tables) == 0:
		x.skip(NoData, "no tables")
	}
	for _, t := range tables[:min(len(tables), mostMeasured)] {
		name := "table " + wire.QuoteName(t.Name)
		for _, r := range list {
			of := topic{t, t.Name, ""}
			if len(t.Fields) > 0 {
				of.field = t.Fields[0].Name
			} else if r.path == wire.PathCardinality || r.path == wire.PathLinkHitRate {
				continue
			}
			x.cases++
			a := x.send(to(r, x.legal(r, of).text()))
			if r.path == wire.PathAggregate && declines(a) {
				continue
			}
			m := map[string]wire.Message{
				wire.PathCount: new(wire.CountAnswer), wire.PathAggregate: new(wire.AggregateAnswer), wire.PathSize: new(wire.SizeAnswer),
				wire.PathCardinality: new(wire.CardinalityAnswer), wire.PathLinkHitRate: new(wire.LinkHitRate),
			}[r.path]
			f := a.decode(answerSchemas[r.path], m)
			if f != nil {
				f.detail = fmt.Sprintf("%s of %s: %s", r.path, name, f.detail)
				x.found(f)
			}
			switch m := m.(type) {
			case *wire.CardinalityAnswer:
				if _, ok := m.Columns[of.field]; !ok {
					x.want("columns with a member "+of.field, a.describe(), "/cardinality of %s leaves out the column that was asked for", name)
				}
			case *wire.AggregateAnswer:
				for _, row := range m.Rows {
					if _, ok := row["n"]; !ok {
						x.want("rows with a member n", a.describe(), "/aggregate of %s leaves out the measure n that was asked for", name)
					}
				}
			}
		}
	}
}

func measuresAgree(x *exam) {
	x.discovery(0)
	tables := x.tables()
	d := x.document()
	for _, t := range tables[:min(len(tables), mostMeasured)] {
		if d.has(wire.EndpointCardinality) {
			x.cardinalityAgrees(t)
		}
	}
	if d.has(wire.EndpointLinkHitRate) {
		for _, req := range x.links(tables) {
			x.linkAgrees(req)
		}
	}
	if x.cases == 0 {
		x.skip(NoData, "no table has fields")
	}
}

func (x *exam) cardinalityAgrees(t *wire.Table) {
	req := &wire.CardinalityRequest{Table: t.Name}
	for _, f := range t.Fields[:min(len(t.Fields), 16)] {
		req.Columns = append(req.Columns, f.Name)
	}
	if len(req.Columns) == 0 {
		return
	}
	x.cases++
	var m wire.CardinalityAnswer
	a := x.post(wire.PathCardinality, req)
	if f := a.decode("cardinality-answer", &m); f != nil {
		x.blocked("P3.11a", f.detail)
	}
	for _, column := range req.Columns {
		if c := m.Columns[column]; c != nil && (c.Distinct > c.NonNull || c.Distinct == 0 && c.NonNull > 0) {
			x.want("at least one distinct value where there is a value, and at most as many as there are values",
				fmt.Sprintf("nonNull %d, distinct %d", c.NonNull, c.Distinct), "/cardinality of %s.%s", wire.QuoteName(t.Name), wire.QuoteName(column))
		}
	}
}

// links are the links to measure: declared ones, and some of tables with
// themselves.
func (x *exam) links(tables []*wire.Table) (list []*wire.LinkHitRateRequest) {
	for _, t := range tables {
		for _, k := range t.ForeignKeys {
			if target := x.discovery(0).tables[k.TargetTable]; target != nil && len(list) < mostMeasured {
				list = append(list, &wire.LinkHitRateRequest{FromTable: t.Name, FromColumn: k.Field, ToTable: k.TargetTable, ToColumn: k.TargetField})
			}
		}
	}
	most := len(list) + 2
	for _, t := range tables {
		if len(t.Fields) > 0 && len(list) < most {
			// Most fields of one table are no keys of another: there are orphans.
			first, last := t.Fields[0].Name, t.Fields[len(t.Fields)-1].Name
			list = append(list, &wire.LinkHitRateRequest{FromTable: t.Name, FromColumn: last, ToTable: t.Name, ToColumn: first})
		}
	}
	return list
}

func (x *exam) linkAgrees(req *wire.LinkHitRateRequest) {
	x.cases++
	var m wire.LinkHitRate
	a := x.post(wire.PathLinkHitRate, req)
	if f := a.decode("link-hit-rate-answer", &m); f != nil {
		x.blocked("P3.11a", f.detail)
	}
	link := fmt.Sprintf("/linkHitRate of %s.%s to %s.%s", wire.QuoteName(req.FromTable), wire.QuoteName(req.FromColumn), wire.QuoteName(req.ToTable), wire.QuoteName(req.ToColumn))
	rate := 0.0
	if m.FromNonNull > 0 {
		rate = float64(m.OrphanCount) / float64(m.FromNonNull)
	}
	switch {
	case m.OrphanCount > m.FromNonNull:
		x.want("at most as many orphans as non-null keys", a.describe(), "%s", link)
	case math.Abs(rate-m.OrphanRate) > roundedRate:
		x.want(fmt.Sprintf("orphanRate %.6g, which is orphanCount over fromNonNull, 0 over nothing", rate), a.describe(), "%s", link)
	case int64(len(m.OrphanSamples)) > m.OrphanCount:
		x.want("at most as many samples as orphans", a.describe(), "%s", link)
	}
}

// roundedRate is how far a rate may be rounded.
const roundedRate = 0.001
