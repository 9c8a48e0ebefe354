// Package conformance grades external data connectors, written in any language,
// from the outside. It is the program that a platform runs after each connect, as a
// package and as a command:
//
//	go run github.com/connectorsdk/connector-sdk-go/conformance/cmd/conform http://localhost:8080
//
// It shares no code with the connectors of this module: package oracle computes
// again what a connector must answer.
//
// # From a test
//
// This is a whole test of a connector. It has one subtest for each check, so that
// `go test -run 'TestConnector/Conformance/P3.4c'` runs one of them:
//
//	package shop
//
//	import (
//		"testing"
//
//		"github.com/connectorsdk/connector-sdk-go/conformance"
//		"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
//	)
//
//	func TestConnector(t *testing.T) {
//		const token = "a-token-of-thirty-two-characters"
//		target, stop := conformance.InProcess(NewHandler(token), token)
//		defer stop()
//		conformancetest.Test(t, target, &conformance.Options{Mode: conformance.ModeLive})
//	}
//
// [InProcess] serves any [net/http.Handler] without a port. A connector that runs
// elsewhere is Target{URL: ..., Token: wire.NewBearer(...)}. [Run] returns the [Report]
// itself, whose [Report.Err] is nil when no check failed and something was judged.
//
// # Modes
//
//	fixture  phases 0 to 3: the connector serves the corpus (package corpus;
//	         conform -fixture writes it out), so every answer is known
//	live     phases 0, 1, 3 and 4, read-only, over whatever it serves: answers
//	         are compared with each other and with the rows
//	both     all of them, over the corpus
//
// Phase 0 is the document, 1 authentication, 2 agreement with the corpus, 3 the
// protocol's behaviour, 4 live data. [Options.Checks] lists the checks; their ids are stable.
//
// With two sets of credentials, checks judge that two tenants are kept apart. Their
// data must differ: otherwise nothing tells whose an answer is.
//
// Wrong credentials may lock an account, so a run sends few of them: a mistyped secret
// and, with two sets, the secret of the other, at most three times for each account and
// never twice in a row. [Options].WrongCredentials sends more. The verdict says what was
// not tried.
//
// # Verdicts
//
// A check ends with one of these:
//
//	pass    the rule holds
//	fail    with what was expected and received, and the request
//	skip    not declared; data cannot exercise it; data changed while reading;
//	        blocked by another check's failure; not reached
//	advice  a rule that is not binding is broken; no exit code changes
//
// A check fails a connector only for a rule of the rulebook (docs/protocol.md) that
// binds it, which it cites. Where the protocol allows several readings, all pass.
//
// The exit code, [Report.Exit], is 1 exactly if a check failed. Otherwise it is 2 if the
// run could not happen or judged nothing: no answer came for the document, the document
// requires credentials that were not given, the corpus is not loaded, no row of any
// table was read in the modes live and both, or the run was cut short. Else it is 0. The
// last line of the report says what the code means:
//
//	NOT CONFORMANT            a check failed
//	NOT GRADED                the run judged nothing, and why; with the code 1 if all
//	                          that failed is that the connector refused the token or
//	                          the credentials of the run
//	CONFORMANT                no check failed; it names the rows, tables, fields,
//	                          operators and values that this rests on
//	NOT WHOLE                 no check failed, but some checks were left out, because
//	                          all of them need more requests than Options.Requests,
//	                          or nothing was judged of some tables; it names them
//	NO SELECTED CHECK FAILED  Options.Phases or Options.Match left checks out, or
//	                          Options.Tables left tables out
//	CONFORMANT AS FAR AS IT   no check failed, but the connector takes queries in a
//	CAN BE JUDGED             dialect of SQL alone; what rows SQL answers is not
//	                          judged, all other routes and the streams are
//
// # Reading a report
//
// Begin with the first failure: checks run from what is simple to what rests on it, and those
// that cannot be judged because of a failure stand below it. A failure names the facets of its
// check that are broken, and is about the one that is broken most. It says what is wrong, what was expected
// and received, the request as a line for a shell, what to do, and the rules that are
// broken. The line works as pasted once the variables it names are set:
//
//	export PLATFORM_CONNECTOR_TOKEN=... CONNECTOR_CREDENTIALS='{"apiKey":"..."}'
//
// No report holds the token or a credential, nor what a check makes of them: where a
// check changes the token, the line holds a shell expression that changes it likewise,
// such as ${PLATFORM_CONNECTOR_TOKEN%?}. What a connector echoes is removed in any case
// and in the usual encodings; a piece of fewer than 16 characters may stay. A request
// that cannot be sent again because of it says so.
//
// Every form of a report lists the fields of each table and, for each operator that the
// document declares, the number of judged answers: a gap is an operator that nothing has
// exercised on that field. A table that was not read whole says why.
//
// [Report.Text] fits one fault on one screen, or leaves nothing out.
// [Report.JSON], [Report.JUnit] and [Report.HTML] are the other forms.
//
// # Seed and budgets
//
// The seed makes the generated queries. It is fixed, so two runs over the same data ask
// the same; a failing query is reported in the smallest form that still fails.
// [Options].Seed asks others.
//
// [Options].Requests is the most requests that a run sends, and the checks share them: each
// asks its most telling requests first and stops when its share is used. If they are too few
// for all checks, the document, the token and what is judged of rows come first, and the
// verdict names what was left out. Nobody who does not give a number waits for 1500 answers
// of a slow connector: the run asks so much less that it takes ten minutes, though never less
// than 400, and ends when it has asked. A request that is answered with 408 timeout, or by
// a gateway with 429, is sent again after a minute or the Retry-After. [Options].Pace is the least time between the starts of
// two requests. [Options].Tables selects tables of a large source.
//
// # Limits
//
// The program does not trust what a connector sends. It reads answers up to the
// protocol's limits and no further, and never follows redirects. It waits 15 seconds for
// the document and for what needs no source, 20 for the first /check, 45 for other
// answers, 30 for the next line of a stream and 70 for the whole of it, unless a check is
// about time. A route that has left a request unanswered is tried once more at most, and a
// run that has waited 55 seconds for such answers begins no further check.
//
// [Options].Timeout limits the run, a day if nobody gives one, and [Options].RowBudget the
// tables that are read whole: at most four times as many rows, and half a gigabyte, are held at once. A run
// that is cut short reports what it learned.
//
// A run over the corpus in this process takes about a second of processor time. If
// the connector serves the corpus's optional table slow, whose rows stall for 25
// seconds, the deadline checks wait for it beside the others, four at a time: the run
// takes half a minute, or no time in a testing/synctest bubble. Over other data,
// deadlines are judged on the slowest call to each route: it is asked again with a
// quarter of the time that it needs. Where no call takes 30 milliseconds, the report
// says that no deadline could be judged.
//
// Checks run one after another. Some send several requests at once, never more than
// the document's limits.concurrency. Runs share nothing: any number may be under way
// in one process.
//
// # What it does not do
//
// It does not load the corpus, write to the source, or measure speed. It cannot see
// what a connector logs or keeps about a tenant between calls, nor whether a
// declared key is a real constraint: only that the rows at hand obey it. In the mode
// live, what the data cannot exercise is skipped, and the report says so.
//
// # Writing a check
//
// A check is a row of a table in the package of its theme, below internal/checks:
// document, authentication, fixture (the corpus), protocol, clocks (deadlines and
// heartbeats), live, tenants and advice. It has an id that never changes, a title
// that says what holds when it passes, the rules it defends and what an author
// should do about it. Its judge gets a session.Run, asks the connector through it,
// and returns a check.Finding: nil when the check passes, otherwise a failure, a
// skip with a reason, or a block that names the check whose fault stands in the way.
// What is learned is asked for once and shared by the run: the document, the
// discovery, whole tables. Rules about every answer are judged as it is read and
// need no request of their own.
//
// A check stays only with a proof that it can fail: a connector that breaks this
// rule, which it must name, and the unusual connectors that break none, which
// it must pass. Both are in the tests of the folder killtest; KILLMATRIX.md lists the former.
package conformance
