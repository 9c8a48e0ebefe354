package connectortest

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
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
	both := []*repeater{newRepeater(t, server, "tenant a", a), newRepeater(t, server, "tenant b", b)}
	if alike(both[0].alone, both[1].alone) {
		t.Fatal("connectortest: both tenants see the same rows in every table, so no leak would show: give credentials whose " +
			"data differ, or look for a source that serves one tenant's data to the other")
	}
	report, err := server.grade(t.Context(), &conformance.Options{Match: isolationChecks}, a, b)
	if err != nil {
		t.Fatalf("connectortest: %v", err)
	}
	for _, f := range findings(report) {
		t.Errorf("connectortest: %s: %s", f.check, f.text)
	}
	for range 5 {
		for _, tenant := range both {
			tenant.ask(t.Context())
		}
	}
	together(both, 2)
	w.stranger(server, slices.Concat(both[0].alone.discovery.Tables, both[1].alone.discovery.Tables))
	w.searchLog()
}

// alike reports whether two tenants see the same rows in every table.
func alike(a, b *snapshot) bool {
	for name, table := range a.tables {
		if b.tables[name] == nil || len(b.tables) != len(a.tables) ||
			oracle.Verify(b.tables, wholeOf(a.table(name)), table.Rows) != nil {
			return false
		}
	}
	return len(a.tables) > 0
}

// stranger calls with wrong credentials, and searches the answers for them.
func (w *watch) stranger(server *Server, tables []wire.Table) {
	var answers bytes.Buffer
	client := server.platform(platform.Options{HTTP: &http.Client{Transport: copying{server.Client.Transport, &answers}}})
	_ = client.Check(w.t.Context(), w.wrong)
	_, _ = client.Discover(w.t.Context(), w.wrong)
	for i := range tables {
		_, _ = readTable(w.t.Context(), client, w.wrong, &tables[i], maxRows)
	}
	w.search(answers.String(), w.masked, "an answer to wrong credentials")
}

// copying copies the bodies of the answers that it transports.
type copying struct {
	http.RoundTripper
	to io.Writer
}

func (c copying) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(res.Body, c.to), res.Body}
	}
	return res, err
}
