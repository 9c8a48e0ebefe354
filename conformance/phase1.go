package conformance

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// authChecks are phase 1: who is let in, and what the others are told.
func authChecks() []Check {
	const (
		missing = "A missing or wrong bearer gives 401 `unauthorized`."
		query   = "A token presented in the query string is also refused with 401, and the refusal does not leak information."
	)
	return []Check{
		{
			ID: "P1.1", Phase: 1, judge: noToken,
			Title: "no token gives 401 on every route",
			Rule:  "protocol, Authentication 2", Quote: missing,
			Fix: "Put the token's check in front of all routes but the document, before the body is read.",
		},
		{
			ID: "P1.2a", Phase: 1, judge: func(x *exam) { wrongTokens(x, otherTokens(x.target.Token)) },
			Title: "another token gives 401 on every route",
			Rule:  "protocol, Authentication 2", Quote: missing,
			Fix: "Compare the whole token, in constant time, with the one that the host was given.",
		},
		{
			ID: "P1.2b", Phase: 1, judge: func(x *exam) { wrongTokens(x, nearTokens(x.target.Token)) },
			Title: "a part of the token, more than it, or another case of it gives 401 on every route",
			Rule:  "protocol, Authentication 1 and 2", Quote: missing,
			Fix: "Compare the whole token byte for byte, after the scheme Bearer and one blank.",
		},
		{
			ID: "P1.3", Phase: 1, judge: queryToken,
			Title: "a token in the query string gives 401 on every route",
			Rule:  "protocol, Authentication 2", Quote: query,
			Fix: "Read the token from the Authorization header alone: query strings end up in logs.",
		},
		{
			ID: "P1.4", Phase: 1, watched: true, judge: refusalsLeak,
			Title: "a 401 leaks nothing",
			Rule:  "protocol, Authentication 2", Quote: query,
			Fix: "Answer every caller without the token with one fixed text, before anything of his request is looked at.",
		},
		{
			ID: "P1.5", Phase: 1, watched: true, judge: func(x *exam) { x.unauthorized(routes[0], topic{}, []string{}) },
			Title: "a 401 carries the error envelope with the code unauthorized",
			Rule:  "protocol, Authentication 2; Errors", Quote: missing,
			Fix: `Answer 401 with {"error":{"code":"unauthorized","message":"..."}}.`,
		},
		{
			ID: "P1.6", Phase: 1, judge: rightToken,
			Title: "the right token gives 200, and /check answers { ok: true }",
			Rule:  "protocol, /check; Conformance check",
			Quote: "no token, a wrong token and a token in the query string all give 401 without leaking; the right token gives 200; `/check` answers `{ ok: true }`",
			Fix:   "After the token is set or changed on a host the new value must be live: redeploy, and look whether a proxy takes the Authorization header away.",
		},
		{
			ID: "P1.7", Phase: 1, judge: wrongCredentials,
			needs: func(d *document) string {
				if len(required(d)) == 0 {
					return "credentialSchema has no required field"
				}
				return ""
			},
			Title: "credentials that the source rejects give 400 check_failed on /check",
			Rule:  "protocol, /check; G6",
			Quote: "A rejected credential set gives HTTP 400 with code `check_failed` and a message written for the person who typed the credentials; the platform shows it verbatim.",
			Fix:   "Turn the upstream's refusal of the credentials into 400 check_failed with a sentence for whoever typed them; 401 would read as a wrong token.",
		},
	}
}

// unauthorized posts a legal body under the Authorization headers given.
func (x *exam) unauthorized(r route, of topic, authorization []string) *answer {
	c := to(r, x.legal(r, of).text())
	c.authorization = authorization
	x.cases++
	return x.send(c)
}

// wants401 ends the check unless the answer is a 401.
func (x *exam) wants401(a *answer, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	switch {
	case a.err != nil:
		x.want("401", a.err.Error(), "%s is not refused", what)
	case a.status != http.StatusUnauthorized:
		x.want("401", a.describe(), "%s is answered with %d", what, a.status)
	}
}

func noToken(x *exam) {
	of := x.topic()
	for _, r := range x.mounted() {
		x.wants401(x.unauthorized(r, of, []string{}), "%s without a token", r.path)
	}
}

// presented is a way to present a wrong token.
type presented struct{ what, header string }

// otherTokens are none of the right one.
func otherTokens(token string) []presented {
	other := []byte(strings.Repeat("x", len(token)))
	if string(other) == token {
		other[0] = 'y'
	}
	return []presented{
		{"another token of the same length", "Bearer " + string(other)},
		{"an empty bearer", "Bearer "},
		{"the scheme Basic", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+string(other)))},
	}
}

// nearTokens are made of the right one.
func nearTokens(token string) []presented {
	list := []presented{
		{"the token without its last character", "Bearer " + token[:len(token)-1]},
		{"the first half of the token", "Bearer " + token[:len(token)/2]},
		{"the token and one character more", "Bearer " + token + "x"},
		{"the token without the scheme Bearer", token},
		{"the token under the scheme Basic", "Basic " + token},
	}
	for what, other := range map[string]string{"the token in upper case": strings.ToUpper(token), "the token in lower case": strings.ToLower(token)} {
		if other != token {
			list = append(list, presented{what, "Bearer " + other})
		}
	}
	slices.SortStableFunc(list[5:], func(a, b presented) int { return strings.Compare(a.what, b.what) })
	return list
}

func wrongTokens(x *exam, list []presented) {
	of := x.topic()
	for _, p := range list {
		for _, r := range x.mounted() {
			x.wants401(x.unauthorized(r, of, []string{p.header}), "%s with %s", r.path, p.what)
		}
	}
}

// tokenParameters are the names under which a token may be read from a query
// string by mistake.
var tokenParameters = []string{"token", "access_token", "bearer", "bearer_token", "authorization", "Authorization", "auth", "api_key", "apikey", "key"}

func queryToken(x *exam) {
	of := x.topic()
	for _, r := range x.mounted() {
		ask := func(names ...string) *answer {
			values := url.Values{}
			for _, name := range names {
				values.Set(name, x.target.Token)
			}
			c := to(r, x.legal(r, of).text())
			c.authorization, c.query = []string{}, values.Encode()
			x.cases++
			return x.send(c)
		}
		a := ask(tokenParameters...)
		if a.err == nil && a.status == http.StatusUnauthorized {
			continue
		}
		for _, name := range tokenParameters {
			x.wants401(ask(name), "%s with the token in the query string as %s", r.path, name)
		}
		x.wants401(ask(tokenParameters...), "%s with the token in the query string", r.path)
	}
}

// refusalsLeak asks without the token about a table that exists and about one
// that does not: the refusals must tell neither apart, and name no others. That
// no 401 of the run holds the token or a credential is watched.
func refusalsLeak(x *exam) {
	tables := x.tables()
	of := x.topic()
	for _, r := range x.mounted() {
		ask := func(of topic) (*answer, string) {
			a := x.unauthorized(r, of, []string{})
			if a.err != nil || a.status != http.StatusUnauthorized {
				x.blocked("P1.1", r.path+" is answered without a token")
			}
			return a, strings.TrimSpace(strings.ReplaceAll(string(a.body), of.name, ""))
		}
		unused := topic{name: unusedTable, field: of.field}
		known, knownText := ask(of)
		unknown, unknownText := ask(unused)
		if of.table != nil && knownText != unknownText {
			// Unless every refusal differs from the one before, by a number of
			// the request or the time.
			_, knownAgain := ask(of)
			_, unknownAgain := ask(unused)
			if knownText == knownAgain && unknownText == unknownAgain {
				x.watch.hold("P1.4", &finding{detail: fmt.Sprintf("%s tells a caller without the token whether a table exists", r.path),
					expected: "the same 401 for a table that exists and for one that does not",
					received: excerpt(known.body, 120) + " and " + excerpt(unknown.body, 120), request: known.request})
			}
		}
		if names := tablesIn(known.body, tables, of.name); names != "" {
			x.watch.hold("P1.4", &finding{detail: fmt.Sprintf("%s tells a caller without the token of %s", r.path, names), received: known.describe(), request: known.request})
		}
	}
}

// tablesIn are the names of tables that a text tells. One that is an ordinary
// word, such as error, may stand there by chance; two, or one that is none, do
// not.
func tablesIn(body []byte, tables []*wire.Table, asked string) string {
	words := strings.FieldsFunc(string(body), func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	})
	var list []string
	odd := false
	for _, t := range tables {
		if t.Name != asked && slices.Contains(words, t.Name) {
			list = append(list, wire.QuoteName(t.Name))
			odd = odd || strings.Trim(t.Name, "abcdefghijklmnopqrstuvwxyz") != ""
		}
	}
	if !odd && len(list) < 2 {
		return ""
	}
	return "the tables " + strings.Join(list[:min(len(list), 5)], ", ")
}

func rightToken(x *exam) {
	a := x.post(wire.PathCheck, &wire.CheckRequest{})
	if e := a.refusal(); e != nil && e.Code == wire.CodeCheckFailed && a.status == http.StatusBadRequest {
		x.want("{ ok: true }", a.describe(), "/check rejects the credentials that were given to this run")
	}
	x.found(a.decode("check-answer", new(wire.CheckAnswer)))
}

// required are the credential fields that must be given.
func required(d *document) (list []wire.CredentialField) {
	for _, f := range d.CredentialSchema {
		if !f.Optional {
			list = append(list, f)
		}
	}
	return list
}

// wrongCredentials leaves each required credential out, and garbles what the
// form masks: once, because accounts get locked.
func wrongCredentials(x *exam) {
	fields := required(x.document())
	right := x.tenants[0].credentials.Reveal()
	for _, f := range fields {
		set := map[string]string{}
		for key, value := range right {
			if key != f.Key {
				set[key] = value
			}
		}
		// A missing key may as well be a body that does not parse.
		rejects(x, set, "without "+wire.QuoteName(f.Key), wire.CodeCheckFailed, wire.CodeBadRequest)
	}
	masked := slices.ContainsFunc(fields, func(f wire.CredentialField) bool { return f.Type == wire.CredentialPassword })
	set := x.tenants[0].credentials.Reveal()
	for _, f := range fields {
		if f.Type == wire.CredentialPassword || !masked {
			set[f.Key] = "conformance-wrong-credential"
		}
	}
	rejects(x, set, "with wrong values", wire.CodeCheckFailed)
}

// rejects ends the check unless /check rejects the set, or takes it: not every
// source can tell.
func rejects(x *exam, set map[string]string, how string, codes ...wire.Code) {
	body, err := credentialsJSON(wire.NewCredentials(set))
	if err != nil {
		panic(err) // they are the ones of the run
	}
	x.cases++
	check := routes[0]
	a := x.send(to(check, x.legal(check, topic{}).with("credentials", string(body)).text()))
	var ok wire.CheckAnswer
	if a.status == http.StatusOK && a.decode("check-answer", &ok) == nil && ok.OK {
		return
	}
	e := a.refusal()
	if e != nil && a.status == http.StatusRequestTimeout && e.Code == wire.CodeTimeout {
		return // an upstream that makes whoever fails wait
	}
	if f := refused(a, codes...); f != nil {
		f.detail = "/check " + how + " of the credentials is " + f.detail
		f.expected += ", or { ok: true }"
		x.found(f)
	}
	if strings.TrimSpace(e.Message) == "" {
		x.want("a message for the person who typed the credentials", "an empty message", "/check %s of the credentials is rejected without a message", how)
	}
}
