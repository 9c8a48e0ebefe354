package killtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// repaired returns a connector whose requests to a path are put right by edit before
// they are answered, instead of being refused.
func repaired(path string, edit func(body map[string]any)) func() http.Handler {
	return over(usual, requests(path, edit))
}

// nearTable puts a table's name right.
func nearTable(member string, same func(name, right string) bool) func(body map[string]any) {
	return func(body map[string]any) {
		for _, t := range corpus.Tables() {
			if same(textOf(body[member]), t.Name) {
				body[member] = t.Name
			}
		}
	}
}

func trimmed(name, right string) bool { return strings.TrimSpace(name) == right }

// nearField returns the right name of a field of the body's table.
func nearField(body map[string]any, name string, same func(name, right string) bool) string {
	t, _ := corpusTable(textOf(body["table"]))
	for _, f := range t.Fields {
		if same(name, f.Name) {
			return f.Name
		}
	}
	return name
}

// nearFields puts the names of fields in a list right.
func nearFields(member string, same func(name, right string) bool) func(body map[string]any) {
	return func(body map[string]any) {
		for _, object := range listOf(body, member) {
			if name, ok := object["field"].(string); ok {
				object["field"] = nearField(body, name, same)
			}
		}
	}
}

const isUnlisted = "a name that discovery does not list is unknown"

// nearNameFaults look a name up without regard to its case, or trim it.
var nearNameFaults = []fault{
	broken("tables of /query in any case", isUnlisted, "P3.14a", repaired(wire.PathQuery, nearTable("table", strings.EqualFold))),
	broken("tables of /count with blanks", isUnlisted, "P3.14a", repaired(wire.PathCount, nearTable("table", trimmed))),
	broken("tables of /size in any case", isUnlisted, "P3.14a", repaired(wire.PathSize, nearTable("table", strings.EqualFold))),
	broken("targets of /linkHitRate in any case", isUnlisted, "P3.14a",
		repaired(wire.PathLinkHitRate, nearTable("toTable", strings.EqualFold))),
	broken("fields of filters in any case", isUnlisted, "P3.14b", repaired(wire.PathQuery, nearFields("and", strings.EqualFold))),
	broken("fields of /count with blanks", isUnlisted, "P3.14b", repaired(wire.PathCount, nearFields("and", trimmed))),
	broken("sort keys with blanks", isUnlisted, "P3.14b", repaired(wire.PathQuery, nearFields("sort", trimmed))),
	broken("group keys in any case", isUnlisted, "P3.14b", repaired(wire.PathAggregate, nearFields("groupBy", strings.EqualFold))),
	broken("counted columns in any case", isUnlisted, "P3.14b", repaired(wire.PathCardinality, func(body map[string]any) {
		columns := alternatives(body, "columns")
		wrong := func(c any) bool { return nearField(body, textOf(c), strings.EqualFold) != textOf(c) }
		if i := slices.IndexFunc(columns, wrong); i >= 0 {
			body["columns"] = columns[:i]
		}
	})),
}

// unknownTo reports whether a filter, a key or a measure names a field that a table does not have.
func unknownTo(table string, object map[string]any) bool {
	t, known := corpusTable(table)
	name, ok := object["field"].(string)
	return known && ok && t.Field(name) == nil
}

// dropping returns a function that drops the objects that name unknown fields from a
// list, if when holds for the place of the object.
func dropping(member string, when func(body map[string]any, at int) bool) func(body map[string]any) {
	return func(body map[string]any) {
		kept, all := []any{}, listOf(body, member)
		for i, object := range all {
			if !unknownTo(textOf(body["table"]), object) || !when(body, i) {
				kept = append(kept, object)
			}
		}
		if len(kept) < len(all) {
			body[member] = kept
		}
	}
}

func always(map[string]any, int) bool { return true }

func laterOnes(_ map[string]any, at int) bool { return at > 0 }

func ofEmptyTable(body map[string]any, _ int) bool { return body["table"] == "empty_table" }

// groupsOfOr drops unknown filters of or groups.
func groupsOfOr(body map[string]any) {
	for i, group := range alternatives(body, "or") {
		of := map[string]any{"table": body["table"], "and": group}
		dropping("and", always)(of)
		alternatives(body, "or")[i] = of["and"]
	}
}

const isRefused = "a field that the table does not have is refused"

// unseenFieldFaults ignore an unknown field where nobody looks.
var unseenFieldFaults = []fault{
	broken("unknown filters over no rows", isRefused, "P3.4c", repaired(wire.PathQuery, dropping("and", ofEmptyTable))),
	broken("unknown filters of a count over no rows", isRefused, "P3.4: filters of /count",
		repaired(wire.PathCount, dropping("and", ofEmptyTable))),
	broken("unknown sort keys over no rows", isRefused, "P3.4: sort of /query", repaired(wire.PathQuery, dropping("sort", ofEmptyTable))),
	broken("unknown filters of an aggregate", isRefused, "P3.4: /aggregate", repaired(wire.PathAggregate, dropping("and", always))),
	broken("unknown filters in or of a count", isRefused, "P3.4: an or group", repaired(wire.PathCount, groupsOfOr)),
	broken("unknown filters in or of an aggregate", isRefused, "P3.4: an or group", repaired(wire.PathAggregate, groupsOfOr)),
	broken("an unknown second sort key", isRefused, "P3.4: sort of /query", repaired(wire.PathQuery, dropping("sort", laterOnes))),
	broken("an unknown second group key", isRefused, "P3.4: /aggregate", repaired(wire.PathAggregate, dropping("groupBy", laterOnes))),
	broken("an unknown second measure", isRefused, "P3.4: /aggregate", repaired(wire.PathAggregate, dropping("measures", laterOnes))).
		behind("P2.18", "its measures of joined columns are unknown to the base table"),
	broken("filters behind one that no row passes", isRefused, "P3.4c", repaired(wire.PathQuery, func(body map[string]any) {
		ops := map[any]bool{}
		for _, f := range listOf(body, "and") {
			ops[f["op"]] = true
		}
		if ops["isnull"] && ops["notnull"] {
			dropping("and", always)(body)
		}
	})),
}

// hopWhere repairs the hops whose member names nothing that exists.
func hopWhere(path string, exists func(hop map[string]any) bool) func() http.Handler {
	return repaired(path, func(body map[string]any) {
		for _, h := range listOf(body, "joins") {
			if _, known := corpusTable(textOf(body["table"])); known && !exists(h) {
				delete(body, "joins")
			}
		}
	})
}

// hopNames reports whether a hop names a table that there is, or a field that its table has.
func hopNames(table, field string) func(h map[string]any) bool {
	return func(h map[string]any) bool {
		t, known := corpusTable(textOf(h[table]))
		if field == "" {
			return known
		}
		return !known || t.Field(textOf(h[field])) != nil
	}
}

const notInSource = "a table or column the source does not have"

// hopNameFaults do not look up what a hop names.
var hopNameFaults = []fault{
	broken("hops to an unknown table", notInSource, "P3.15a", hopWhere(wire.PathQuery, hopNames("toTable", ""))),
	broken("hops from an unknown table", notInSource, "P3.15a", hopWhere(wire.PathQuery, hopNames("fromTable", ""))),
	broken("hops to an unknown field", notInSource, "P3.15a", hopWhere(wire.PathQuery, hopNames("toTable", "toField"))),
	broken("hops from an unknown field", notInSource, "P3.15a", hopWhere(wire.PathQuery, hopNames("fromTable", "fromField"))),
	broken("unknown joined fields", notInSource, "P3.15a", hopWhere(wire.PathQuery, func(h map[string]any) bool {
		return !slices.ContainsFunc(listOf(h, "fields"), func(f map[string]any) bool { return unknownTo(textOf(h["toTable"]), f) })
	})),
	broken("hops of an aggregate to an unknown table", notInSource, "P3.15a", hopWhere(wire.PathAggregate, hopNames("toTable", ""))),
	broken("unknown filters beside a join", notInSource, "P3.15b",
		repaired(wire.PathQuery, dropping("and", func(body map[string]any, _ int) bool { return body["joins"] != nil }))),
	broken("joined names that clash", "two columns of one name are refused", "A.21",
		repaired(wire.PathQuery, func(body map[string]any) {
			hops := listOf(body, "joins")
			if len(hops) == 2 && textOf(listOf(hops[0], "fields")[0]["as"]) == textOf(listOf(hops[1], "fields")[0]["as"]) {
				body["joins"] = []any{hops[0]}
			}
		})),
}
