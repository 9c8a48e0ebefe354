package protocol

import (
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// unknownFieldChecks returns the checks about fields that the table does not have.
func unknownFieldChecks() []session.Check {
	const fix = "Look every field of a request up before the first row, and refuse the request with the field's name."
	return []session.Check{
		{ID: "P3.4a", Phase: 3, Judge: unknownIn(inFields), Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Title: "an unknown field in fields is refused",
			Fix:   fix},
		{ID: "P3.4b", Phase: 3, Judge: unknownIn(inSort), Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Needs: session.NeedsSort,
			Title: "an unknown field in sort is refused",
			Fix:   fix},
		{ID: "P3.4c", Phase: 3, Weight: 12, Judge: unknownIn(inFilters(wire.PathQuery)),
			Rules: []string{"filter-11", "filter-11c"},
			Title: "an unknown field in a filter of /query is refused",
			Fix:   fix},
		{ID: "P3.4d", Phase: 3, Weight: 12, Needs: needsRoute(wire.PathCount), Judge: unknownIn(inFilters(wire.PathCount)),
			Rules: []string{"count-2", "filter-11c"},
			Title: "an unknown field in a filter of /count is refused",
			Fix:   fix},
		{ID: "P3.4e", Phase: 3, Weight: 12, Needs: needsRoute(wire.PathAggregate), Judge: unknownIn(inAggregate),
			Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Title: "an unknown field of /aggregate is refused, or declined",
			Fix:   fix},
		{ID: "P3.4f", Phase: 3, Weight: 12, Judge: unknownIn(inGroups),
			Rules: []string{"filter-11", "filter-11c"},
			Title: "an unknown field in an or group of any route is refused",
			Fix:   fix},
	}
}

// The codes that the checks about unknown fields accept [rule filter-11].
var (
	filterCodes = []wire.Code{wire.CodeUnsupported, wire.CodeBadRequest}
	fieldCodes  = []wire.Code{wire.CodeUnknownEntity, wire.CodeUnsupported, wire.CodeBadRequest}
)

// place is where a request names a field: a member of the body that names an unknown
// field, beside the field that exists.
type place struct {
	path, member, json string
	codes              []wire.Code
	needs              func(*session.Document) string // nil: always
}

// unknownIn returns a judge that names an unknown field in all places, and in the first
// of them of a table without rows, where nobody would look.
func unknownIn(places func(known, unknown string) []place) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		topic, f := run.ExistingTopic()
		if f != nil {
			return f
		}
		lists := [][]wrongBody{placed(run, topic, places)}
		if empty := emptyTopic(run); empty.Table != nil {
			bodies := placed(run, empty, places)
			lists = append(lists, bodies[:min(1, len(bodies))])
		}
		return refusesAll(run, inTurn(lists))
	}
}

// placed returns the bodies that name an unknown field of a table.
func placed(run *session.Run, topic session.Topic, places func(known, unknown string) []place) (list []wrongBody) {
	for _, p := range places(session.Quoted(topic.Field), session.Quoted(session.UnusedField)) {
		if p.needs != nil && p.needs(run.Document) != "" {
			continue
		}
		for _, r := range run.MountedAt(p.path) {
			list = append(list, wrongBody{
				route: r, text: run.Legal(r, topic).With(p.member, p.json).Text(),
				what:  "an unknown field of table " + wire.QuoteName(topic.Name) + " in " + p.member,
				codes: p.codes, declinable: true,
			})
		}
	}
	return list
}

// emptyTopic returns a topic without rows, if discovery lists one.
func emptyTopic(run *session.Run) session.Topic {
	for _, t := range run.SmallestFirst() {
		if t.RowCount != nil && *t.RowCount == 0 && len(t.Fields) > 0 {
			return session.Topic{Table: t, Name: t.Name, Field: t.Fields[0].Name}
		}
	}
	return session.Topic{}
}

func inFields(known, unknown string) []place {
	return []place{{path: wire.PathQuery, member: "fields", json: "[" + known + "," + unknown + "]", codes: fieldCodes}}
}

func inSort(known, unknown string) []place {
	first := `{"field":` + unknown + `,"dir":"asc"}`
	return []place{
		{path: wire.PathQuery, member: "sort", json: "[" + first + "]", codes: fieldCodes},
		{path: wire.PathQuery, member: "sort", json: `[{"field":` + known + `,"dir":"desc"},` + first + "]", codes: fieldCodes,
			needs: session.NeedsSorts},
	}
}

// inFilters returns filters on an unknown field: in each shape, behind a filter on a
// field that exists, and behind two that no row passes.
func inFilters(path string) func(known, unknown string) []place {
	return func(known, unknown string) (list []place) {
		for _, json := range unknownFilters(known, unknown) {
			list = append(list, place{path: path, member: "and", json: json, codes: filterCodes})
		}
		return list
	}
}

func unknownFilters(known, unknown string) []string {
	return []string{
		`[{"field":` + unknown + `,"op":"eq","value":"x"}]`,
		`[{"field":` + known + `,"op":"notnull"},{"field":` + unknown + `,"op":"in","values":["x"]}]`,
		`[{"field":` + known + `,"op":"isnull"},{"field":` + known + `,"op":"notnull"},` +
			`{"field":` + unknown + `,"op":"eq","value":"x"}]`,
		`[{"field":` + unknown + `,"op":"isnull"}]`,
	}
}

// inGroups returns or blocks with an unknown field, whose value could be known without
// looking at it.
func inGroups(known, unknown string) (list []place) {
	filter := `{"field":` + unknown + `,"op":"eq","value":"x"}`
	for _, json := range []string{
		"[[],[" + filter + "]]",
		`[[{"field":` + known + `,"op":"notnull"}],[{"field":` + known + `,"op":"isnull"},` + filter + "]]",
	} {
		for _, path := range []string{wire.PathQuery, wire.PathCount, wire.PathAggregate} {
			list = append(list, place{path: path, member: "or", json: json, codes: filterCodes})
		}
	}
	return list
}

func inAggregate(known, unknown string) []place {
	of := func(member, json string) place {
		return place{path: wire.PathAggregate, member: member, json: json, codes: fieldCodes}
	}
	filter := of("and", unknownFilters(known, unknown)[0])
	filter.codes = filterCodes
	return []place{
		of("groupBy", `[{"field":`+unknown+`,"as":"g"}]`),
		filter,
		of("measures", `[{"fn":"count","as":"n"},{"fn":"max","field":`+unknown+`,"as":"m"}]`),
		of("groupBy", `[{"field":`+known+`,"as":"g"},{"field":`+unknown+`,"as":"h"}]`),
		of("measures", `[{"fn":"count","field":`+unknown+`,"as":"n"}]`),
	}
}
