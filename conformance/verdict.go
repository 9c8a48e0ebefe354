package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// verdict is what a run comes to.
type verdict struct {
	Exit  int    `json:"exit"`  // one of the exit codes of package check
	Class string `json:"-"`     // pass, fail or skip, as of a check
	Words string `json:"words"` // such as "not conformant"
	Why   string `json:"why"`   // a sentence about what the exit code stands for
	// LeftOut is what the run has not judged although nothing was wrong; empty if it has
	// judged everything, or has found enough.
	LeftOut string `json:"leftOut,omitempty"`
	// Share is how many of a hundred questions were asked that the document and the data allow.
	Share int `json:"share"`
	// Problem is why the run is not green for another reason than that the connector broke a
	// rule, or empty.
	Problem string `json:"-"`
}

// verdict decides what the run comes to. All forms of a report, its exit code and its
// error follow from it.
func (r *Report) verdict() verdict {
	s := r.Summary()
	problem, alike := r.Problem, r.alike()
	share, whole := r.coverage.Percent()
	switch {
	case s.Failed > 0 && !slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Verdict == Fail && o.refused == "" }):
		return verdict{Exit: check.ExitFail, Class: "skip", Words: "not graded", Why: problem, Problem: problem}
	case s.Failed > 0:
		why := plural(s.Failed, "check", "checks") + " failed"
		if problem != "" {
			why += "; and " + problem
		} else if alike != "" {
			why += "; and not graded for tenants: " + alike
		}
		return verdict{Exit: check.ExitFail, Class: "fail", Words: "not conformant", Why: why, Problem: problem, Share: share}
	case problem == "" && s.Passed+s.Advised == 0:
		problem = "nothing was checked"
	}
	if problem != "" {
		return verdict{Exit: check.ExitNotRun, Class: "skip", Words: "not graded", Why: problem, Problem: problem}
	}
	if alike != "" {
		why := alike + "; apart from that, no check failed" + r.basis()
		return verdict{Exit: check.ExitNotRun, Class: "skip", Words: "not graded for tenants", Why: why, Problem: alike, Share: share}
	}
	v := verdict{Exit: check.ExitPass, Class: "pass", LeftOut: r.leftOut(), Share: share}
	switch {
	case r.selection():
		v.Words, v.Why = "no selected check failed", fmt.Sprintf("%d of the %s of the mode ran",
			s.Planned, plural(r.Available, "check", "checks"))
		if len(r.Tables) > 0 {
			v.Why += ", over the selected tables alone: " + strings.Join(r.Tables, ", ")
		}
	case r.DialectOnly != "":
		v.Words, v.Why = "conformant as far as it can be judged", fmt.Sprintf(
			"no check failed; queries are taken in the dialect %s alone, and the rows that SQL answers cannot be judged",
			strconv.Quote(r.DialectOnly))
	case v.LeftOut != "":
		v.Words, v.Why = "not whole", "no check failed, but "+v.LeftOut+r.slow()
	case !whole && r.Mode != ModeFixture:
		v.Words = fmt.Sprintf("conformant as far as asked (%d %%)", share)
		v.Why = "no check failed" + r.slow() + "; not asked were " + r.coverage.NotAsked()
	default:
		v.Words, v.Why = "conformant", "no check failed"+r.slow()
	}
	v.Why += r.basis()
	return v
}

// basis returns the end of a sentence that says what the verdict rests on, if it is one on the whole connector.
func (r *Report) basis() string {
	if r.coverage.Basis.Text == "" || r.DialectOnly != "" || r.selection() {
		return ""
	}
	text := "; " + r.coverage.Basis.Text
	if second := r.coverage.Second; second != nil {
		share, _ := second.Percent()
		text += fmt.Sprintf(", and %d %% of what the second account allows", share)
	}
	return text + r.untried()
}

// untried returns the end of a sentence that says what wrong credentials have not shown, or "" if the run was free to send
// any, or if the connector takes none.
func (r *Report) untried() string {
	i := slices.IndexFunc(r.Outcomes, func(o Outcome) bool { return o.ID == "P1.7b" })
	if i < 0 || r.wrong {
		return ""
	}
	switch o := &r.Outcomes[i]; {
	case o.Verdict == Pass:
		return "; of wrong credentials few were tried (-wrong-credentials)"
	case o.Reason == NotAsked:
		return "; wrong credentials were not tried (-wrong-credentials)"
	case o.Reason == NoData:
		return "; " + o.Detail
	}
	return ""
}

// slow returns the end of a sentence that says how long a whole run takes, if time cut this one short.
func (r *Report) slow() string {
	if r.Whole == 0 {
		return ""
	}
	minutes := int(r.Whole/time.Minute) + 1
	return fmt.Sprintf("; the connector was slow: a whole run takes about %s: -timeout %dm", plural(minutes, "minute", "minutes"), minutes)
}

// alike returns why the checks about tenants could not tell two accounts apart although they were to, or "".
func (r *Report) alike() string {
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.ID == "T2" && o.Verdict == Skip && (o.Reason == NoData || o.Reason == DataChanged) && r.twoAccounts {
			return o.Detail
		}
	}
	return ""
}

// selection reports whether only some checks of the mode were planned, or only some
// tables judged.
func (r *Report) selection() bool { return len(r.Outcomes) < r.Available || len(r.Tables) > 0 }

// refusal returns how the connector refused the token or the credentials of the run, or "".
func (r *Report) refusal() string {
	for i := range r.Outcomes {
		if r.Outcomes[i].refused != "" {
			return r.Outcomes[i].refused
		}
	}
	return ""
}

// leftOut returns which planned checks and which tables a run has not judged although
// nothing was wrong, or "".
func (r *Report) leftOut() string {
	var parts, ids, tables []string
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Reason == NotReached && !o.Advice {
			ids = append(ids, o.ID)
		}
	}
	if len(ids) > 0 {
		parts = append(parts, fmt.Sprintf("%s left out: %s", plural(len(ids), "check was", "checks were"), phrase.Some(compact(ids), maxNamed)))
	}
	unjudged := r.coverage.Basis.Unjudged
	if unjudged == 0 || r.Mode == ModeFixture { // which tables the corpus is judged by is not a matter of the run
		return strings.Join(parts, "; and ")
	}
	for i := range r.coverage.Tables {
		if t := &r.coverage.Tables[i]; t.Unjudged != "" {
			tables = append(tables, terms.QuoteName(t.Name))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%s not judged: %s",
		plural(unjudged, "table was", "tables were"), phrase.Some(tables, maxNamed))), "; and ")
}

// maxNamed is how many checks or tables a verdict names.
const maxNamed = 10

// nothingJudged returns a sentence that tells what to do if no row of any table was
// judged, or "".
func (r *Report) nothingJudged() string {
	switch tables := len(r.coverage.Tables); {
	case r.coverage.Basis.Rows > 0, r.Mode == ModeFixture, r.DialectOnly != "", r.selection(), r.Summary().Failed > 0:
		return ""
	case slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Reason == NotReached && !o.Advice }):
		return "nothing was judged: the requests were too few to read a row of any table; allow more, and run again"
	case tables == 0:
		return "nothing was judged: discovery lists no table; " +
			"give the credentials of an account that has tables, and run again"
	default:
		return fmt.Sprintf("nothing was judged: no row was read of the tables that discovery lists, %d in all; "+
			"give the credentials of an account that holds rows, and run again", tables)
	}
}

// Verdict returns the verdict in words, as the last line of [Report.Text] has it.
func (r *Report) Verdict() string {
	v := r.verdict()
	return fmt.Sprintf("%s: %s", strings.ToUpper(v.Words), v.Why)
}

// Exit returns the code that the program ends with: 1 exactly if a check failed, 2 if the
// run could not happen or judged nothing, else 0.
func (r *Report) Exit() int { return r.verdict().Exit }

// Err returns nil when the exit code is 0. Otherwise the error names the failed checks,
// or says why the run could not happen.
func (r *Report) Err() error {
	v := r.verdict()
	switch failures := r.Failures(); {
	case v.Exit == check.ExitPass:
		return nil
	case len(failures) > 0 && v.Why != v.Problem:
		lines := make([]string, len(failures))
		for i, o := range failures {
			lines[i] = fmt.Sprintf("%s %s: %s", o.ID, o.Title, o.Detail)
		}
		return fmt.Errorf("%d of %d checks failed:\n%s", len(failures), len(r.Outcomes), strings.Join(lines, "\n"))
	}
	return errors.New(v.Why)
}
