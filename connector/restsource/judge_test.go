package restsource_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// judged is what a source does with the answers of an API.
type judged struct {
	code  wire.Code // "" is success
	rows  int
	asked []time.Duration
	text  string // of the message
	log   string
}

// requireJudged asks a source over an API for its rows.
func requireJudged(t *testing.T, api restsource.API, answers []testkit.Transport, want judged, why string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		upstream := following(answers...)
		tenant, log := logged(t, api, numbersTable(onePage), upstream)
		answer, err := tenant.Query(allNumbers)
		synctest.Wait() // the request is logged when it is over
		requireCode(t, want.code, err)
		assert.Equal(t, want.asked, upstream.asked, why)
		if err == nil {
			assert.Len(t, answer.Column("id"), want.rows, why)
			return
		}
		assert.Contains(t, err.Error(), want.text, why)
		assert.Contains(t, log.String(), want.log, why)
		assert.NotContains(t, err.Error()+log.String(), secretText, why)
	})
}

// TestJudge: what API.Judge says about an answer is what happens, and the library keeps
// the retries, the waits and the deadline.
func TestJudge(t *testing.T) {
	type answers = []testkit.Transport
	bad := always(200, `{"ok": false, "detail": "`+secretText+`"}`)
	good := always(200, bodyOfOne)
	verdict := func(v restsource.Verdict) func(*restsource.Answer) restsource.Verdict {
		return func(a *restsource.Answer) restsource.Verdict {
			if bytes.Contains(a.Body, []byte("ok")) || a.Status != 200 {
				return v
			}
			return restsource.Verdict{}
		}
	}
	for _, c := range []struct {
		name    string
		verdict restsource.Verdict
		answers answers
		want    judged
		why     string
	}{
		{"no opinion", restsource.Verdict{}, answers{always(200, `{"ok": 1, "rows": [{"id": 1}]}`)},
			judged{rows: 1, asked: seconds(0)}, "the library judges"},
		{"no opinion on a bad status", restsource.Verdict{}, answers{always(403, "")},
			judged{code: wire.CodeBadRequest, asked: seconds(0)}, "likewise"},
		{"fine beside an error", restsource.Verdict{Outcome: restsource.OutcomeFine},
			answers{always(200, `{"ok": 1, "error": "a warning", "rows": [{"id": 1}]}`)},
			judged{rows: 1, asked: seconds(0)}, "the member error is a warning here"},
		{"fine with a bad status", restsource.Verdict{Outcome: restsource.OutcomeFine}, answers{always(404, bodyOfOne)},
			judged{rows: 1, asked: seconds(0)}, ""},
		{"fine, and no rows", restsource.Verdict{Outcome: restsource.OutcomeFine}, answers{bad},
			judged{code: wire.CodeInternal, asked: seconds(0), log: "no list of rows"}, "a verdict makes no rows"},
		{"wait", restsource.Verdict{Outcome: restsource.OutcomeWait, Wait: 3 * time.Second}, answers{bad, bad, good},
			judged{rows: 1, asked: seconds(0, 3, 6)}, ""},
		{"wait as the header says", restsource.Verdict{Outcome: restsource.OutcomeWait},
			answers{always(403, "", "Retry-After: 7"), good}, judged{rows: 1, asked: seconds(0, 7)}, "as GitHub's second limit"},
		{"wait, and nothing says how long", restsource.Verdict{Outcome: restsource.OutcomeWait}, answers{bad, bad, good},
			judged{rows: 1, asked: seconds(0, 0.5, 1.5)}, ""},
		{"wait beyond the deadline", restsource.Verdict{Outcome: restsource.OutcomeWait, Wait: time.Hour}, answers{bad, good},
			judged{code: wire.CodeTimeout, asked: seconds(0), text: "takes no more requests"}, "it would be in vain"},
		{"wait for ever", restsource.Verdict{Outcome: restsource.OutcomeWait, Wait: time.Second}, answers{bad},
			judged{code: wire.CodeTimeout, asked: seconds(0, 1, 2, 3, 4)}, "Options.Attempts"},
		{"failed for good with 429", restsource.Verdict{Outcome: restsource.OutcomeFailed, Status: 403, Text: "the month is used up"},
			answers{always(429, secretText, "Retry-After: 2"), good},
			judged{code: wire.CodeBadRequest, asked: seconds(0), log: "the month is used up"}, "a wait would not help"},
		{"renew, without a token", restsource.Verdict{Outcome: restsource.OutcomeRenew}, answers{bad, good},
			judged{rows: 1, asked: seconds(0, 0)}, "Authorize is asked again"},
		{"renew in vain", restsource.Verdict{Outcome: restsource.OutcomeRenew}, answers{bad},
			judged{code: wire.CodeBadRequest, asked: seconds(0, 0), text: "does not accept these credentials"}, "once"},
		{"unauthorized", restsource.Verdict{Outcome: restsource.OutcomeUnauthorized, Text: "The key is for another region."}, answers{bad},
			judged{code: wire.CodeBadRequest, asked: seconds(0), text: "The key is for another region."}, ""},
		{"unauthorized without a sentence", restsource.Verdict{Outcome: restsource.OutcomeUnauthorized}, answers{bad},
			judged{code: wire.CodeBadRequest, asked: seconds(0), text: "does not accept these credentials"}, ""},
		{"not there", restsource.Verdict{Outcome: restsource.OutcomeNotThere}, answers{always(404, secretText)},
			judged{asked: seconds(0)}, "no row"},
		{"failed", restsource.Verdict{Outcome: restsource.OutcomeFailed, Text: "the index is rebuilt"}, answers{bad},
			judged{code: wire.CodeInternal, asked: seconds(0), log: "the index is rebuilt"}, ""},
		{"failed as with 404", restsource.Verdict{Outcome: restsource.OutcomeFailed, Status: 404, Text: "no such list"}, answers{bad},
			judged{code: wire.CodeUnknownEntity, asked: seconds(0), log: "no such list"}, ""},
		{"502 is the library's", restsource.Verdict{}, answers{always(502, ""), good}, judged{rows: 1, asked: seconds(0, 0.5)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := shopAPI
			api.Judge = verdict(c.verdict)
			requireJudged(t, api, c.answers, c.want, c.why)
		})
	}
}

// TestReadyJudges: the usual spellings of an error with a good status are told apart,
// and none is an answer with fewer rows.
func TestReadyJudges(t *testing.T) {
	type answers = []testkit.Transport
	ok := func(body string) answers { return answers{always(200, body), always(200, bodyOfOne)} }
	graph := func(code string) answers {
		return ok(fmt.Sprintf(`{"rows": [{"id": 7}], "errors": [{"message": %q, "extensions": {"code": %q}}]}`, secretText, code))
	}
	once, again := judged{rows: 1, asked: seconds(0)}, judged{rows: 1, asked: seconds(0, 0.5)}
	renewed := judged{rows: 1, asked: seconds(0, 0)}
	failed := judged{code: wire.CodeInternal, asked: seconds(0), log: "tells of an error"}
	forbidden := judged{code: wire.CodeBadRequest, asked: seconds(0), text: "no access", log: "code"}
	for _, c := range []struct {
		name    string
		judge   func(*restsource.Answer) restsource.Verdict
		answers answers
		want    judged
		why     string
	}{
		{"GraphQL, no errors", restsource.JudgeErrors, ok(bodyOfOne), once, ""},
		{"GraphQL, empty errors", restsource.JudgeErrors, ok(`{"rows": [{"id": 1}], "errors": []}`), once, ""},
		{"GraphQL, throttled", restsource.JudgeErrors, graph("THROTTLED"), again, "in a 200"},
		{"GraphQL, a limit by type", restsource.JudgeErrors,
			ok(`{"data": null, "errors": [{"type": "RATE_LIMITED", "message": "x"}]}`), again, "as GitHub says it"},
		{"GraphQL, the token", restsource.JudgeErrors, graph("UNAUTHENTICATED"), renewed, ""},
		{"GraphQL, no permission", restsource.JudgeErrors, graph("FORBIDDEN"), forbidden, ""},
		{"GraphQL, partial data", restsource.JudgeErrors, graph("INTERNAL_SERVER_ERROR"), failed, "a part is no answer"},
		{"GraphQL, no code", restsource.JudgeErrors,
			ok(`{"rows": [{"id": 1}], "errors": [{"message": "` + secretText + `"}]}`), failed, ""},
		{"GraphQL, errors in words", restsource.JudgeErrors, ok(`{"rows": [{"id": 1}], "errors": ["` + secretText + `"]}`), failed, ""},
		{"GraphQL, the limit behind another error", restsource.JudgeErrors,
			ok(`{"errors": [{"extensions": {"code": "FORBIDDEN"}}, {"extensions": {"code": "THROTTLED"}}]}`), again,
			"what is forbidden may be allowed when asked in time"},
		{"an error as a code", restsource.JudgeErrors, ok(`{"ok": false, "error": "ratelimited"}`), again, "as Slack says it"},
		{"an error as an object", restsource.JudgeErrors, ok(`{"error": {"code": 401, "message": "x"}}`), renewed, "as Google says it"},
		{"an error as a sentence", restsource.JudgeErrors, ok(`{"error": "` + secretText + `", "rows": []}`), failed, ""},
		{"an error that is true", restsource.JudgeErrors, ok(`{"error": true, "rows": []}`), failed, ""},
		{"no error", restsource.JudgeErrors, ok(`{"error": null, "rows": [{"id": 1}]}`), once, ""},
		{"a word in a row", restsource.JudgeErrors, ok(`{"rows": [{"id": 1, "error": "ratelimited"}]}`), once, "it is data"},
		{"Salesforce, the session", restsource.JudgeErrorList,
			answers{always(401, `[{"message": "x", "errorCode": "INVALID_SESSION_ID"}]`), always(200, bodyOfOne)}, renewed, ""},
		{"Salesforce, the limit", restsource.JudgeErrorList,
			answers{always(403, `[{"message": "x", "errorCode": "REQUEST_LIMIT_EXCEEDED"}]`), always(200, bodyOfOne)}, again, ""},
		{"Salesforce, with a good status", restsource.JudgeErrorList,
			ok(`[{"message": "` + secretText + `", "errorCode": "UNKNOWN"}]`), failed, ""},
		{"Salesforce, another error", restsource.JudgeErrorList,
			answers{always(400, `[{"message": "`+secretText+`", "errorCode": "MALFORMED_QUERY"}]`)},
			judged{code: wire.CodeInternal, asked: seconds(0), log: "the status 400"}, "the status says enough"},
		{"JSON:API, the limit", restsource.JudgeErrors, ok(`{"errors": [{"status": "429", "code": "x"}]}`), again, ""},
		{"JSON:API, no permission", restsource.JudgeErrors, ok(`{"errors": [{"status": "403"}]}`), forbidden, ""},
		{"JSON:API, another error", restsource.JudgeErrors, ok(`{"rows": [], "errors": [{"status": "409"}]}`), failed, ""},
		{"no errors beside an error", restsource.JudgeErrors, ok(`{"errors": [], "error": "ratelimited"}`), again, "both are looked at"},
		{"an error in a list of rows", restsource.JudgeErrors, ok(`{"rows": [{"id": 1, "errorCode": "429"}]}`), once, "it is data"},
		{"half an answer", restsource.JudgeErrors, ok(`{"errors": [{"status": "429"`),
			judged{code: wire.CodeInternal, asked: seconds(0), log: "not JSON"}, "half an error says nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := shopAPI
			api.Judge = c.judge
			requireJudged(t, api, c.answers, c.want, c.why)
		})
	}
}

// TestJudgedElsewhere: the check and the rows of a parent are judged as the rows of a
// table are.
func TestJudgedElsewhere(t *testing.T) {
	api := shopAPI
	api.Judge = func(a *restsource.Answer) restsource.Verdict {
		switch {
		case a.Table == "" && a.Status == 418:
			return restsource.Verdict{Outcome: restsource.OutcomeUnauthorized, Text: "The workspace is paused. Resume it."}
		case a.Table == "children" && a.Status == 418:
			return restsource.Verdict{Outcome: restsource.OutcomeNotThere}
		}
		return restsource.Verdict{}
	}
	tables := append(numbersTable(onePage), children(restsource.Column{Name: "x", Type: wire.TypeNumber}))
	tenant := serve(t, api, tables, testkit.Transport(func(r *http.Request) (*http.Response, error) {
		switch r.URL.Path {
		case "/v1/numbers":
			return reply(200, bodyOfRows3), nil
		case "/v1/numbers/2/children":
			return reply(200, bodyOfRows), nil
		}
		return reply(418, ""), nil
	}))
	err := tenant.Check()
	requireCode(t, wire.CodeCheckFailed, err)
	assert.Contains(t, err.Error(), "The workspace is paused. Resume it.")
	answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id", "x"}}))(t)
	assert.JSONEq(t, `[{"id": 2, "x": 1}, {"id": 2, "x": 2}]`, answer.JSON())
}

const bodyOfRows3 = `{"rows": [{"id": 1}, {"id": 2}, {"id": 3}]}`
