package killtest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// protocolIDs are the checks of phases 0, 1 and 3 and the advice on them.
const protocolIDs = `^(P[013]\.|A\.([1-7]|1[0-4]|16|17|20)$)`

// TestProtocolOfHealthyConnectors grades connectors that break no rule: nothing may be found, and nothing be blocked.
func TestProtocolOfHealthyConnectors(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		name, why   string
		mode        conformance.Mode
		credentials []map[string]string
		passed      int // at least
		build       func() http.Handler
	}{
		{name: "four planets", why: "three methods make a connector", passed: 40, mode: conformance.ModeLive,
			build: func() http.Handler {
				return connectors.Handler(testToken, connectors.ThreeMethods(connectors.Planets()))
			}},
		{name: "the corpus in full", why: "the library and memsource keep every rule", passed: 60,
			build: ofCorpus(connector.Definition{KeysEnforced: true, Limits: wire.Limits{RowsPerTableMax: 100_000}}, connector.Omit{})},
		{name: "nothing declared", why: "what is not declared is refused, which is legal", passed: 40,
			build: ofCorpus(connector.Definition{}, undeclared)},
		{name: "one sort key and no offset", why: "windows beyond what is declared are answered in full", passed: 50,
			build: ofCorpus(connector.Definition{Limits: wire.Limits{OffsetMax: 3}}, connector.Omit{Sort: wire.SortSingle, Offset: true})},
		{name: "with credentials", why: "rejected credentials are told apart from a wrong token", passed: 60,
			credentials: []map[string]string{{"apiKey": goodKey, "account": "acme"}, {"apiKey": otherKey, "account": "globex"}},
			build:       keyed(nil)},
	} {
		if !testrun.Runs(i, 8) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, c.build(), grading{Options: conformance.Options{Mode: c.mode, Match: protocolIDs}, credentials: c.credentials})
			r.nothingFound(t, c.why, conformance.Advise, conformance.Blocked, conformance.NotReached, conformance.DataChanged)
			require.Empty(t, r.Problem)
			require.GreaterOrEqual(t, r.Summary().Passed, c.passed)
		})
	}
}

// The keys of the two tenants of [keyed].
const (
	goodKey  = `sk-live-<8f31/"x">`
	otherKey = "sk-live-77aa01"
)

// keyed returns the corpus behind credentials; wrong returns what a rejected set is answered, when it is not what it should be.
func keyed(wrong func() error) func() http.Handler {
	return func() http.Handler {
		src := connectors.Bend(corpusSource())
		src.OnCheck = func(_ context.Context, req *wire.CheckRequest) error {
			switch key := req.Credentials.Get("apiKey"); {
			case key == goodKey, key == otherKey:
				return nil
			case wrong != nil:
				return wrong()
			}
			return connector.CheckFailed("the API key of account %s is not known; copy it from the console", req.Credentials.Get("account"))
		}
		return serve(connector.Definition{Credentials: []wire.CredentialField{
			{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword},
			{Key: "account", Label: "Account", Type: wire.CredentialText},
		}}, src, nil)
	}
}

// TestNoAnswer requires that no answer for the document is no verdict, whatever is
// selected: the first check that asks for it does not fail either.
func TestNoAnswer(t *testing.T) {
	for _, selected := range []string{"", "^P0", `^P0\.1$`, "^P1"} {
		silent := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		r := grade(t, silent, with(matching(selected)))
		require.Equal(t, check.ExitNotRun, r.Exit(), "%s: %v", selected, r.Err())
		require.Contains(t, r.Problem, "no answer for the document")
		require.Empty(t, r.Failures())
	}
}

// TestWrongToken requires what the platform says about a token that is refused.
func TestWrongToken(t *testing.T) {
	h := usual()
	r := grade(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 40))
		}
		h.ServeHTTP(w, r)
	}), grading{})
	o := r.Outcome("P1.6")
	require.Equal(t, conformance.Fail, o.Verdict)
	require.Equal(t, "The connector rejected the token", o.Detail)
	require.Len(t, r.Failures(), 1, "everything else is blocked, or passes")
	require.Equal(t, check.ExitFail, r.Exit())
}
