package killtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

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
	return over(usual, between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		if r.URL.Path != path || r.Header.Get("Authorization") != "Bearer "+testToken || !when(*body) || !legal(path, *body) {
			return false
		}
		media := terms.MediaJSON
		if path == wire.PathQuery {
			media = terms.MediaNDJSON
		}
		sends(w, 200, media, answer)
		return true
	}))
}

// dropsUnknown takes what names an unknown field out of a member.
func dropsUnknown(path, member, key string) func() http.Handler {
	return over(usual, requests(path, func(body map[string]any) {
		t, known := corpusTable(textOf(body["table"]))
		unknown := func(item any) bool {
			name, ok := item.(string)
			if entry, is := item.(map[string]any); is {
				name, ok = entry[key].(string)
			}
			return known && ok && t.Field(name) == nil
		}
		list := alternatives(body, member)
		for i, item := range list {
			if group, ok := item.([]any); ok {
				list[i] = slices.DeleteFunc(group, unknown)
			}
		}
		if list != nil && member != "or" {
			body[member] = slices.DeleteFunc(list, unknown)
		}
	}))
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
		dropsUnknown(wire.PathQuery, "fields", "")),
	broken("an unknown sort key is dropped", "a column the source does not have is refused", "P3.4: sort of /query",
		dropsUnknown(wire.PathQuery, "sort", "field")),
	broken("an unknown filter of /query is dropped", "refused with 422, never answered with unfiltered rows", "P3.4c",
		dropsUnknown(wire.PathQuery, "and", "field")),
	broken("an unknown filter of /count is dropped", "the same unknown-field rule applies", "P3.4: filters of /count",
		dropsUnknown(wire.PathCount, "and", "field")),
	broken("an unknown group is dropped", "a column the source does not have is refused", "P3.4: /aggregate",
		dropsUnknown(wire.PathAggregate, "groupBy", "field")).
		behind("P2.18", "its groups by joined columns are unknown to the base table"),
	broken("an unknown filter in a group is dropped", "refused with 422, never answered with unfiltered rows", "P3.4: an or group",
		dropsUnknown(wire.PathQuery, "or", "field")),
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

func editedQuery(edit func(body map[string]any)) func() http.Handler {
	return over(usual, requests(wire.PathQuery, edit))
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
		editedQuery(func(body map[string]any) {
			if limit, ok := body["limit"].(string); ok {
				body["limit"] = json.Number(limit)
			}
		})),
	broken("no sort counts as an empty one", "sort is required", "P3.3: a missing member", editedQuery(func(body map[string]any) {
		if _, ok := body["sort"]; !ok && body["sql"] == nil && body["table"] != nil {
			body["sort"] = []any{}
		}
	})),
	broken("a payload on isnull is ignored", "three strict shapes", "P3.3: the shape of a filter",
		editedQuery(eachOf(where(asks("op=isnull", "value"), drops("value")), "and"))),
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

func omitting(o connector.Omit) func() http.Handler { return ofCorpus(connector.Definition{}, o) }

// undeclaredFaults do by halves what the document does not declare.
var undeclaredFaults = []fault{
	broken("joins are dropped", "refused, not silently dropped", "P3.8", over(omitting(connector.Omit{Join: true}),
		requests(wire.PathQuery, func(body map[string]any) {
			if alternatives(body, "joins") != nil {
				delete(body, "joins")
			}
		}))),
	broken("grains are dropped", "grain is sent only to a connector with dateBucket true; 422 otherwise", "P3.9",
		over(omitting(connector.Omit{DateBucket: true}), requests(wire.PathAggregate,
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
