package session

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Topic returns a topic for the first tenant. It works without a discovery too: a
// connector whose discovery fails still has to refuse what is malformed.
func (run *Run) Topic() payload.Topic {
	for _, t := range run.SmallestFirst() {
		for _, f := range t.Fields {
			if terms.Allowed(f.Filterable) {
				return payload.Topic{Table: t, Name: t.Name, Field: f.Name}
			}
		}
	}
	return payload.Topic{Name: "conformance_table", Field: "conformance_field"}
}

// Legal returns a legal body for a route, about the topic.
func (run *Run) Legal(path string, about payload.Topic) payload.Object {
	table, field := payload.Quote(about.Name), payload.Quote(about.Field)
	var o payload.Object
	switch path {
	case wire.PathQuery:
		o = payload.New("table", table, "and", "[]", "sort", "[]", "fields", "["+field+"]", "limit", "1")
	case wire.PathCount:
		o = payload.New("table", table, "and", "[]")
	case wire.PathAggregate:
		o = payload.New("table", table, "and", "[]", "groupBy", "[]",
			"measures", `[{"fn":"count","as":"n"}]`, "limit", fmt.Sprint(wire.AggregateLimit))
	case wire.PathSize:
		o = payload.New("table", table)
	case wire.PathCardinality:
		o = payload.New("table", table, "columns", "["+field+"]")
	case wire.PathLinkHitRate:
		o = payload.New("fromTable", table, "fromColumn", field, "toTable", table, "toColumn", field)
	}
	o = o.Plus("credentials", string(run.Tenants[0].JSON)).Plus("timeoutMs", fmt.Sprint(usualTimeout(path)))
	if path == wire.PathQuery {
		o = o.Plus("idleTimeoutMs", fmt.Sprint(idleTimeout.Milliseconds()))
	}
	return o
}
