package conformance

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// protocolChecks are phase 3: how a connector behaves whatever its data, which
// is why its checks run against live data too.
func protocolChecks() []Check {
	return slices.Concat(discoveryChecks(), unknownEntityChecks(), malformedChecks(), unknownFieldChecks(), slowChecks(),
		streamChecks(), undeclaredChecks(), answerChecks())
}

// needsEndpoint is the condition that a route is mounted.
func needsEndpoint(path string) func(*document) string { return routeAt(path).needs }

// unusedTable and unusedField are names that no source has.
const (
	unusedTable = "conformance_no_such_table"
	unusedField = "conformance_no_such_field"
)

// some is a topic of a table that exists; the check is blocked when discovery
// fails, and skipped when there is none.
func (x *exam) some() topic {
	x.discovery(0)
	of := x.topic()
	if of.table == nil {
		x.skip(NoData, "no table with a field that filters may name")
	}
	return of
}

// unknownEntityChecks are P3.2: tables and columns that the source does not
// have.
func unknownEntityChecks() []Check {
	const (
		rule   = "protocol, Errors; F3"
		quote  = "unknown entity gives 404"
		fix    = "Look the table up before anything else is done with the request, and answer 404 unknown_entity with its name."
		column = "Look the column up before it is measured, and answer 404 unknown_entity with its name."
	)
	row := func(id, title, path, fix string, judge func(x *exam)) Check {
		return Check{ID: id, Phase: 3, Title: title, Rule: rule, Quote: quote, Fix: fix, needs: needsEndpoint(path), judge: judge}
	}
	unknownTable := func(path string) func(*exam) {
		return func(x *exam) {
			r := routeAt(path)
			a := x.body(r, x.legal(r, topic{name: unusedTable, field: "id"}).text())
			if path == wire.PathAggregate && declines(a) {
				return
			}
			x.refuses(a, path+" of a table that does not exist", wire.CodeUnknownEntity)
		}
	}
	return []Check{
		row("P3.2a", "/query of an unknown table gives 404 unknown_entity", wire.PathQuery, fix, unknownTable(wire.PathQuery)),
		row("P3.2b", "/count of an unknown table gives 404 unknown_entity", wire.PathCount, fix, unknownTable(wire.PathCount)),
		row("P3.2c", "/aggregate of an unknown table gives 404 unknown_entity, or is declined", wire.PathAggregate, fix, unknownTable(wire.PathAggregate)),
		row("P3.2d", "/size of an unknown table gives 404 unknown_entity", wire.PathSize, fix, unknownTable(wire.PathSize)),
		row("P3.2e", "/cardinality of an unknown table gives 404 unknown_entity", wire.PathCardinality, fix, unknownTable(wire.PathCardinality)),
		row("P3.2f", "/cardinality of an unknown column gives 404 unknown_entity", wire.PathCardinality, column, func(x *exam) {
			of, r := x.some(), routeAt(wire.PathCardinality)
			columns := "[" + quoted(of.field) + "," + quoted(unusedField) + "]"
			x.refuses(x.body(r, x.legal(r, of).with("columns", columns).text()), "/cardinality of a column that does not exist", wire.CodeUnknownEntity)
		}),
		row("P3.2g", "/linkHitRate of an unknown table or column gives 404 unknown_entity", wire.PathLinkHitRate, column, func(x *exam) {
			of, r := x.some(), routeAt(wire.PathLinkHitRate)
			for _, c := range []struct{ member, name string }{
				{"fromTable", unusedTable}, {"toTable", unusedTable}, {"fromColumn", unusedField}, {"toColumn", unusedField},
			} {
				x.refuses(x.body(r, x.legal(r, of).with(c.member, quoted(c.name)).text()), "/linkHitRate with a "+c.member+" that does not exist", wire.CodeUnknownEntity)
			}
		}),
	}
}

// declines tells whether an aggregate was declined, which is always legal.
func declines(a *answer) bool { return a.err == nil && a.status == 204 }

// unknownFieldChecks are P3.4: fields that the table does not have.
func unknownFieldChecks() []Check {
	const (
		filter = "A filter naming a field that does not exist is refused with 422, never answered with unfiltered rows."
		other  = "a table or column the source does not have"
		fix    = "Look every field of a request up before the first row, and refuse the request with the field's name."
	)
	row := func(id, title, rule, quote, path string, judge func(x *exam)) Check {
		return Check{ID: id, Phase: 3, Title: title, Rule: rule, Quote: quote, Fix: fix, needs: needsEndpoint(path), judge: judge}
	}
	// What a judge accepts (A11).
	filterCodes := []wire.Code{wire.CodeUnsupported, wire.CodeBadRequest}
	otherCodes := []wire.Code{wire.CodeUnknownEntity, wire.CodeUnsupported, wire.CodeBadRequest}
	return []Check{
		row("P3.4a", "an unknown field in fields is refused", "protocol, Errors; A11", other, wire.PathQuery, func(x *exam) {
			of := x.some()
			x.unknownField(of, wire.PathQuery, "fields", "["+quoted(of.field)+","+quoted(unusedField)+"]", otherCodes)
		}),
		{
			ID: "P3.4b", Phase: 3, Title: "an unknown field in sort is refused", Rule: "protocol, Errors; A11", Quote: other, Fix: fix,
			needs: func(d *document) string {
				if d.Capabilities.Sort == wire.SortNone {
					return "capabilities.sort is none"
				}
				return ""
			},
			judge: func(x *exam) {
				x.unknownField(x.some(), wire.PathQuery, "sort", `[{"field":`+quoted(unusedField)+`,"dir":"asc"}]`, otherCodes)
			},
		},
		row("P3.4c", "an unknown field in a filter of /query is refused", "protocol, /query 3; A11", filter, wire.PathQuery, func(x *exam) {
			of := x.some()
			for _, filter := range unknownFilters(of.field) {
				x.unknownField(of, wire.PathQuery, "and", filter, filterCodes)
			}
		}),
		row("P3.4d", "an unknown field in a filter of /count is refused", "protocol, /count; A11", "The same unknown-field rule as in `/query` applies.", wire.PathCount, func(x *exam) {
			of := x.some()
			for _, filter := range unknownFilters(of.field) {
				x.unknownField(of, wire.PathCount, "and", filter, filterCodes)
			}
		}),
		row("P3.4e", "an unknown field in groupBy or in a measure of /aggregate is refused, or declined", "protocol, Errors; A11", other, wire.PathAggregate, func(x *exam) {
			of := x.some()
			x.unknownField(of, wire.PathAggregate, "groupBy", `[{"field":`+quoted(unusedField)+`,"as":"g"}]`, otherCodes)
			x.unknownField(of, wire.PathAggregate, "measures", `[{"fn":"count","field":`+quoted(unusedField)+`,"as":"n"}]`, otherCodes)
			x.unknownField(of, wire.PathAggregate, "measures", `[{"fn":"max","field":`+quoted(unusedField)+`,"as":"n"}]`, otherCodes)
		}),
		row("P3.4f", "an unknown field in an or group is refused", "protocol, /query 3; A11", filter, wire.PathQuery, func(x *exam) {
			of := x.some()
			for _, filter := range unknownFilters(of.field) {
				x.unknownField(of, wire.PathQuery, "or", "[[],"+filter+"]", filterCodes)
			}
		}),
	}
}

// unknownFilters name a field that does not exist: in each shape, and behind one
// that does.
func unknownFilters(field string) []string {
	unused := quoted(unusedField)
	return []string{
		`[{"field":` + unused + `,"op":"eq","value":"x"}]`,
		`[{"field":` + quoted(field) + `,"op":"notnull"},{"field":` + unused + `,"op":"in","values":["x"]}]`,
		`[{"field":` + unused + `,"op":"isnull"}]`,
	}
}

// unknownField posts a body whose member names a field that does not exist.
func (x *exam) unknownField(of topic, path, member, json string, codes []wire.Code) {
	r := routeAt(path)
	a := x.body(r, x.legal(r, of).with(member, json).text())
	if path == wire.PathAggregate && declines(a) {
		x.cases++
		return
	}
	x.refuses(a, path+" of table "+wire.QuoteName(of.name)+" with an unknown field in "+member, codes...)
}
