package document

import (
	"bytes"
	"net/http"
	"regexp"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// takesSQL sends statements of which every engine takes one. Whether their answers are right cannot be judged, nor
// whether a statement is refused rightly. But a connector does not take SQL if it refuses all of them just as it
// refuses a malformed body, or if it takes native queries and gives all statements one answer.
func takesSQL(run *session.Run) *check.Finding {
	if run.Document.EmptyDialect {
		return check.Differs("the name of a dialect, or no such member", `""`, "dialect is empty")
	}
	malformed := postSQL(run, "1")
	var first *session.Answer
	for _, statement := range statements(run.Topic()) {
		run.Cases++
		a := postSQL(run, payload.Quote(statement))
		if first == nil {
			first = a
		}
		refused := a.Err == nil && (a.Status == http.StatusBadRequest || a.Status == http.StatusUnprocessableEntity)
		if !refused || !alike(a, malformed) && (run.DialectOnly() || !alike(a, first)) {
			return nil
		}
	}
	return check.Differs("a stream, or a refusal of what a statement says", first.Describe(),
		"the document has a dialect, and /query takes no SQL")
}

// alike reports whether two refusals say the same.
func alike(a, b *session.Answer) bool { return a.Status == b.Status && bytes.Equal(a.Body, b.Body) }

// postSQL posts a body in the form of dialect mode.
func postSQL(run *session.Run, sql string) *session.Answer {
	body := payload.New("sql", sql, "params", "[]")
	for _, m := range run.Legal(wire.PathQuery, payload.Topic{}) {
		if m.Name == "credentials" || m.Name == "timeoutMs" || m.Name == "idleTimeoutMs" {
			body = body.Plus(m.Name, m.JSON)
		}
	}
	return run.Exchange(session.Call{Path: wire.PathQuery, Body: body.Text()})
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// statements returns statements that read next to nothing.
func statements(topic payload.Topic) []string {
	list := []string{"SELECT 1", "SELECT 1 FROM dual"}
	if topic.Table != nil && plainName.MatchString(topic.Name) && plainName.MatchString(topic.Field) {
		list = append(list,
			"SELECT "+topic.Field+" FROM "+topic.Name+" WHERE 1 = 0",
			`SELECT "`+topic.Field+`" FROM "`+topic.Name+`" WHERE 1 = 0`)
	}
	return list
}
