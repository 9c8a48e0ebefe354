package session

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
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
	var o payload.Object
	if route := routes.At(path); route != nil {
		names := strings.NewReplacer("%table", payload.Quote(about.Name), "%field", payload.Quote(about.Field))
		for member, value := range routes.Pairs(route.Legal) {
			o = o.Plus(member, names.Replace(value))
		}
	}
	o = o.Plus("credentials", string(run.Tenants[0].JSON)).Plus("timeoutMs", fmt.Sprint(usualTimeout(path)))
	if path == wire.PathQuery {
		o = o.Plus("idleTimeoutMs", fmt.Sprint(idleTimeout.Milliseconds()))
	}
	return o
}
