// Package clocks checks that a connector keeps its deadlines and its heartbeats. The corpus's optional table slow shows
// them best, because its rows stall. Without it, the slowest calls of the run do.
package clocks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tolerance is how late an answer or a heartbeat may be, for the network and a busy machine.
const tolerance = 2 * time.Second

const everywhere = "Enforce timeoutMs on every route: " +
	"answer 408 timeout when it has elapsed, whatever the source is doing."

// Slowest returns the check of the slowest calls, which runs behind all others: it knows the
// calls of the whole run then, and how many requests it needs depends on how fast they are
// answered, which must not decide what the others ask.
func (*Clocks) Slowest() []session.Check {
	return []session.Check{
		{ID: "P3.5h", Phase: 3, Judge: judgeSlowest, Weight: 100, Least: 20, Rules: []string{"route-2", "error-6", "stream-5"},
			Title: "timeoutMs ends the slowest calls of the run",
			Fix:   everywhere},
	}
}

// Checks returns the checks in the order in which they run: behind those that make
// the first calls, and let the table slow wait meanwhile.
func (k *Clocks) Checks() []session.Check {
	const stream = "Enforce timeoutMs while waiting for the source: answer 408 timeout before the first line, " +
		"or an error line with code timeout after it."
	return []session.Check{
		{ID: "P3.5a", Phase: 3, Judge: k.judgeSlow, Rules: []string{"route-2", "stream-5", "error-6"},
			Title: "timeoutMs ends a query in time",
			Fix:   stream},
		{ID: "P3.5b", Phase: 3, Judge: k.judgeSlow, Rules: []string{"stream-5a"},
			Title: "idleTimeoutMs ends a query without rows in time",
			Fix: "Start a clock at the request and with each row; when it reaches idleTimeoutMs end the stream " +
				"with an error line of code timeout. A ping does not reset it."},
		{ID: "P3.5c", Phase: 3, Judge: k.judgeSlow,
			Needs: declared.NeedsAny(wire.PathCount, wire.PathAggregate), Rules: []string{"error-6", "route-2"},
			Title: "timeoutMs ends a count and an aggregate in time",
			Fix:   everywhere},
		{ID: "P3.5d", Phase: 3, Judge: k.judgeSlow, Rules: []string{"error-6", "route-2"},
			Needs: declared.NeedsAny(routes.Measures()...),
			Title: "timeoutMs ends a size, a cardinality and a link hit rate in time",
			Fix:   everywhere},
		{ID: "P3.5e", Phase: 3, Judge: k.judgeSlow, Explained: []string{"P3.5a"},
			Rules: []string{"route-2", "stream-5"},
			Title: "timeoutMs ends a stream that has begun",
			Fix:   stream},
		{ID: "P3.5f", Phase: 3, Judge: k.judgeSlow, Explained: []string{"P3.5b", "P3.5e"}, Rules: []string{"stream-5a"},
			Title: "a ping does not put off idleTimeoutMs",
			Fix:   "Start the idle clock anew with a row only: a ping is no row."},
		{ID: "P3.5g", Phase: 3, Judge: k.judgeSlow, Needs: declared.Needs("join"),
			Explained: []string{"P3.5a"}, Rules: []string{"route-2", "stream-5", "error-6"},
			Title: "timeoutMs ends a query with a join in time",
			Fix:   stream},
		{ID: "P3.7a", Phase: 3, Judge: k.judgeSlow, Rules: []string{"stream-4"},
			Title: "a silent stream pings within 10 seconds, again and again",
			Fix:   pinging},
		{ID: "P3.7b", Phase: 3, Judge: judgeSilence, Rules: []string{"stream-4"},
			Title: "no stream of the run is silent for longer than 10 seconds",
			Fix:   pinging},
		{ID: "A.35", Phase: 3, Advice: true, Judge: k.judgeSlow, Explained: []string{"P3.5a", "P3.5e"},
			Rules: []string{"stream-5b"},
			Title: "maxTimeoutMs ends a stream that has begun",
			Fix:   "Let maxTimeoutMs, where a request has it, take the place of timeoutMs once the first line is out."},
	}
}

const pinging = "Write a ping line, and flush it, whenever nothing was written for 10 seconds, " +
	"from the request until the end. A proxy that buffers answers must be told not to."

// attempts is how often a clock is measured before it fails: the machine, or the connector, may have been busy.
const attempts = 4

// everyTime measures a clock, and measures it again if it fails. It fails if every attempt
// does, and says what each one came to.
func everyTime(measure func() *check.Finding) (f *check.Finding) {
	var received []string
	for range attempts {
		if f = measure(); !f.Failure() {
			return f
		}
		received = append(received, f.Received)
	}
	f.Received = fmt.Sprintf("measured %d times: %s", attempts, strings.Join(received, "; "))
	return f
}

// complete reports whether an answer is whole, or is so long that it was not read to its end.
func complete(a *session.Answer) bool {
	if a.Stream == nil {
		return a.Status < 300
	}
	return a.Stream.Ended || a.Stream.Over
}

// amount returns how much a complete answer holds: the rows of a stream, otherwise the sum of its numbers. It reports
// false for an answer that is declined, unknown or an estimate.
func amount(a *session.Answer) (sum float64, known bool) {
	if a.Stream != nil {
		return float64(len(a.Stream.Table.Rows)), true
	}
	var body any
	if a.Declined() || json.Unmarshal(a.Body, &body) != nil {
		return 0, false
	}
	return sumOf(body)
}

// sumOf adds up the numbers of a JSON value, unless it holds a null or a false.
func sumOf(v any) (sum float64, known bool) {
	var members []any
	switch v := v.(type) {
	case float64:
		return v, true
	case nil:
		return 0, false
	case bool:
		return 0, v
	case map[string]any:
		members = slices.Collect(maps.Values(v))
	case []any:
		members = v
	}
	for _, member := range members {
		n, known := sumOf(member)
		if !known {
			return 0, false
		}
		sum += n
	}
	return sum, true
}
