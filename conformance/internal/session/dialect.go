package session

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// dialect is what a run knows of a connector that takes queries in SQL.
type dialect struct {
	asked, only bool
	last        atomic.Int64 // the status of the last native query with the right token
}

// DialectOnly reports whether the connector takes queries in its dialect of SQL alone: the
// document names one, discovery works, and a native query is refused.
func (run *Run) DialectOnly() bool {
	d := &run.dialect
	if run.Document == nil || run.Document.Dialect == "" || run.Stop() != "" {
		return d.only
	}
	if !d.asked {
		d.asked = true
		if found, f := run.Discovery(0); f == nil {
			topic := run.Topic()
			if len(found.Tables) > 0 {
				topic = payload.Topic{Name: found.Tables[0].Name, Field: payload.UnusedField}
				if fields := found.Tables[0].Fields; len(fields) > 0 {
					topic.Field = fields[0].Name
				}
			}
			a := run.ExchangeWith(run.Ctx, Call{Path: wire.PathQuery, Body: run.Legal(wire.PathQuery, topic).Text()})
			if d.only = refusesNative(a.Status); d.only {
				run.SQLOnly = run.Document.Dialect
			}
		}
	}
	return d.only
}

func refusesNative(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// noteNative records the status of a native query.
func (d *dialect) noteNative(c Call, status int) {
	if c.Path == wire.PathQuery && c.Authorization == nil && !strings.HasPrefix(string(c.Body), `{"sql"`) {
		d.last.Store(int64(status))
	}
}

// unlessDialect returns the finding of a check. If the connector takes SQL alone, a
// native query that was refused is no fault, and what needs its rows is skipped.
func (run *Run) unlessDialect(f *check.Finding) *check.Finding {
	if f == nil || run.Check.silent || run.Check.Phase == 0 && !run.Check.Advice {
		return f
	}
	native := f.Failure() && f.Request != nil && strings.HasSuffix(f.Request.URL, wire.PathQuery) &&
		refusesNative(int(run.dialect.last.Load())) && f.Request.Header.Get("Authorization") == "Bearer $"+check.EnvToken
	unread := f.Skip == check.Blocked && f.By == "P3.1c" // a table cannot be read
	if !native && !unread || !run.DialectOnly() {
		return f
	}
	return check.Skip(check.NotDeclared, "native queries are not offered, and what SQL in a dialect answers cannot be judged")
}
