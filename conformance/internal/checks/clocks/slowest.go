package clocks

import (
	"fmt"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// telling is how long the connector has to work for an answer before a deadline of a
	// part of that time shows whether it is kept.
	telling = 30 * time.Millisecond
	// part is which part of the time a deadline leaves.
	part = 4
)

// judgeSlowest asks the slowest call of each route again, with a part of the time that it needs.
func judgeSlowest(run *session.Run) *check.Finding {
	if f := run.ReadSomeTables(); f != nil && (f.Failure() || f.Skip == check.Blocked) {
		return f
	}
	table := largest(run)
	slowest := timed{}
	for _, path := range run.Document.Paths(true) {
		call := slowestCall(run, path, table)
		if slowest.Path == "" || call.Took > slowest.Took {
			slowest = call
		}
		if call.Took < telling || run.Spent(1) {
			continue
		}
		shown, f := keepsTime(run, call)
		if shown {
			run.Cases++
		}
		if f != nil {
			return f.In("%s, which takes %s without a deadline: %s", path, call.Took.Round(time.Millisecond))
		}
	}
	return run.Judged("no call of this run kept the connector busy for long enough to show a deadline: "+
		"the slowest, to %s, took %s", slowest.Path, slowest.Took.Round(time.Millisecond))
}

// timed is a call, and how long its answer took without a deadline.
type timed struct {
	session.Call
	Took time.Duration
}

// keepsTime asks a call with a deadline, and reports whether the answer shows how it is kept.
func keepsTime(run *session.Run, call timed) (shown bool, f *check.Finding) {
	delay := time.Duration(0)
	for range 3 {
		way, f := wayThere(run, call.Path)
		if f != nil {
			return false, nil // another check says why
		}
		delay = max(delay, way)
	}
	work := call.Took - delay
	if work < telling {
		return false, nil
	}
	after := (work / part).Truncate(time.Millisecond)
	attempt := 0
	f = everyTime(func() (f *check.Finding) {
		// Data may grow, so the whole answer is asked for behind the other and before it.
		var whole *session.Answer
		if attempt%2 == 1 {
			whole = run.Exchange(call.Call)
		}
		attempt++
		a, way := askBeside(run, call.WithTimeout(after, call.Took+after+defaults.Grace), after)
		delay = max(delay, way)
		d := deadline{after: after, latest: 2*after + telling/3 + 3*delay, ended: after + tolerance + 3*delay}
		if refused := a.Err == nil && a.Status >= 400 && a.Status < 500 && a.Status != wire.CodeTimeout.Status(); refused {
			shown = false
			return nil // such as one request too many
		}
		shown, f = d.judge(a)
		if f == nil && complete(a) {
			if whole == nil {
				whole = run.Exchange(call.Call)
			}
			f = partial(a, whole)
			shown = shown || f != nil
		}
		return f.From(a.Request)
	})
	return shown, f
}

// partial returns what is wrong with a complete answer that came in time: it must not
// hold less than the answer without a deadline.
func partial(a, whole *session.Answer) *check.Finding {
	if whole.Err != nil || !complete(whole) {
		return nil
	}
	all, known := amount(whole)
	if some, also := amount(a); known && also && some < all {
		return inPart(some, all)
	}
	return nil
}

func inPart(some, all float64) *check.Finding {
	return check.Differs("408 timeout, or an error line with code timeout",
		fmt.Sprintf("a complete answer of %g instead of %g", some, all),
		"when the deadline has elapsed, a part is answered as if it were the whole")
}

// wayThere returns how long a route takes for an answer for which it has nothing to do: the refusal of an empty body.
// It shows the network, and whether the connector is busy.
func wayThere(run *session.Run, path string) (time.Duration, *check.Finding) {
	a := run.Exchange(session.Call{Path: path, Body: []byte("{}")})
	return a.Took, a.RefusedWith(wire.CodeBadRequest)
}

// askBeside asks a call with a deadline and, shortly before the deadline, for the refusal of an empty body on the same
// route. A connector that runs one thing at a time, such as a program with one thread that is busy computing, delays
// both: it could not have kept the deadline, and the delay is allowed for. If the document allows one request at a
// time, the refusal is asked for afterwards.
func askBeside(run *session.Run, c session.Call, after time.Duration) (a *session.Answer, way time.Duration) {
	if run.Document.Capabilities.Limits.Concurrency == 1 {
		a = run.Exchange(c)
		way, _ = wayThere(run, c.Path)
		return a, way
	}
	check.AtOnce(2, func(i int) {
		if i == 0 {
			a = run.Exchange(c)
			return
		}
		time.Sleep(after / 2)
		way = run.ExchangeWith(run.Ctx, session.Call{Path: c.Path, Body: []byte("{}")}).Took
	})
	return a, way
}

// slowestCall returns the slowest call to a route, or one about the largest table if that is as slow.
func slowestCall(run *session.Run, path string, table *wire.Table) timed {
	before, took := run.Longest(path, false)
	slowest := timed{before, took}
	if slowest.Path != "" && run.Allowance() == 0 {
		return slowest
	}
	topic := payload.Topic{}
	var request wire.Request
	if table != nil && len(table.Fields) > 0 {
		topic = payload.Topic{Table: table, Name: table.Name, Field: table.Fields[0].Name}
		request = laborious(run, path, table)
	}
	c := session.Call{Path: path, Body: run.Legal(path, topic).Text()}
	if request != nil {
		c = run.Ask(path, request, 0)
	}
	a := run.Exchange(c)
	if a.Err == nil && a.Status == http.StatusOK && a.Took >= slowest.Took*3/4 {
		return timed{c, a.Took}
	}
	return slowest
}

func largest(run *session.Run) (found *wire.Table) {
	for _, t := range run.SmallestFirst() {
		if found == nil || t.RowCount != nil && (found.RowCount == nil || *t.RowCount > *found.RowCount) {
			found = t
		}
	}
	return found
}

// laborious returns a request to a route for which a connector has to look at more rows of a table
// than for a usual one, and whose answer is short, or nil if the usual one does.
func laborious(run *session.Run, path string, t *wire.Table) wire.Request {
	all := declared.AllRows(t)
	switch path {
	case wire.PathQuery:
		all.Limit = 1
		if run.Document.Capabilities.Sort != wire.SortNone {
			all.Sort = []wire.SortKey{{Field: all.Fields[len(all.Fields)-1], Dir: wire.Desc}}
		}
		return all
	case wire.PathAggregate:
		req := &wire.AggregateRequest{Table: t.Name, Limit: wire.AggregateLimit}
		for i, f := range t.Fields {
			if terms.Allowed(f.Aggregatable) {
				as := fmt.Sprintf("n%d", i)
				req.Measures = append(req.Measures, wire.Measure{Fn: wire.AggCountDistinct, Field: f.Name, As: as})
			}
		}
		if len(req.Measures) > 0 {
			return req
		}
	case wire.PathCardinality:
		return &wire.CardinalityRequest{Table: t.Name, Columns: all.Fields}
	}
	return nil
}
