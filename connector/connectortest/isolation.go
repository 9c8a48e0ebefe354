package connectortest

import (
	"bytes"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// isolationChecks are the checks of the conformance program about tenants and
// secrets.
const isolationChecks = `^(T|P3\.12$)`

// Isolation asks as two tenants, in turn and at once, and fails if one sees anything
// of the other [rule tenant-6]. It runs the checks of the conformance program that
// take two sets of credentials (T1 and so on, and P3.12 about secrets in answers), and
// does what no judge on the outside can: it searches the log. No log line, and no
// answer to wrong credentials, may contain the value of a credential in any encoding.
// Values of fewer than four bytes are not searched for. The value of a field of type
// text, such as the name of an account, may appear in data but not in errors or the
// log.
//
// Isolation also repeats the requests of both tenants, in turn and at once, for the race
// detector: each must keep getting what it got alone. If both tenants see the same data,
// the test fails, because no leak could be detected.
//
// While it runs, Isolation replaces the default loggers of the process (slog and
// log), so that it sees what a source logs. Do not call it from a parallel test.
func Isolation(t testing.TB, def connector.Definition, src connector.Source, a, b map[string]string) {
	t.Helper()
	w := newWatch(t, def, a, b)
	defer w.restore()
	server := Start(t, def, src, &connector.Options{Logger: w.logger})
	var parties [2]*party
	for i, set := range []map[string]string{a, b} {
		var err error
		if parties[i], err = newParty(t, server, 'a'+rune(i), set); err != nil {
			t.Fatalf("connectortest: tenant %c: %v", 'a'+i, err)
		}
	}
	if alike(parties[0].seen, parties[1].seen) {
		t.Fatal("connectortest: both tenants see the same rows in every table, so no leak would show: give credentials whose " +
			"data differ, or look for a source that serves one tenant's data to the other")
	}
	report, err := server.grade(t.Context(), &conformance.Options{Run: isolationChecks}, a, b)
	if err != nil {
		t.Fatalf("connectortest: %v", err)
	}
	for _, f := range findings(report) {
		t.Errorf("connectortest: %s: %s", f.check, f.text)
	}
	together(parties)
	w.stranger(server, append(parties[0].seen.discovery.Tables, parties[1].seen.discovery.Tables...))
	w.searchLog()
}

// stranger calls with wrong credentials, and searches the answers for them.
func (w *watch) stranger(server *Server, tables []wire.Table) {
	var answers bytes.Buffer
	c := client{server: server, ctx: w.t.Context(), creds: w.wrong, seen: &answers}
	_ = c.ask(wire.PathCheck, &wire.CheckRequest{Envelope: c.envelope()}, new(wire.CheckAnswer))
	_, _ = c.look()
	for i := range tables {
		_, _ = c.query(c.all(&tables[i]), maxRows)
	}
	w.search(answers.String(), w.masked, "an answer to wrong credentials")
}
