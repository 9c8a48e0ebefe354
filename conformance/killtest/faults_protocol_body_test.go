package killtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// describedTable adds a table without rows to discovery, with members of its own.
func describedTable(name string, members map[string]any) func() http.Handler {
	return over(usual, ok(func(body map[string]any) {
		t := map[string]any{"name": name, "sourceDescription": "", "storesRows": false,
			"primaryKey": []any{}, "foreignKeys": []any{}, "fields": []any{}}
		maps.Copy(t, members)
		body["tables"] = append(body["tables"].([]any), t)
	}, wire.PathDiscovery))
}

// barely answers a member of an answer in its place.
func barely(member, path string) layer {
	return answers(func(body map[string]any, status int) (any, int) {
		if status == http.StatusOK {
			return body[member], status
		}
		return body, status
	}, path)
}

var protocolDiscoveryFaults = []fault{
	broken("discovery as a bare array", "every JSON answer is a wrapped object", "P3.1a",
		over(usual, barely("tables", wire.PathDiscovery))),
	broken("a table without foreignKeys", "foreignKeys is required", "P3.1a",
		over(usual, edits(ofTable("codes", drops("foreignKeys")), wire.PathDiscovery))),
	broken("a primary key of no field", "an array of field names", "P3.1b",
		describedTable("extra", map[string]any{"primaryKey": []any{"key"}})),
	broken("a foreign key to no field", "a foreign key leads to a field of its target", "P3.1b", describedTable("extra", map[string]any{
		"foreignKeys": []any{map[string]any{"field": "a", "targetTable": "codes", "targetField": "nothing"}},
		"fields": []any{map[string]any{"name": "a", "sourceColumn": "a", "type": "string", "nullable": true,
			"unique": false, "samples": []any{}, "sourceDescription": ""}},
	})),
	broken("a foreign key to a table that is not listed", "a foreign key leads to a table of the same discovery", "P3.1b",
		over(usual, edits(ofTable("codes", func(table map[string]any) {
			field := listOf(table, "fields")[0]["name"]
			table["foreignKeys"] = []any{map[string]any{"field": field, "targetTable": "custmers", "targetField": "id"}}
		}), wire.PathDiscovery))).accepted("every row can be read, and a connection notes it"),
	broken("a table that cannot be read", "the platform reads rows of every table through /query", "P3.1c",
		describedTable("ghost", map[string]any{"storesRows": true})),
}

func emptyAnswer(path, answer string, when func(body []byte) bool) func() http.Handler {
	media := map[bool]string{true: terms.MediaNDJSON, false: terms.MediaJSON}[path == wire.PathQuery]
	return over(usual, overtaken(func(r *http.Request) bool {
		body := []byte(bodyOf(r))
		return r.URL.Path == path && r.Header.Get("Authorization") == "Bearer "+testToken && when(body) && legal(path, body)
	}, text(200, media, answer)))
}

const isUnknownEntity = "unknown entity gives 404"

// unknownFaults answer what does not exist.
var unknownFaults = []fault{
	broken("rows of an unknown table", isUnknownEntity, "P3.2: /query", emptyAnswer(wire.PathQuery, `{"end":1}`+"\n", unknownTable)),
	broken("the count of an unknown table", isUnknownEntity, "P3.2: /count", emptyAnswer(wire.PathCount, `{"count":0}`, unknownTable)),
	broken("aggregates of an unknown table", isUnknownEntity, "P3.2: /aggregate", emptyAnswer(wire.PathAggregate, `{"rows":[]}`, unknownTable)),
	broken("the size of an unknown table", isUnknownEntity, "P3.2: /size", emptyAnswer(wire.PathSize, `{"size":null}`, unknownTable)),
	broken("the cardinality of an unknown table", isUnknownEntity, "P3.2: a table of /cardinality",
		emptyAnswer(wire.PathCardinality, `{"columns":{}}`, unknownTable)),
	broken("the cardinality of an unknown column", isUnknownEntity, "P3.2: a column of /cardinality",
		emptyAnswer(wire.PathCardinality, `{"columns":{}}`, func(body []byte) bool {
			tree := parsed(body)
			t, known := corpusTable(textOf(tree["table"]))
			columns, _ := tree["columns"].([]any)
			return known && slices.ContainsFunc(columns, func(c any) bool { return t.Field(textOf(c)) == nil })
		})),
	broken("the hit rate of an unknown table", isUnknownEntity, "P3.2: a table of /linkHitRate",
		emptyAnswer(wire.PathLinkHitRate, `{"fromNonNull":0,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`, unknownTable)),
	broken("the hit rate of an unknown column", isUnknownEntity, "P3.2: a column of /linkHitRate",
		emptyAnswer(wire.PathLinkHitRate, `{"fromNonNull":0,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`, func(body []byte) bool {
			tree := parsed(body)
			for _, end := range []string{"from", "to"} {
				if t, known := corpusTable(textOf(tree[end+"Table"])); known && t.Field(textOf(tree[end+"Column"])) == nil {
					return true
				}
			}
			return false
		})),
	broken("an unknown field is not projected", "a column the source does not have is refused", "P3.4: fields of /query",
		repaired(wire.PathQuery, func(body map[string]any) {
			t, known := corpusTable(textOf(body["table"]))
			body["fields"] = slices.DeleteFunc(alternatives(body, "fields"), func(field any) bool {
				name, ok := field.(string)
				return known && ok && t.Field(name) == nil
			})
		})),
	broken("an unknown sort key is dropped", "a column the source does not have is refused", "P3.4: sort of /query",
		repaired(wire.PathQuery, dropping("sort", always))),
	broken("an unknown filter of /query is dropped", "refused with 422, never answered with unfiltered rows", "P3.4c",
		repaired(wire.PathQuery, dropping("and", always))),
	broken("an unknown filter of /count is dropped", "the same unknown-field rule applies", "P3.4: filters of /count",
		repaired(wire.PathCount, dropping("and", always))),
	broken("an unknown group is dropped", "a column the source does not have is refused", "P3.4: /aggregate",
		repaired(wire.PathAggregate, dropping("groupBy", always))).
		behind("P2.18", "its groups by joined columns are unknown to the base table"),
	broken("an unknown filter in a group is dropped", "refused with 422, never answered with unfiltered rows", "P3.4: an or group",
		repaired(wire.PathQuery, groupsOfOr)),
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// legal reports whether the body parses as the route's request.
func legal(path string, body []byte) bool {
	m := request(path)
	return m != nil && wire.Decode(body, m) == nil
}

// malformedFaults put right what they should refuse.
var malformedFaults = []fault{
	broken("what follows the body is ignored", "the body does not parse: two JSON values are not one", "P3.3: not one JSON object",
		over(usual, between(func(_ http.ResponseWriter, _ *http.Request, body *[]byte) bool {
			var first json.RawMessage
			if json.NewDecoder(bytes.NewReader(*body)).Decode(&first) == nil {
				*body = first
			}
			return false
		}))),
	broken("a limit as text is converted", "limit is an integer", "P3.3: a member of the wrong type",
		repaired(wire.PathQuery, func(body map[string]any) {
			if limit, ok := body["limit"].(string); ok {
				body["limit"] = json.Number(limit)
			}
		})),
	broken("no sort counts as an empty one", "sort is required", "P3.3: a missing member", repaired(wire.PathQuery, func(body map[string]any) {
		if _, ok := body["sort"]; !ok && body["sql"] == nil && body["table"] != nil {
			body["sort"] = []any{}
		}
	})),
	broken("a payload on isnull is ignored", "three strict shapes", "P3.3: the shape of a filter",
		repaired(wire.PathQuery, eachOf(where(asks("op=isnull", "value"), drops("value")), "and"))),
	broken("any timeoutMs will do", "timeoutMs is a positive integer", "P3.3: timeoutMs",
		over(usual, requests(wire.PathCheck, func(body map[string]any) {
			if _, given := body["timeoutMs"]; given {
				body["timeoutMs"] = 60000
			}
		}))),
	broken("unknown members are dropped", "400 on /query, /count, /aggregate", "A.19",
		over(usual, requests(wire.PathCount, func(body map[string]any) {
			maps.DeleteFunc(body, func(name string, _ any) bool {
				return !slices.Contains([]string{"table", "and", "or", "fieldTypes", "credentials", "timeoutMs"}, name)
			})
		}))),
	broken("avg is answered as max", "a wrong number is never legal", "P3.3: an unknown function or grain",
		over(usual, requests(wire.PathAggregate, eachOf(where(asks("fn=avg"), sets("fn", "max")), "measures")))),
}

// undeclaredFaults do by halves what the document does not declare.
var undeclaredFaults = []fault{
	broken("joins are dropped", "refused, not silently dropped", "P3.8", over(ofCorpus(connector.Definition{}, connector.Omit{Join: true}),
		requests(wire.PathQuery, func(body map[string]any) {
			if alternatives(body, "joins") != nil {
				delete(body, "joins")
			}
		}))),
	broken("grains are dropped", "grain is sent only to a connector with dateBucket true; 422 otherwise", "P3.9",
		over(ofCorpus(connector.Definition{}, connector.Omit{DateBucket: true}), requests(wire.PathAggregate,
			eachOf(where(asks("grain=year|quarter|month|day"), drops("grain")), "groupBy")))),
	broken("an undeclared offset is cut and not claimed", "rows that are cut and not claimed are lost", "P3.13a",
		over(usual, onlyFor(wire.PathQuery, asks("offset"), serving(true, true)),
			document(func(doc map[string]any) { doc["capabilities"].(map[string]any)["offset"] = false }))),
	broken("SQL without a dialect", "dialect is present only for a connector that accepts compiled SQL", "P3.13b",
		over(usual, between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			sql := r.URL.Path == wire.PathQuery && strings.Contains(string(*body), `"sql"`)
			if sql {
				sends(w, 200, terms.MediaNDJSON, `{"end":1}`+"\n")
			}
			return sql
		}))),
}

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
