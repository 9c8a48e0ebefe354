// Package authentication checks who is let in, and what the others are told.
package authentication

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return []session.Check{
		{ID: "P1.1", Phase: 1, Judge: noToken, Rules: []string{"auth-3", "auth-1"},
			Title: "no token gives 401 on every route",
			Fix:   "Check the token before all routes except the document, and before the body is read."},
		{ID: "P1.2a", Phase: 1, Judge: otherTokens, Rules: []string{"auth-3"},
			Title: "another token gives 401 on every route",
			Fix:   "Compare the whole token, in constant time, with the one that the host was given."},
		{ID: "P1.2b", Phase: 1, Judge: similarTokens, Rules: []string{"auth-3"},
			Title: "a part of the token, more than it, or another case of it gives 401 on every route",
			Fix:   "Compare the whole token byte for byte, after the scheme Bearer and one blank."},
		{ID: "P1.3", Phase: 1, Judge: queryToken, Rules: []string{"auth-4"},
			Title: "a token in the query string gives 401 on every route",
			Fix:   "Read the token from the Authorization header alone: query strings end up in logs."},
		{ID: "P1.4", Phase: 1, Watched: true, Judge: refusalsLeak, Rules: []string{"auth-4"},
			Title: "a 401 leaks nothing",
			Fix:   "Answer every caller without the token with one fixed text, before you look at anything in the request."},
		{ID: "P1.5", Phase: 1, Watched: true, Judge: anyRefusal, Rules: []string{"error-4", "auth-3"},
			Title: "a 401 carries the error envelope with the code unauthorized",
			Fix:   `Answer 401 with {"error":{"code":"unauthorized","message":"..."}}.`},
		{ID: "P1.6", Phase: 1, Judge: rightToken, Rules: []string{"route-7", "auth-1", "route-1", "tenant-3", "auth-8"},
			Title: "the right token gives 200, and /check answers { ok: true }",
			Fix: "After the token is set or changed on a host the new value must be live: redeploy, " +
				"and look whether a proxy removes the Authorization header."},
		{ID: "P1.7", Phase: 1, Judge: wrongCredentials, Rules: []string{"route-8", "error-3", "credential-4"},
			Needs: func(d *session.Document) string {
				if len(required(d)) == 0 {
					return "credentialSchema has no required field"
				}
				return ""
			},
			Title: "credentials that the source rejects give 400 check_failed on /check",
			Fix: "Turn the upstream's refusal of the credentials into 400 check_failed with a sentence for the person who typed them; " +
				"401 would read as a wrong token."},
	}
}

// post posts a legal body with the given Authorization headers.
func post(run *session.Run, r session.Route, about session.Topic, authorization ...string) *session.Answer {
	c := r.Call(run.Legal(r, about).Text())
	c.Authorization = append([]string{}, authorization...)
	run.Cases++
	return run.Exchange(c)
}

// wants401 returns what is wrong with an answer that must be a 401.
func wants401(a *session.Answer, format string, args ...any) *check.Finding {
	what := fmt.Sprintf(format, args...)
	switch {
	case a.Err != nil:
		return check.Differs("401", a.Err.Error(), "%s is not refused", what)
	case a.Status != http.StatusUnauthorized:
		return check.Differs("401", a.Describe(), "%s is answered with %d", what, a.Status)
	}
	return nil
}

func noToken(run *session.Run) *check.Finding {
	topic := run.Topic()
	for _, r := range run.Mounted() {
		if f := wants401(post(run, r, topic), "%s without a token", r.Path); f != nil {
			return f
		}
	}
	return nil
}

// anyRefusal ensures that there is a 401 to judge.
func anyRefusal(run *session.Run) *check.Finding {
	post(run, session.RouteAt(wire.PathCheck), session.Topic{})
	return nil
}

// wrongToken is one way to present a wrong token.
type wrongToken struct{ what, header string }

// otherTokens tries tokens that have nothing in common with the right one.
func otherTokens(run *session.Run) *check.Finding {
	other := []byte(strings.Repeat("x", len(run.Token)))
	if string(other) == run.Token {
		other[0] = 'y'
	}
	return wrongTokens(run, []wrongToken{
		{"another token of the same length", "Bearer " + string(other)},
		{"an empty bearer", "Bearer "},
		{"the scheme Basic", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+string(other)))},
	})
}

// similarTokens tries tokens that are made of the right one.
func similarTokens(run *session.Run) *check.Finding {
	token := run.Token
	list := []wrongToken{
		{"the token without its last character", "Bearer " + run.Derive(token[:len(token)-1], check.TokenWithoutLast)},
		{"the first half of the token", "Bearer " + run.Derive(token[:len(token)/2], check.TokenFirstHalf)},
		{"the token and one character more", "Bearer " + token + "x"},
		{"the token without the scheme Bearer", token},
		{"the token under the scheme Basic", "Basic " + token},
	}
	if lower := strings.ToLower(token); lower != token {
		list = append(list, wrongToken{"the token in lower case", "Bearer " + run.Derive(lower, check.TokenLower)})
	}
	if upper := strings.ToUpper(token); upper != token {
		list = append(list, wrongToken{"the token in upper case", "Bearer " + run.Derive(upper, check.TokenUpper)})
	}
	return wrongTokens(run, list)
}

func wrongTokens(run *session.Run, list []wrongToken) *check.Finding {
	topic := run.Topic()
	for _, wrong := range list {
		for _, r := range run.Mounted() {
			if f := wants401(post(run, r, topic, wrong.header), "%s with %s", r.Path, wrong.what); f != nil {
				return f
			}
		}
	}
	return nil
}

// tokenParameters are names under which a token may be read from a query string by
// mistake.
var tokenParameters = []string{
	"token", "access_token", "bearer", "bearer_token", "authorization", "Authorization", "auth", "api_key", "apikey", "key",
}

func queryToken(run *session.Run) *check.Finding {
	topic := run.Topic()
	for _, r := range run.Mounted() {
		ask := func(names ...string) *session.Answer {
			values := url.Values{}
			for _, name := range names {
				values.Set(name, run.Token)
			}
			c := r.Call(run.Legal(r, topic).Text())
			c.Authorization, c.Query = []string{}, values.Encode()
			run.Cases++
			return run.Exchange(c)
		}
		a := ask(tokenParameters...)
		if a.Err == nil && a.Status == http.StatusUnauthorized {
			continue
		}
		for _, name := range tokenParameters {
			if f := wants401(ask(name), "%s with the token in the query string as %s", r.Path, name); f != nil {
				return f
			}
		}
		if f := wants401(ask(tokenParameters...), "%s with the token in the query string", r.Path); f != nil {
			return f
		}
	}
	return nil
}

// refusalsLeak asks without the token about a table that exists and about one that
// does not. The refusals must not differ, and must not name other tables. Whether
// a 401 holds the token or a credential is watched.
func refusalsLeak(run *session.Run) *check.Finding {
	tables := run.SmallestFirst()
	topic := run.Topic()
	for _, r := range run.Mounted() {
		ask := func(about session.Topic) (*session.Answer, string, *check.Finding) {
			a := post(run, r, about)
			if a.Err != nil || a.Status != http.StatusUnauthorized {
				return nil, "", check.Block("P1.1", "%s is answered without a token", r.Path)
			}
			return a, strings.TrimSpace(strings.ReplaceAll(string(a.Body), about.Name, "")), nil
		}
		unused := session.Topic{Name: session.UnusedTable, Field: topic.Field}
		known, knownText, f := ask(topic)
		if f != nil {
			return f
		}
		unknown, unknownText, f := ask(unused)
		if f != nil {
			return f
		}
		if topic.Table != nil && knownText != unknownText {
			// Every refusal may differ from the one before, by a number of the request
			// or the time.
			_, knownAgain, f := ask(topic)
			if f != nil {
				return f
			}
			_, unknownAgain, f := ask(unused)
			if f != nil {
				return f
			}
			if knownText == knownAgain && unknownText == unknownAgain {
				run.Watch.Hold("P1.4", check.Differs("the same 401 for a table that exists and for one that does not",
					message.Excerpt(known.Body, 120)+" and "+message.Excerpt(unknown.Body, 120),
					"%s tells a caller without the token whether a table exists", r.Path).From(known.Request))
			}
		}
		if names := tablesIn(known.Body, tables, topic.Name); names != "" {
			run.Watch.Hold("P1.4", check.Differs("", known.Describe(),
				"%s tells a caller without the token of %s", r.Path, names).From(known.Request))
		}
	}
	return nil
}

// tablesIn returns the names of tables that a text reveals, except the one asked
// for. A single ordinary word, such as error, may occur by chance.
func tablesIn(body []byte, tables []*wire.Table, asked string) string {
	words := strings.FieldsFunc(string(body), func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	})
	var list []string
	ordinary := true
	for _, t := range tables {
		if t.Name != asked && slices.Contains(words, t.Name) {
			list = append(list, wire.QuoteName(t.Name))
			ordinary = ordinary && strings.Trim(t.Name, "abcdefghijklmnopqrstuvwxyz") == ""
		}
	}
	if ordinary && len(list) < 2 {
		return ""
	}
	return "the tables " + strings.Join(list[:min(len(list), 5)], ", ")
}

func rightToken(run *session.Run) *check.Finding {
	a := run.Post(wire.PathCheck, &wire.CheckRequest{})
	if e := a.Refusal(); e != nil && e.Code == wire.CodeCheckFailed && a.Status == http.StatusBadRequest {
		return check.Differs("{ ok: true }", a.Describe(), "/check rejects the credentials that were given to this run")
	}
	return a.Decode("check-answer", new(wire.CheckAnswer))
}

// required returns the credential fields that must be given.
func required(d *session.Document) (list []wire.CredentialField) {
	for _, f := range d.CredentialSchema {
		if !f.Optional {
			list = append(list, f)
		}
	}
	return list
}

// wrongCredentials leaves each required credential out, and changes what the form
// masks. It changes them only once, because accounts get locked.
func wrongCredentials(run *session.Run) *check.Finding {
	fields := required(run.Document)
	for _, field := range fields {
		set := run.Tenants[0].Credentials.Reveal()
		delete(set, field.Key)
		// A missing key may also count as a body that does not parse.
		how := "without " + wire.QuoteName(field.Key)
		if f := rejected(run, set, how, wire.CodeCheckFailed, wire.CodeBadRequest); f != nil {
			return f
		}
	}
	masked := slices.ContainsFunc(fields, func(f wire.CredentialField) bool { return f.Type == wire.CredentialPassword })
	set := run.Tenants[0].Credentials.Reveal()
	for _, f := range fields {
		if f.Type == wire.CredentialPassword || !masked {
			set[f.Key] = "conformance-wrong-credential"
		}
	}
	return rejected(run, set, "with wrong values", wire.CodeCheckFailed)
}

// rejected returns what is wrong with the answer of /check to a wrong set of
// credentials. /check may also accept it, because not every source can tell.
func rejected(run *session.Run, set map[string]string, how string, codes ...wire.Code) *check.Finding {
	body, err := session.CredentialsJSON(wire.NewCredentials(set))
	if err != nil {
		panic(err) // they are those of the run
	}
	run.Cases++
	route := session.RouteAt(wire.PathCheck)
	a := run.Exchange(route.Call(run.Legal(route, session.Topic{}).With("credentials", string(body)).Text()))
	var ok wire.CheckAnswer
	if a.Status == http.StatusOK && a.Decode("check-answer", &ok) == nil && ok.OK {
		return nil
	}
	e := a.Refusal()
	if e != nil && a.Status == http.StatusRequestTimeout && e.Code == wire.CodeTimeout {
		return nil // the upstream makes callers with wrong credentials wait
	}
	if f := a.RefusedWith(codes...); f != nil {
		f.Expected += ", or { ok: true }"
		return f.In("/check %s of the credentials is %s", how)
	}
	if strings.TrimSpace(e.Message) == "" {
		return check.Differs("a message for the person who typed the credentials", "an empty message",
			"/check %s of the credentials is rejected without a message", how)
	}
	return nil
}
