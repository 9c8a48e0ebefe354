package ask

import (
	"context"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
)

// Complaint is what is wrong with the answer to a question.
type Complaint struct {
	*check.Finding
	// Kind tells complaints apart: two of one kind are wrong in the same way.
	Kind string
	// Lost is set when no answer came, so that asking again may take as long.
	Lost bool
	// Cause is the check whose rule is broken, where the answer shows it; empty: what is left
	// of the question tells it.
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
