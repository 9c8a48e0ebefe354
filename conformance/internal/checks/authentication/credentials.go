package authentication

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// missingCredentials leaves each required credential out, and then all of them.
func missingCredentials(run *session.Run) *check.Finding {
	for _, field := range run.Document.Required() {
		set := run.Tenants[0].Credentials.Reveal()
		delete(set, field.Key)
		// A missing key may also count as a body that does not parse.
		how := "without " + terms.QuoteName(field.Key)
		if _, f := rejected(run, set, how, wire.CodeCheckFailed, wire.CodeBadRequest); f != nil {
			return f
		}
	}
	_, f := rejected(run, map[string]string{}, "without any", wire.CodeCheckFailed, wire.CodeBadRequest)
	return f
}

// blankCredentials leaves each optional credential out, as the form does with a blank field. What the
// source makes of the others is its own affair, so that only an internal error fails.
func blankCredentials(run *session.Run) *check.Finding {
	for _, field := range run.Document.CredentialSchema {
		if !field.Optional {
			continue
		}
		set := run.Tenants[0].Credentials.Reveal()
		delete(set, field.Key)
		run.Cases++
		a := run.Exchange(run.WithCredentials(run.Ask(wire.PathCheck, &wire.CheckRequest{}, 0), 0, set))
		if a.Err == nil && a.Status == http.StatusInternalServerError {
			return check.Differs("{ ok: true }, or 400 check_failed", a.Describe(),
				"/check without %s, which is optional, is answered with %d", terms.QuoteName(field.Key), a.Status)
		}
	}
	return nil
}

// wrongCredentials mistypes the secrets, and asks once, as somebody does who mistypes: many attempts lock an account. With
// leave to send more, it also changes what the form masks, or everything if it masks nothing.
func wrongCredentials(run *session.Run) *check.Finding {
	set := run.Mistyped(0)
	if set == nil && !run.WrongCredentials {
		return check.Skip(check.NotAsked, "no secret of the credentials can be mistyped so that it is surely wrong; "+
			"-wrong-credentials sends others")
	}
	if set != nil {
		if f := mistypedSecret(run, set); f.Failure() || !run.WrongCredentials {
			return f
		}
	}
	return replacedCredentials(run)
}

// mistypedSecret sends credentials with a mistyped secret. If /check accepts them and /query does not, /check has not
// proved them.
func mistypedSecret(run *session.Run, set map[string]string) *check.Finding {
	const how = "with a mistyped secret"
	a, f := rejected(run, set, how, wire.CodeCheckFailed)
	if f != nil || a.Err != nil {
		return f
	}
	if a.Status != http.StatusOK {
		for _, key := range run.Document.Secrets() {
			if f := quoted(a, set[key]); f != nil {
				return f
			}
		}
		return nil
	}
	query := session.Call{Path: wire.PathQuery, Body: run.Legal(wire.PathQuery, run.Topic()).Text(), Most: 1}
	wrong, right := run.Exchange(run.WithCredentials(query, 0, set)), run.Exchange(query)
	switch {
	case right.Status != http.StatusOK:
		return nil
	case wrong.Status == http.StatusOK:
		return check.Skip(check.NoData, "a mistyped secret opens /check and /query as the right one does, which may be meant")
	case !wrong.Denied():
		return nil
	}
	return check.Differs("400 check_failed", "{ ok: true }", "/check %s of the credentials is accepted, and /query refuses them: %s",
		how, wrong.Describe()).From(a.Request)
}

// replacedCredentials changes what the form masks, or everything if it masks nothing.
func replacedCredentials(run *session.Run) *check.Finding {
	fields := run.Document.Required()
	masked := slices.ContainsFunc(fields, func(f wire.CredentialField) bool { return f.Type == wire.CredentialPassword })
	set := run.Tenants[0].Credentials.Reveal()
	for _, f := range fields {
		if f.Type == wire.CredentialPassword || !masked {
			set[f.Key] = payload.WrongCredential
		}
	}
	a, f := rejected(run, set, "with wrong values", wire.CodeCheckFailed)
	if f == nil && masked {
		f = quoted(a, payload.WrongCredential)
	}
	return f
}

func quoted(a *session.Answer, secret string) *check.Finding {
	if !bytes.Contains(a.Body, []byte(secret)) {
		return nil
	}
	f := check.Fail("/check quotes the secret that was typed, and so it would quote a real one")
	f.Fix = "Write the message without what was typed into a masked field: name the field by its label."
	return f
}

// rejected returns the answer of /check to a wrong set of credentials, and what is
// wrong with it. It may also accept the set, which may be right for what the source knows.
func rejected(run *session.Run, set map[string]string, how string, codes ...wire.Code) (*session.Answer, *check.Finding) {
	run.Cases++
	a := run.Exchange(run.WithCredentials(run.Ask(wire.PathCheck, &wire.CheckRequest{}, 0), 0, set))
	if answer, f := a.Decode(); f == nil && answer.(*wire.CheckAnswer).OK {
		return a, nil
	}
	if a.TimedOut {
		return a, nil // the upstream makes callers with wrong credentials wait
	}
	if f := a.RefusedWith(codes...); f != nil {
		f.Expected += ", or { ok: true }"
		return a, f.In("/check %s of the credentials is %s", how)
	}
	if strings.TrimSpace(a.Refusal().Message) == "" {
		f := check.Differs("a message for the person who typed the credentials", "an empty message",
			"/check %s of the credentials is rejected without a message", how)
		f.Fix = "Say in error.message what is wrong with the credentials: the platform shows it to the person who typed them."
		return a, f
	}
	return a, nil
}
