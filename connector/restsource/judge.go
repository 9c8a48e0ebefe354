package restsource

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
)

// Answer is an answer of the API, as [API.Judge] sees it.
type Answer struct {
	Table  string // the table that is read; empty at API.Check
	Status int
	Header http.Header
	Body   []byte // must not be changed
}

// Outcome is what an answer means for the request that it answers.
type Outcome uint8

// The outcomes.
const (
	unjudged Outcome = iota // of the zero Verdict
	// OutcomeFine says that the answer has the rows, whatever its status is. Members
	// error and errors are data then.
	OutcomeFine
	// OutcomeWait says that the API takes the request later. The library waits for
	// Verdict.Wait and sends it again, if the deadline allows that.
	OutcomeWait
	// OutcomeRenew says that the access token is no longer good. The library obtains a
	// new one and sends the request again, once; after that it is OutcomeUnauthorized.
	OutcomeRenew
	// OutcomeUnauthorized says that the credentials are wrong. Verdict.Text is a sentence
	// for the person who typed them.
	OutcomeUnauthorized
	// OutcomeNotThere says that there is nothing at this address, as a 404 of one record
	// says. The answer has no rows.
	OutcomeNotThere
	// OutcomeFailed says that the answer has no rows, or not all of them. Verdict.Text is
	// for the log, and Verdict.Status decides what the platform is told.
	OutcomeFailed
)

// Verdict is what [API.Judge] says about an answer. The zero Verdict leaves the
// answer to the library: its status decides, and a member error or errors is a
// failure.
type Verdict struct {
	Outcome Outcome
	// Wait is how long to wait. Zero: as long as Retry-After or X-RateLimit-Reset say,
	// otherwise half a second, one, two and so on.
	Wait time.Duration
	// Text is the sentence for the person, or the text for the log. It must not quote
	// the answer, which may hold anything.
	Text string
	// Status is, for OutcomeFailed, the status that would have said the same, such as 403
	// or 404. 0 is a failure that nobody but the author of the connector can mend.
	Status int
}

// JudgeErrors judges answers with a member errors or error, for [API.Judge]. An answer
// that tells of an error is never fine, whatever rows are beside it. JudgeErrors
// understands the usual spellings and codes:
//
//	{"errors": [{"extensions": {"code": "THROTTLED"}}], "data": ...}   GraphQL; also its type
//	{"errors": [{"status": "429", "code": "..."}]}                     JSON:API and many others
//	{"ok": false, "error": "token_expired"}
//	{"error": {"code": 429}}                                           also its status and type
//
// Codes of a limit of requests wait, codes of an expired token renew it, and those of
// forbidden and of not found are the statuses 403 and 404. Tables with a GraphQL query
// are judged so where API.Judge has no opinion. Call it at the end of a function of your
// own that knows more.
func JudgeErrors(a *Answer) Verdict {
	v := judgeErrors(a, "errors", "extensions.code", "type", "code", "status")
	if v.Outcome == unjudged {
		v = judgeErrors(a, "error", "", "code", "status", "type")
	}
	return v
}

// JudgeErrorList judges answers whose whole body is a list of errors, for [API.Judge], as
// in Salesforce: [{"message": "...", "errorCode": "INVALID_SESSION_ID"}].
func JudgeErrorList(a *Answer) Verdict {
	if !bytes.Contains(a.Body, []byte(`"errorCode"`)) {
		return Verdict{}
	}
	return judgeErrors(a, "", "errorCode")
}

// meanings are the codes of errors that APIs have in common. The names are compared
// without case, hyphens and underscores.
var meanings = byWord(map[Verdict]string{
	{Outcome: OutcomeWait}: "429 throttled throttling ratelimited ratelimit ratelimitexceeded ratelimiterror " +
		"toomanyrequests requestlimitexceeded maxcostexceeded complexitybudgetexhausted slowdown",
	{Outcome: OutcomeRenew}: "401 unauthenticated unauthorized tokenexpired expiredtoken invalidtoken " +
		"accesstokenexpired invalidsessionid invalidauth notauthed authenticationerror authenticationfailed " +
		"authenticationrequired",
	{Outcome: OutcomeFailed, Status: http.StatusForbidden}: "403 forbidden accessdenied permissiondenied " +
		"insufficientaccess insufficientscope insufficientscopes missingscope insufficientpermissions",
	{Outcome: OutcomeFailed, Status: http.StatusNotFound}: "404 notfound",
})

// judgeErrors judges an answer by the codes of its errors. list is the member that has
// them, and codes are the paths of their codes in one error; "" is the error itself.
func judgeErrors(a *Answer, list string, codes ...string) Verdict {
	if list != "" && !bytes.Contains(a.Body, []byte(`"`+list+`"`)) {
		return Verdict{} // this spares the answers with rows a second reading
	}
	found, err := newPicker(splitPath(list)).parse(string(a.Body), 1)
	if err != nil || tellsNothing(found[0]) {
		return Verdict{} // reading the rows will say what is wrong with the JSON
	}
	said, known := codesOf(found[0], codes)
	for _, code := range said {
		if v, ok := meanings[code]; ok {
			if v.Outcome == OutcomeFailed {
				v.Text = "the answer tells of an error with the code " + code
			}
			return v
		}
	}
	if a.Status >= http.StatusMultipleChoices || list == "" && !known {
		return Verdict{}
	}
	return Verdict{Outcome: OutcomeFailed,
		Text: "the answer has a good status and tells of an error, so its rows may not be all"}
}

// codesOf returns the codes of errors, as meanings spells them. known reports whether
// any of the errors has a code.
func codesOf(errors textvalue.Raw, codes []string) (said []string, known bool) {
	paths := make([][]string, len(codes))
	for i, code := range codes {
		paths[i] = splitPath(code)
	}
	text := errors.Text
	if errors.Kind != textvalue.Array {
		if errors.Kind == textvalue.Text {
			return []string{plainCode(text)}, true
		}
		text = "[" + text + "]"
	}
	one := newPicker(paths...)
	_ = each(text, func(s *textvalue.Reader) error {
		cells := make([]textvalue.Raw, len(codes))
		one.pick(s, cells, 1)
		for _, r := range cells {
			if r.Kind == textvalue.Text || r.Kind == textvalue.Number {
				said, known = append(said, plainCode(r.Text)), true
			}
		}
		return nil
	})
	// What stops a whole read comes before what could be a table's own trouble.
	slices.SortStableFunc(said, func(a, b string) int { return int(rank(meanings[a])) - int(rank(meanings[b])) })
	return said, known
}

// rank orders verdicts by how much they say about the other errors of an answer.
func rank(v Verdict) Outcome {
	if v.Outcome == unjudged {
		return OutcomeFailed + 1
	}
	return v.Outcome
}

// plainCode returns a code without case and separators.
func plainCode(code string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(code))
}

// judge returns what the API's author says about an answer.
func (x *session) judge(table string, res *http.Response, body []byte) Verdict {
	a := &Answer{Table: table, Status: res.StatusCode, Header: res.Header, Body: body}
	var v Verdict
	if x.api.Judge != nil {
		v = x.api.Judge(a)
	}
	budget := &x.api.Budget
	if t := x.tables[table]; t != nil && t.graph != nil {
		if v.Outcome == unjudged {
			v = JudgeErrors(a)
		}
		if budget.Remaining == "" {
			budget = &costBudget
		}
	}
	if l, ok := budget.levelOf(body); ok {
		x.transport.pace.fill(l)
		if v.Outcome == OutcomeWait && v.Wait == 0 {
			v.Wait = l.wait()
		}
	}
	return v
}

// failure returns the error of an answer that is judged to be no success, or nil.
func (v Verdict) failure(table string) error {
	switch v.Outcome {
	case OutcomeWait:
		return &statusError{table: table, status: http.StatusTooManyRequests}
	case OutcomeRenew:
		return &statusError{table: table, status: http.StatusUnauthorized}
	case OutcomeUnauthorized:
		cause := &statusError{table: table, status: http.StatusUnauthorized}
		if v.Text == "" {
			return cause
		}
		return &explained{connector.CheckFailed("%s", v.Text), cause}
	case OutcomeFailed:
		if v.Status != 0 {
			return &statusError{table, v.Status, v.Text}
		}
		return &refusedError{table, v.Text}
	}
	return nil
}
