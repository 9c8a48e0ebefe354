// Package refusal asks a connector what it must refuse. A check about it is a table of rows:
// each makes a legal body illegal in one place and names the codes that may refuse it.
package refusal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Row is one way to make the legal body of a route illegal.
//
// In its texts, %table and %field stand for a table and a field that exist, and %noTable and %noField for such that do
// not. %near1 and %near2 are names that differ from that of the table or the field which the member names in their
// case, or in a blank; the row is left out if they exist too.
type Row struct {
	Paths  []string // of the routes that are asked if the document lists them; nil: all routes
	Member string   // the member that is added or replaced; empty: none
	JSON   string   // its value; empty: the member is removed, where the body has it
	Joins  string   // the value of joins, a further member; empty: none
	// Body is sent instead of the legal body, which it may hold as %body, without its last byte
	// as %cut, and with the tenant's credentials as %credentials. Empty: it is not replaced.
	Body string
	// What says what is wrong, behind the path: "with two JSON values". Empty: it is made of the member and its value.
	What  string
	Codes []wire.Code                     // nil: bad_request
	Needs func(*declared.Document) string // as that of a check; nil: always
}

// Table is what a check asks.
type Table struct {
	Rows []Row
	// About returns the table and the field of the bodies. Nil: a table that exists.
	About func(*session.Run) (payload.Topic, *check.Finding)
	// Empty asks the first row about a table without rows too, where nobody would look.
	Empty bool
	// InTurn asks one row of each route after the other, each route from another part of the rows on.
	InTurn bool
	// Declinable lets an aggregate be declined with 204 instead.
	Declinable bool
}

// ExistingTopic returns a topic whose table exists. The check is blocked when
// discovery fails, and skipped when there is no such table.
func ExistingTopic(run *session.Run) (payload.Topic, *check.Finding) {
	if _, f := run.Discovery(0); f != nil {
		return payload.Topic{}, f
	}
	topic := run.Topic()
	if topic.Table == nil {
		return topic, check.Skip(check.NoData, "no table with a field that filters may name")
	}
	return topic, nil
}

// AnyTable returns a table if there is one. Without one, only the routes that name none are asked.
func AnyTable(run *session.Run) (payload.Topic, *check.Finding) { return run.Topic(), nil }

// NoTable returns a table that does not exist.
func NoTable(*session.Run) (payload.Topic, *check.Finding) {
	return payload.Topic{Table: &wire.Table{}, Name: payload.UnusedTable, Field: "id"}, nil
}

// body is a body that must be refused.
type body struct {
	path  string
	text  string
	what  string
	codes []wire.Code
}

// Judge sends the bodies until one is not refused. If the run has a budget of requests, it sends
// no more than the Weight of the check, and than it may. It is the Judge of a check.
func (t Table) Judge(run *session.Run) *check.Finding {
	about := t.About
	if about == nil {
		about = ExistingTopic
	}
	topic, f := about(run)
	if f != nil {
		return f
	}
	bodies := t.bodies(run, topic)
	if run.Requests > 0 {
		const few = 6 // of a check that has no Weight
		bodies = bodies[:min(len(bodies), cmp.Or(run.Check.Weight, few))]
	}
	for _, b := range bodies {
		if run.Spent(1) {
			return nil
		}
		a := run.Exchange(session.Call{Path: b.path, Body: []byte(b.text)})
		if t.Declinable && b.path == wire.PathAggregate && a.Declined() {
			run.Cases++
			continue
		}
		if f := mustRefuse(run, a, b.path+" "+b.what, b.codes...); f != nil {
			return f
		}
	}
	return nil
}

// mustRefuse counts a case and returns what is wrong with an answer that must be a refusal with one of the codes. A
// refusal under the right status whose envelope or code is wrong belongs to the checks about these.
func mustRefuse(run *session.Run, a *session.Answer, what string, codes ...wire.Code) *check.Finding {
	run.Cases++
	f := a.RefusedWith(codes...)
	if f == nil {
		return nil
	}
	if slices.ContainsFunc(codes, func(c wire.Code) bool { return a.Err == nil && c.Status() == a.Status }) {
		e := a.Refusal()
		switch {
		case e == nil:
			return check.Block("P3.10a", "a refusal is not in the error envelope")
		case e.Code.Status() != a.Status || e.Code == wire.CodeCheckFailed:
			return check.Block("P3.10b", "a refusal of %d has the code %s", a.Status, terms.QuoteName(string(e.Code)))
		}
	}
	return f.In("%s is %s", what)
}

// bodies returns the bodies in the order in which they are sent.
func (t Table) bodies(run *session.Run, topic payload.Topic) (all []body) {
	if t.InTurn {
		var routes, turns [][]body // turns: the first bodies of all routes, their second ones, and so on
		for _, path := range run.Document.Paths(true) {
			var list []body
			for _, row := range t.Rows {
				list = row.appendBody(list, run, path, topic)
			}
			if len(list) > 0 {
				routes = append(routes, list)
			}
		}
		for n, list := range routes {
			first := n * len(list) / len(routes) // so that the routes are asked every row before one is asked twice
			for i := range list {
				if i == len(turns) {
					turns = append(turns, nil)
				}
				turns[i] = append(turns[i], list[(i+first)%len(list)])
			}
		}
		return slices.Concat(turns...)
	}
	for i, row := range t.Rows {
		for _, path := range run.Document.Paths(true) {
			all = row.appendBody(all, run, path, topic)
		}
		if t.Empty && i == 0 && len(all) > 0 {
			if empty := emptyTopic(run); empty.Table != nil {
				all = row.appendBody(all, run, all[0].path, empty)
			}
		}
	}
	return all
}

// emptyTopic returns a topic without rows, if discovery lists one.
func emptyTopic(run *session.Run) payload.Topic {
	for _, t := range run.SmallestFirst() {
		if t.RowCount != nil && *t.RowCount == 0 && len(t.Fields) > 0 {
			return payload.Topic{Table: t, Name: t.Name, Field: t.Fields[0].Name}
		}
	}
	return payload.Topic{}
}

// appendBody appends the body of a route, if the row is about the route.
func (row *Row) appendBody(list []body, run *session.Run, path string, topic payload.Topic) []body {
	legal := run.Legal(path, topic)
	nameless := path == wire.PathCheck || path == wire.PathDiscovery
	near := row.near(run, topic)
	switch {
	case row.Paths != nil && !slices.Contains(row.Paths, path),
		row.Needs != nil && row.Needs(run.Document) != "",
		topic.Table == nil && !nameless,
		row.Member != "" && row.JSON == "" && !legal.Has(row.Member),
		near == "" && strings.Contains(row.JSON, "%near"):
		return list
	}
	names := []string{
		"%table", topic.Name, "%field", topic.Field, "%noTable", payload.UnusedTable, "%noField", payload.UnusedField,
		"%near1", near, "%near2", near,
	}
	what, quoted := slices.Clone(names), slices.Clone(names)
	for i := 1; i < len(names); i += 2 {
		what[i], quoted[i] = terms.QuoteName(names[i]), payload.Quote(names[i])
	}
	b := body{path: path, text: row.text(legal, strings.NewReplacer(quoted...)), codes: row.Codes}
	if b.codes == nil {
		b.codes = []wire.Code{wire.CodeBadRequest}
	}
	if row.Body != "" {
		quoted = append(quoted, "%body", b.text, "%cut", b.text[:len(b.text)-1], "%credentials", string(run.Tenants[0].JSON))
		b.text = strings.NewReplacer(quoted...).Replace(row.Body)
	}
	switch b.what = strings.NewReplacer(what...).Replace(row.What); {
	case row.What != "":
	case row.JSON == "":
		b.what = "with no member " + row.Member
	default:
		b.what = "with " + row.Member + ": " + strings.NewReplacer(quoted...).Replace(row.JSON)
	}
	return append(list, b)
}

// text returns the legal body with the members that the row changes.
func (row *Row) text(legal payload.Object, names *strings.Replacer) string {
	if row.Joins != "" {
		legal = legal.With("joins", names.Replace(row.Joins))
	}
	switch {
	case row.Member == "":
	case row.JSON == "":
		legal = legal.Without(row.Member)
	default:
		legal = legal.With(row.Member, names.Replace(row.JSON))
	}
	return string(legal.Text())
}

// near returns the first or the second name that differs only in case or in blanks from the one
// that the member names, or "" if the source has it.
func (row *Row) near(run *session.Run, topic payload.Topic) string {
	if !strings.Contains(row.JSON, "%near") {
		return ""
	}
	d, f := run.Discovery(0)
	if f != nil {
		return ""
	}
	name, exists := topic.Field, func(name string) bool { return topic.Table.Field(name) != nil }
	if slices.Contains([]string{"table", "fromTable", "toTable"}, row.Member) {
		name, exists = topic.Name, func(name string) bool { return d.Lookup[name] != nil }
	}
	other := strings.ToUpper(name)
	if other == name {
		other = strings.ToLower(name)
	}
	near := []string{other, name + " "}
	if other == name { // it has no case
		near = []string{name + " ", " " + name}
	}
	if strings.Contains(row.JSON, "%near2") {
		near = near[1:]
	}
	if exists(near[0]) {
		return ""
	}
	return near[0]
}
