package protocol

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hopChecks returns the checks about joins that name what does not exist.
func hopChecks() []session.Check {
	return []session.Check{
		{ID: "P3.15a", Phase: 3, Weight: 14, Needs: session.NeedsJoin, Judge: unknownInHops,
			Rules: []string{"filter-11a", "query-14", "error-5", "filter-11c"},
			Title: "an unknown table or field in a hop is refused",
			Fix:   "Look up every table and field of every hop before the first row: nulls in their place hide a wrong name."},
		{ID: "P3.15b", Phase: 3, Weight: 8, Needs: session.NeedsJoin, Judge: unknownBesideHops,
			Rules: []string{"filter-11", "filter-11a", "query-6c", "filter-11c"},
			Title: "an unknown field beside a join is refused",
			Fix:   "Look the fields of a request up whether it has joins or not."},
		{ID: "A.21", Phase: 3, Advice: true, Needs: session.NeedsJoin, Judge: clashingNames,
			Rules: []string{"query-6b", "verdict-14"},
			Title: "two columns of one name are refused",
			Fix:   "Answer 400 when a joined field would have the name of another column: a row cannot hold both."},
	}
}

// hop returns a hop from the topic's table to itself, with some members replaced.
func hop(topic session.Topic, as string, replaced ...session.Member) string {
	table, field := session.Quoted(topic.Name), session.Quoted(topic.Field)
	p := session.Payload{
		{Name: "fromTable", JSON: table}, {Name: "toTable", JSON: table},
		{Name: "fromField", JSON: field}, {Name: "toField", JSON: field},
		{Name: "fields", JSON: fmt.Sprintf(`[{"field":%s,"as":%q,"type":"string"}]`, field, as)},
	}
	for _, m := range replaced {
		p = p.With(m.Name, m.JSON)
	}
	return string(p.Text())
}

func unknownInHops(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	table, field := session.Quoted(session.UnusedTable), session.Quoted(session.UnusedField)
	var list []wrongBody
	for _, r := range run.MountedAt(wire.PathQuery, wire.PathAggregate) {
		for _, c := range []struct {
			what string
			session.Member
		}{
			{"toTable", session.Member{Name: "toTable", JSON: table}},
			{"toField", session.Member{Name: "toField", JSON: field}},
			{"fields", session.Member{Name: "fields", JSON: `[{"field":` + field + `,"as":"joined","type":"string"}]`}},
			{"fromField", session.Member{Name: "fromField", JSON: field}},
			{"fromTable", session.Member{Name: "fromTable", JSON: table}},
		} {
			list = append(list, wrongBody{
				route: r, text: run.Legal(r, topic).With("joins", "["+hop(topic, "joined", c.Member)+"]").Text(),
				what: "an unknown name in " + c.what + " of a hop", codes: fieldCodes, declinable: true,
			})
		}
	}
	return refusesAll(run, list)
}

func unknownBesideHops(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	known, unknown := session.Quoted(topic.Field), session.Quoted(session.UnusedField)
	var list []wrongBody
	for _, p := range []place{
		inFilters(wire.PathQuery)(known, unknown)[0],
		inFields(known, unknown)[0],
		inSort(known, unknown)[0],
		inAggregate(known, unknown)[1],
	} {
		for _, r := range run.MountedAt(p.path) {
			list = append(list, wrongBody{
				route: r, text: run.Legal(r, topic).With("joins", "["+hop(topic, "joined")+"]").With(p.member, p.json).Text(),
				what: "an unknown field in " + p.member + " beside a join", codes: p.codes, declinable: true,
			})
		}
	}
	return refusesAll(run, list)
}

func clashingNames(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	r := session.RouteAt(wire.PathQuery)
	legal := run.Legal(r, topic)
	var list []wrongBody
	for _, joins := range []string{
		"[" + hop(topic, topic.Field) + "]",
		"[" + hop(topic, "joined") + "," + hop(topic, "joined") + "]",
	} {
		list = append(list, wrongBody{
			route: r, text: legal.With("joins", joins).Text(), what: "two columns of one name",
			codes: []wire.Code{wire.CodeBadRequest},
		})
	}
	return refusesAll(run, list)
}
