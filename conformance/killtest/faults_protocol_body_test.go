package killtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tablesOf edits the tables that discovery answers.
func tablesOf(edit func(tables []any) []any) layer {
	return edits(func(body map[string]any) {
		if tables, ok := body["tables"].([]any); ok {
			body["tables"] = edit(tables)
		}
	}, wire.PathDiscovery)
}

func protocolDiscoveryFaults() []fault {
	first := func(tables []any, name string) map[string]any {
		i := slices.IndexFunc(tables, func(t any) bool { return t.(map[string]any)["name"] == name })
		return tables[i].(map[string]any)
	}
	return []fault{
		{name: "discovery as a bare array", why: "every JSON answer is a wrapped object", kills: []string{"P3.1a"},
			build: over(usual, answers(func(body map[string]any, status int) (any, int) {
				if status == 200 {
					return body["tables"], status
				}
				return body, status
			}, wire.PathDiscovery))},
		{name: "a table without foreignKeys", why: "foreignKeys is required", kills: []string{"P3.1a"},
			build: over(usual, tablesOf(func(tables []any) []any {
				delete(first(tables, "codes"), "foreignKeys")
				return tables
			}))},
		{name: "a primary key of no field", why: "an array of field names", kills: []string{"P3.1b"},
			build: over(usual, tablesOf(func(tables []any) []any {
				return append(tables,
					map[string]any{"name": "extra", "sourceDescription": "", "storesRows": false,
						"primaryKey": []any{"key"}, "foreignKeys": []any{}, "fields": []any{}})
			}))},
		{name: "a foreign key to no field", why: "a foreign key leads to a field of its target", kills: []string{"P3.1b"},
			build: over(usual, tablesOf(func(tables []any) []any {
				field := map[string]any{"name": "a", "sourceColumn": "a", "type": "string", "nullable": true,
					"unique": false, "samples": []any{}, "sourceDescription": ""}
				key := map[string]any{"field": "a", "targetTable": "codes", "targetField": "nothing"}
				return append(tables,
					map[string]any{"name": "extra", "sourceDescription": "", "storesRows": false,
						"primaryKey": []any{}, "foreignKeys": []any{key}, "fields": []any{field}})
			}))},
		{name: "a foreign key to a table that is not listed", why: "a foreign key leads to a table of the same discovery",
			kills: []string{"P3.1b"}, harmless: "every row can be read, and a connection notes it",
			build: over(usual, tablesOf(func(tables []any) []any {
				codes := first(tables, "codes")
				field := listOf(codes, "fields")[0]["name"]
				codes["foreignKeys"] = []any{map[string]any{"field": field, "targetTable": "custmers", "targetField": "id"}}
				return tables
			}))},
		{name: "a table that cannot be read", why: "the platform reads rows of every table through /query", kills: []string{"P3.1c"},
			build: over(usual, tablesOf(func(tables []any) []any {
				return append(tables,
					map[string]any{"name": "ghost", "sourceDescription": "", "storesRows": true,
						"primaryKey": []any{}, "foreignKeys": []any{}, "fields": []any{}})
			}))},
	}
}

// unknownFaults answer what does not exist.
func unknownFaults() []fault {
	empty := func(path, answer string, when func(body []byte) bool) func() http.Handler {
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
	// An unknown column of a known table.
	column := func(body []byte) bool {
		tree := parsed(body)
		t, known := corpusTable(textOf(tree["table"]))
		columns, _ := tree["columns"].([]any)
		return known && slices.ContainsFunc(columns, func(c any) bool { return t.Field(textOf(c)) == nil })
	}
	end := func(body []byte) bool {
		tree := parsed(body)
		for _, end := range []string{"from", "to"} {
			if t, known := corpusTable(textOf(tree[end+"Table"])); known && t.Field(textOf(tree[end+"Column"])) == nil {
				return true
			}
		}
		return false
	}
	// drops takes what names an unknown field out of a member.
	drops := func(path, member, key string) func() http.Handler {
		return over(usual, requests(path, func(body map[string]any) (changed bool) {
			t, known := corpusTable(textOf(body["table"]))
			if !known {
				return false
			}
			unknown := func(item any) bool {
				name, ok := item.(string)
				if entry, is := item.(map[string]any); is {
					name, ok = entry[key].(string)
				}
				return ok && t.Field(name) == nil
			}
			drop := func(v any) any {
				list, ok := v.([]any)
				if !ok {
					return v
				}
				n := len(list)
				list = slices.DeleteFunc(list, unknown)
				changed = changed || len(list) < n
				return list
			}
			if groups, ok := body[member].([]any); ok && member == "or" {
				for i := range groups {
					groups[i] = drop(groups[i])
				}
				return changed
			}
			body[member] = drop(body[member])
			return changed
		}))
	}
	const quiet = "unknown entity gives 404"
	return []fault{
		{name: "rows of an unknown table", why: quiet,
			kills: []string{"P3.2: /query"}, build: empty(wire.PathQuery, `{"end":1}`+"\n", unknownTable)},
		{name: "the count of an unknown table", why: quiet,
			kills: []string{"P3.2: /count"}, build: empty(wire.PathCount, `{"count":0}`, unknownTable)},
		{name: "aggregates of an unknown table", why: quiet, kills: []string{"P3.2: /aggregate"},
			build: empty(wire.PathAggregate, `{"rows":[]}`, unknownTable)},
		{name: "the size of an unknown table", why: quiet,
			kills: []string{"P3.2: /size"}, build: empty(wire.PathSize, `{"size":null}`, unknownTable)},
		{name: "the cardinality of an unknown table", why: quiet, kills: []string{"P3.2: a table of /cardinality"},
			build: empty(wire.PathCardinality, `{"columns":{}}`, unknownTable)},
		{name: "the cardinality of an unknown column", why: quiet, kills: []string{"P3.2: a column of /cardinality"},
			build: empty(wire.PathCardinality, `{"columns":{}}`, column)},
		{name: "the hit rate of an unknown table", why: quiet, kills: []string{"P3.2: a table of /linkHitRate"},
			build: empty(wire.PathLinkHitRate, `{"fromNonNull":0,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`, unknownTable)},
		{name: "the hit rate of an unknown column", why: quiet, kills: []string{"P3.2: a column of /linkHitRate"},
			build: empty(wire.PathLinkHitRate, `{"fromNonNull":0,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`, end)},
		{name: "an unknown field is not projected", why: "a column the source does not have is refused",
			kills: []string{"P3.4: fields of /query"}, build: drops(wire.PathQuery, "fields", "")},
		{name: "an unknown sort key is dropped", why: "a column the source does not have is refused",
			kills: []string{"P3.4: sort of /query"}, build: drops(wire.PathQuery, "sort", "field")},
		{name: "an unknown filter of /query is dropped", why: "refused with 422, never answered with unfiltered rows",
			kills: []string{"P3.4c"}, build: drops(wire.PathQuery, "and", "field")},
		{name: "an unknown filter of /count is dropped", why: "the same unknown-field rule applies",
			kills: []string{"P3.4: filters of /count"}, build: drops(wire.PathCount, "and", "field")},
		{name: "an unknown group is dropped", why: "a column the source does not have is refused",
			kills: []string{"P3.4: /aggregate"},
			first: "P2.18", because: "its groups by joined columns are unknown to the base table",
			build: drops(wire.PathAggregate, "groupBy", "field")},
		{name: "an unknown filter in a group is dropped",
			why: "refused with 422, never answered with unfiltered rows", kills: []string{"P3.4: an or group"},
			build: drops(wire.PathQuery, "or", "field")},
	}
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// legal reports whether the body parses as the route's request.
func legal(path string, body []byte) bool {
	m := map[string]wire.Request{
		wire.PathQuery: new(wire.QueryRequest), wire.PathCount: new(wire.CountRequest), wire.PathAggregate: new(wire.AggregateRequest),
		wire.PathSize:        new(wire.SizeRequest),
		wire.PathCardinality: new(wire.CardinalityRequest), wire.PathLinkHitRate: new(wire.LinkHitRateRequest),
	}[path]
	return wire.Decode(body, m) == nil
}

// malformedFaults put right what they should refuse.
func malformedFaults() []fault {
	query := func(edit func(body map[string]any) bool) func() http.Handler {
		return over(usual, requests(wire.PathQuery, edit))
	}
	return []fault{
		{name: "what follows the body is ignored", why: "the body does not parse: two JSON values are not one",
			kills: []string{"P3.3: not one JSON object"},
			build: over(usual, between(func(_ http.ResponseWriter, _ *http.Request, body *[]byte) bool {
				var first json.RawMessage
				if json.NewDecoder(bytes.NewReader(*body)).Decode(&first) == nil {
					*body = first
				}
				return false
			}))},
		{name: "a limit as text is converted", why: "limit is an integer", kills: []string{"P3.3: a member of the wrong type"},
			build: query(func(body map[string]any) bool {
				limit, ok := body["limit"].(string)
				if ok {
					body["limit"] = json.Number(limit)
				}
				return ok
			})},
		{name: "no sort counts as an empty one", why: "sort is required", kills: []string{"P3.3: a missing member"},
			build: query(func(body map[string]any) bool {
				_, ok := body["sort"]
				if !ok && body["sql"] == nil && body["table"] != nil {
					body["sort"] = []any{}
				}
				return !ok
			})},
		{name: "a payload on isnull is ignored", why: "three strict shapes", kills: []string{"P3.3: the shape of a filter"},
			build: query(func(body map[string]any) (changed bool) {
				and, _ := body["and"].([]any)
				for _, f := range and {
					if f, ok := f.(map[string]any); ok && f["op"] == "isnull" && f["value"] != nil {
						delete(f, "value")
						changed = true
					}
				}
				return changed
			})},
		{name: "any timeoutMs will do", why: "timeoutMs is a positive integer", kills: []string{"P3.3: timeoutMs"},
			build: over(usual, requests(wire.PathCheck, func(body map[string]any) bool {
				given, ok := body["timeoutMs"]
				if ok = ok && given != json.Number("60000"); ok {
					body["timeoutMs"] = 60000
				}
				return ok
			}))},
		{name: "unknown members are dropped", why: "400 on /query, /count, /aggregate", kills: []string{"A.19"},
			build: over(usual, requests(wire.PathCount, func(body map[string]any) (changed bool) {
				for name := range body {
					if !slices.Contains([]string{"table", "and", "or", "fieldTypes", "credentials", "timeoutMs"}, name) {
						delete(body, name)
						changed = true
					}
				}
				return changed
			}))},
		{name: "avg is answered as max", why: "a wrong number is never legal", kills: []string{"P3.3: an unknown function or grain"},
			build: over(usual, requests(wire.PathAggregate, func(body map[string]any) (changed bool) {
				measures, _ := body["measures"].([]any)
				for _, m := range measures {
					if m, ok := m.(map[string]any); ok && m["fn"] == "avg" {
						m["fn"] = "max"
						changed = true
					}
				}
				return changed
			}))},
	}
}

// undeclaredFaults do by halves what the document does not declare.
func undeclaredFaults() []fault {
	omit := func(o connector.Omit) http.Handler {
		return serve(connector.Definition{}, corpusSource(), &connector.Options{Omit: o})
	}
	return []fault{
		{name: "joins are dropped", why: "refused, not silently dropped", kills: []string{"P3.8"}, build: func() http.Handler {
			return requests(wire.PathQuery, func(body map[string]any) bool {
				_, ok := body["joins"].([]any)
				if ok {
					delete(body, "joins")
				}
				return ok
			})(omit(connector.Omit{Join: true}))
		}},
		{name: "grains are dropped", why: "grain is sent only to a connector with dateBucket true; 422 otherwise", kills: []string{"P3.9"},
			build: func() http.Handler {
				return requests(wire.PathAggregate, func(body map[string]any) (changed bool) {
					groups, _ := body["groupBy"].([]any)
					for _, g := range groups {
						if g, ok := g.(map[string]any); ok && slices.Contains([]any{"year", "quarter", "month", "day"}, g["grain"]) {
							delete(g, "grain")
							changed = true
						}
					}
					return changed
				})(omit(connector.Omit{DateBucket: true}))
			}},
		{name: "an undeclared offset is cut and not claimed", why: "rows that are cut and not claimed are lost", kills: []string{"P3.13a"},
			build: func() http.Handler {
				h := usual()
				undeclared := document(func(doc map[string]any) { doc["capabilities"].(map[string]any)["offset"] = false })
				return undeclared(between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
					if r.URL.Path != wire.PathQuery || parsed(*body)["offset"] == nil {
						return false
					}
					r.Body = io.NopCloser(bytes.NewReader(*body))
					serving(true, true)(h).ServeHTTP(w, r)
					return true
				})(h))
			}},
		{name: "SQL without a dialect", why: "dialect is present only for a connector that accepts compiled SQL", kills: []string{"P3.13b"},
			build: over(usual, between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
				if r.URL.Path != wire.PathQuery || !strings.Contains(string(*body), `"sql"`) {
					return false
				}
				sends(w, 200, terms.MediaNDJSON, `{"end":1}`+"\n")
				return true
			}))},
	}
}
