package authentication

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
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

// wrongCredentials changes what the form masks, or everything if it masks nothing. It
// asks once, because accounts get locked.
func wrongCredentials(run *session.Run) *check.Finding {
	if !run.WrongCredentials {
		return session.NotAskedFor()
	}
	fields := run.Document.Required()
	masked := slices.ContainsFunc(fields, func(f wire.CredentialField) bool { return f.Type == wire.CredentialPassword })
	set := run.Tenants[0].Credentials.Reveal()
	for _, f := range fields {
		if f.Type == wire.CredentialPassword || !masked {
			set[f.Key] = session.WrongCredential
		}
	}
	a, f := rejected(run, set, "with wrong values", wire.CodeCheckFailed)
	if f == nil && masked && bytes.Contains(a.Body, []byte(session.WrongCredential)) {
		f = check.Fail("/check quotes the secret that was typed, and so it would quote a real one")
		f.Fix = "Write the message without what was typed into a masked field: name the field by its label."
	}
	return f
}

// rejected returns the answer of /check to a wrong set of credentials, and what is
// wrong with it. /check may also accept it, because not every source can tell.
func rejected(run *session.Run, set map[string]string, how string, codes ...wire.Code) (*session.Answer, *check.Finding) {
	run.Cases++
	a := run.Exchange(run.WithCredentials(run.Ask(wire.PathCheck, &wire.CheckRequest{}, 0), 0, set))
	var ok wire.CheckAnswer
	if a.Status == http.StatusOK && a.Decode("check-answer", &ok) == nil && ok.OK {
		return a, nil
	}
	if a.TimedOut() {
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
