// Package authentication checks who is let in, and what the others are told.
package authentication

import (
	"fmt"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return []session.Check{
		{ID: "P1.1", Phase: 1, Judge: noToken, Weight: 8, Rules: []string{"auth-3", "auth-1"},
			Title: "no token gives 401 on every route",
			Fix:   "Check the token before all routes except the document, and before the body is read."},
		{ID: "P1.1b", Phase: 1, Judge: malformedWithoutToken, Rules: []string{"auth-1", "auth-3"}, Weight: 16,
			Title: "no token gives 401 whatever the body is",
			Fix: "Check the token before the body is read: who has no token learns nothing, " +
				"and a body that does not parse costs nothing."},
		{ID: "P1.2a", Phase: 1, Judge: otherTokens, Weight: 40, Rules: []string{"auth-3"},
			Title: "another token gives 401 on every route",
			Fix:   "Compare the whole token, in constant time, with the one that the host was given."},
		{ID: "P1.2b", Phase: 1, Judge: similarTokens, Weight: 80, Rules: []string{"auth-3"},
			Title: "what resembles the token, and another scheme than Bearer, give 401 on every route",
			Fix:   "Compare the whole token byte for byte, after the scheme Bearer and one blank."},
		{ID: "P1.3", Phase: 1, Judge: queryToken, Weight: 8, Rules: []string{"auth-4"},
			Title: "a token in the query string gives 401 on every route",
			Fix:   "Read the token from the Authorization header alone: query strings end up in logs."},
		{ID: "P1.4", Phase: 1, Watched: true, Judge: refusalsLeak, Weight: 16, Rules: []string{"auth-4"},
			Title: "a 401 leaks nothing",
			Fix:   "Answer every caller without the token with one fixed text, before you look at anything in the request."},
		{ID: "P1.5", Phase: 1, Watched: true, Judge: anyRefusal, Rules: []string{"error-4", "auth-3"},
			Title: "a 401 carries the error envelope with the code unauthorized",
			Fix:   `Answer 401 with {"error":{"code":"unauthorized","message":"..."}}.`},
		{ID: "P1.6", Phase: 1, Judge: rightToken, Rules: []string{"route-7", "auth-1", "route-1", "tenant-3", "auth-8"},
			Title: "the right token gives 200, and /check answers { ok: true }",
			Fix: "Give this run the token that the connector was started with. If it was set or changed on the host, redeploy, " +
				"and look whether a proxy removes the Authorization header."},
		{ID: "P1.7", Phase: 1, Judge: missingCredentials, Rules: []string{"route-8", "error-3", "credential-4"},
			Needs: declared.Needs("credentialSchema"),
			Title: "credentials that lack what is required give 400 on /check",
			Fix: "Answer 400 check_failed with a sentence for the person who typed the credentials; " +
				"401 would read as a wrong token."},
		{ID: "P1.7c", Phase: 1, Judge: blankCredentials, Rules: []string{"credential-5", "error-3"},
			Needs: declared.Only(func(d *declared.Document) bool { return len(d.Required()) < len(d.CredentialSchema) },
				"credentialSchema has no optional field"),
			Title: "credentials without an optional field are no internal error on /check",
			Fix: "Read an optional credential only if it is there: the form leaves a blank field out. " +
				"If the source needs it after all, answer 400 check_failed."},
		{ID: "P1.7b", Phase: 1, Judge: wrongCredentials, Rules: []string{"route-8", "route-9", "error-3", "tenant-6"},
			Needs: declared.Needs("credentialSchema"),
			Title: "credentials that the source rejects give 400 check_failed on /check",
			Fix: "Prove the credentials by a call that the upstream refuses without them, and turn its refusal into 400 check_failed " +
				"with a sentence for the person who typed them; 401 would read as a wrong token."},
		{ID: "A.30", Phase: 1, Advice: true, Open: true, Judge: shortToken, Rules: []string{"http-3b", "auth-2"},
			Title: "the token has 32 characters or more",
			Fix:   "Mint a random token of 32 characters or more: the platform's form takes no shorter one."},
	}
}

// post posts a body with the given Authorization headers, which are not the right one.
func post(run *session.Run, path string, body []byte, authorization ...string) *session.Answer {
	c := session.Call{Path: path, Body: body, Authorization: append([]string{}, authorization...)}
	run.Cases++
	return run.Exchange(c)
}

// refused posts a body that must be refused with 401.
func refused(run *session.Run, path string, body []byte, what string, authorization ...string) *check.Finding {
	return wants401(post(run, path, body, authorization...), "%s with %s", path, what)
}

// wants401 returns what is wrong with an answer that must be a 401.
func wants401(a *session.Answer, format string, args ...any) *check.Finding {
	what := fmt.Sprintf(format, args...)
	switch {
	case a.Err != nil:
		return check.Differs("401", "", "%s is not refused: %v", what, a.Err)
	case a.Status != http.StatusUnauthorized:
		return check.Differs("401", a.Describe(), "%s is answered with %d", what, a.Status)
	}
	return nil
}

func noToken(run *session.Run) *check.Finding {
	topic := run.Topic()
	for _, path := range run.Document.Paths(true) {
		if f := refused(run, path, run.Legal(path, topic).Text(), "no token"); f != nil {
			return f
		}
	}
	return nil
}

// malformedWithoutToken posts bodies that do not parse, without a token. An empty body
// is not among them: the first phase of the protocol speaks of it without a token.
func malformedWithoutToken(run *session.Run) *check.Finding {
	topic := run.Topic()
	for _, c := range []struct{ what, body string }{
		{"no token and a body that is not JSON", "not json"},
		{"no token and a body without its members", `{"timeoutMs":1000}`},
	} {
		for _, path := range run.Document.Paths(true) {
			a := post(run, path, []byte(c.body))
			f := wants401(a, "%s with %s", path, c.what).From(a.Request)
			if f == nil && !run.Spent(1) {
				continue
			}
			if f != nil && a.Err == nil && wants401(post(run, path, run.Legal(path, topic).Text()), "") != nil {
				return check.Block("P1.1", "%s is answered without a token", path)
			}
			return f
		}
	}
	return nil
}

// anyRefusal ensures that there is a 401 to judge.
func anyRefusal(run *session.Run) *check.Finding {
	if a := post(run, wire.PathCheck, []byte("{}")); a.Err != nil {
		return wants401(a, "%s with no token", wire.PathCheck)
	}
	return nil
}

func rightToken(run *session.Run) *check.Finding {
	a := run.Post(wire.PathCheck, &wire.CheckRequest{})
	if e := a.Refusal(); e != nil && e.Code == wire.CodeCheckFailed && a.Status == http.StatusBadRequest {
		return check.Differs("{ ok: true }", a.Describe(), "/check rejects the credentials that were given to this run")
	}
	_, f := a.Decode()
	return f
}

func shortToken(run *session.Run) *check.Finding {
	run.Cases++
	if n := len(run.Token); n < wire.MinTokenLength {
		return check.Differs(fmt.Sprintf("%d characters or more", wire.MinTokenLength), fmt.Sprint(n), "the token is short")
	}
	return nil
}
