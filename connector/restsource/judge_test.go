package restsource_test

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// outcomes are the verdicts of testdata/judged.tsv.
var outcomes = map[string]restsource.Outcome{
	"none": 0, "fine": restsource.OutcomeFine, "wait": restsource.OutcomeWait, "renew": restsource.OutcomeRenew,
	"unauthorized": restsource.OutcomeUnauthorized, "gone": restsource.OutcomeNotThere, "failed": restsource.OutcomeFailed,
}

// verdictOf returns a verdict in words: "failed 404 no such list", "wait 3s".
func verdictOf(words string) (v restsource.Verdict) {
	name, rest, _ := strings.Cut(words, " ")
	v.Outcome = outcomes[name]
	first, text, _ := strings.Cut(rest, " ")
	if wait, err := time.ParseDuration(first); err == nil {
		v.Wait, rest = wait, text
	} else if status, err := strconv.Atoi(first); err == nil {
		v.Status, rest = status, text
	}
	v.Text = rest
	return v
}

// TestJudge: what API.Judge says about an answer is what happens, and the library keeps
// the retries, the waits and the deadline.
func TestJudge(t *testing.T) {
	judges(t, "judged.tsv", func(words string) func(*restsource.Answer) restsource.Verdict {
		return func(a *restsource.Answer) restsource.Verdict {
			if bytes.Contains(a.Body, []byte("ok")) || a.Status != 200 {
				return verdictOf(words)
			}
			return restsource.Verdict{}
		}
	})
}

// TestReadyJudges: the usual spellings of an error with a good status are told apart,
// and none is an answer with fewer rows.
func TestReadyJudges(t *testing.T) {
	judges(t, "judges.tsv", func(name string) func(*restsource.Answer) restsource.Verdict {
		return map[string]func(*restsource.Answer) restsource.Verdict{
			"JudgeErrors": restsource.JudgeErrors, "JudgeErrorList": restsource.JudgeErrorList}[name]
	})
}

// judges asks for the rows of an API that a function judges, as each line of a file tells.
func judges(t *testing.T, file string, judge func(words string) func(*restsource.Answer) restsource.Verdict) {
	for _, c := range testkit.Table(t, "testdata/"+file, 5) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			api, upstream := shopAPI, inTurn(strings.Split(c[2], " | ")...)
			api.Judge = judge(c[1])
			tenant, log := logged(t, api, numbersTable(onePage), upstream)
			answer, err := tenant.Query(allNumbers)
			synctest.Wait() // the request is logged when it is over
			assert.Equal(t, c[3], inSeconds(upstream.asked))
			if err != nil {
				saysAll(t, c[4], err, log.String())
				return
			}
			assert.Equal(t, c[4], strconv.Itoa(len(answer.Column("id"))))
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
