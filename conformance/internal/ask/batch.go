package ask

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/shrink"
)

// How many questions are under way at once.
const (
	usualWidth = 4 // of a connector that does not declare its concurrency
	maxWidth   = 8
)

// Width returns how many questions may be under way at once. A connector in this process is asked one after the other,
// so that a run with the same seed is the same run.
func (a *Runner) Width() int {
	if a.InProcess {
		return 1
	}
	width := int(a.Document.Capabilities.Limits.Concurrency)
	if width < 1 {
		width = usualWidth
	}
	return min(width, maxWidth)
}

// Batch asks questions at once and returns, for each, what is wrong with its answer.
func (a *Runner) Batch(list []*exam.Question) []*Complaint {
	calls, answers := make([]session.Call, len(list)), make([]*session.Answer, len(list))
	for i, q := range list {
		calls[i] = a.call(q)
	}
	check.AtOnce(len(list), func(i int) { answers[i] = a.ExchangeWith(a.Ctx, calls[i]) })
	complaints := make([]*Complaint, len(list))
	for i, q := range list {
		a.asked++
		q.Number = a.asked
		if complaints[i] = a.assess(q, answers[i]); complaints[i] == nil {
			a.Cases++
			a.count(q)
		}
	}
	return complaints
}

// confirmTries is how often a question is asked again about a table that keeps changing.
const confirmTries = 3

// Confirm asks a question again that was answered wrongly, with nothing else under way. It returns the complaint if the
// answer is wrong twice while the table stays as it is. If the table has changed, the question's subject is given the
// new rows; moved is set if it keeps changing. A finding ends the check. A wrong answer whose question is answered
// rightly alone, while the table has not changed, is counted as wrong beside others.
func (a *Runner) Confirm(q *exam.Question, c *Complaint) (_ *Complaint, moved bool, f *check.Finding) {
	for range confirmTries {
		changed, f := a.refresh(q.Subject, c)
		if f != nil {
			return nil, false, f
		}
		first := c
		c = a.judge(q)
		if c == nil && !changed && a.Width() > 1 && first.holdsAnswer() {
			a.beside++
			a.wrongBeside = cmp.Or(a.wrongBeside, first)
		}
		if c == nil || !c.Failure() || !changed {
			return c, false, nil
		}
	}
	return c, true, nil
}

// besideOthers is how many answers must be wrong beside others, and right alone, until that is no
// accident of data that moved there and back.
const besideOthers = 3

// Beside returns the finding that answers are wrong when several questions are under way, or nil.
func (a *Runner) Beside() *check.Finding {
	if a.beside < besideOthers {
		return nil
	}
	f := *a.wrongBeside.Finding
	return f.In("%d answers were wrong beside other requests, and right when they were asked for alone; the first: %s", a.beside)
}

// refresh reads the table of a subject again, and reports whether it has changed.
func (a *Runner) refresh(s *exam.Subject, c *Complaint) (changed bool, f *check.Finding) {
	if s.Window > 0 && c.Kind != "missing" {
		return false, nil // the answer itself shows that it is wrong
	}
	d, f := a.Discovery(0)
	if f != nil {
		return false, f
	}
	described := d.Lookup[s.Table.Name]
	now, changed, f := a.ReadAgain(described, s.Table, s.Window > 0)
	if changed && now != nil {
		s.Renew(exam.InOrder(now), described)
	}
	return changed, f
}

// Smallest returns the smallest question that is still answered as wrongly as q, and the
// complaint about it, under the check that it belongs to and with what repeats it.
func (a *Runner) Smallest(q *exam.Question, c *Complaint) (*exam.Question, *Complaint) {
	small := q
	if !c.Lost {
		small, c = a.shrink(q, c)
	}
	f := *c.Finding
	f.Detail += fmt.Sprintf(" (seed %d, generated case %d", a.Seed, q.Number)
	if before, after := shrink.Size(q.Message()), shrink.Size(small.Message()); after < before {
		f.Detail += fmt.Sprintf(", shrunk from %d members to %d", before, after)
	}
	f.Detail += ")"
	// What is left of the question is what the connector does wrong, whichever check came upon it.
	if id := cmp.Or(c.Cause, causeOf(small)); a.Live && f.Skip == "" && id != a.Check.ID {
		f.Skip, f.By = check.Blocked, id
	}
	named := *c
	named.Finding = &f
	return small, &named
}

// Complaint is what is wrong with the answer to a question.
type Complaint struct {
	*check.Finding
	// Kind tells complaints apart: two of one kind are wrong in the same way.
	Kind string
	// Lost is set when no answer came, so that asking again may take as long.
	Lost bool
	// Cause is the check whose rule is broken, where the answer shows it; empty: what is left of the question tells it.
	Cause string
}

// holdsAnswer reports whether an answer came that is wrong. A refusal may be for want of time or
// room, and tells what it is.
func (c *Complaint) holdsAnswer() bool {
	return !c.Lost && c.Kind != "broken" && !strings.HasPrefix(c.Kind, "refused")
}

// shrink returns the smallest question found that is answered wrongly in the same way, and the complaint about its
// answer. They are those it was given if nothing smaller fails.
func (a *Runner) shrink(q *exam.Question, c *Complaint) (*exam.Question, *Complaint) {
	ctx, stop := context.WithCancel(a.Ctx)
	defer stop()
	small := q.Smallest(ctx, func(smaller *exam.Question) bool {
		still := a.judge(smaller)
		if still == nil || still.Kind != c.Kind {
			return false
		}
		if still.Lost { // a connector that stops answering is not waited for again and again
			stop()
			return false
		}
		c = still
		return true
	})
	return small, c
}
