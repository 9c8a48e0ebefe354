package conformance

import (
	"context"
	"fmt"
	"time"
)

// exam is one check being judged. It ends by returning, which passes, or by
// one of fail, skip and blocked, which do not return.
type exam struct {
	*session
	ctx   context.Context
	check *Check
	// last is the request that is quoted when the check fails.
	last *Request
	// cases counts what was judged, for the report.
	cases int
}

// ended is the panic that carries an outcome out of a judge.
type ended struct{ Outcome }

// finding is what a check has against an answer.
type finding struct {
	detail             string
	expected, received string
	request            *Request // nil: the exam's last
	cases, failed      int
}

// fail ends the check.
func (x *exam) fail(format string, args ...any) {
	x.found(&finding{detail: fmt.Sprintf(format, args...)})
}

// want ends the check and tells what was expected and received.
func (x *exam) want(expected, received, format string, args ...any) {
	x.found(&finding{detail: fmt.Sprintf(format, args...), expected: expected, received: received})
}

// found ends the check unless f is nil.
func (x *exam) found(f *finding) {
	if f == nil {
		return
	}
	if f.request == nil {
		f.request = x.last
	}
	o := Outcome{Verdict: Fail, Detail: f.detail, Expected: f.expected, Received: f.received, Request: f.request,
		Cases: max(f.cases, x.cases), Failed: max(f.failed, 1)}
	if x.check.Advice {
		o.Verdict = Advise
	}
	panic(ended{o})
}

// skip ends the check.
func (x *exam) skip(reason Reason, format string, args ...any) {
	panic(ended{Outcome{Verdict: Skip, Reason: reason, Detail: fmt.Sprintf(format, args...), Cases: x.cases}})
}

// blocked ends the check because of a fault that another check reports.
func (x *exam) blocked(id, why string) {
	if x.check.ID == id {
		x.fail("%s", why)
	}
	x.skip(Blocked, "by %s: %s", id, why)
}

// attempt runs part of a check and tells its finding instead of ending the
// check, for judges that go on after the first. Skips end the check as ever.
func (x *exam) attempt(part func()) (f *finding) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case ended:
			if e.Verdict != Fail && e.Verdict != Advise {
				panic(e)
			}
			f = &finding{detail: e.Detail, expected: e.Expected, received: e.Received, request: e.Request}
		default:
			panic(e)
		}
	}()
	part()
	return nil
}

// judge runs one check.
func (s *session) judge(ctx context.Context, c *Check) (o Outcome) {
	x := &exam{session: s, ctx: ctx, check: c}
	began := time.Now()
	defer func() {
		switch e := recover().(type) {
		case nil:
		case ended:
			o = e.Outcome
		default:
			// A fault of this program, which must cost no more than the check.
			s.fault = fmt.Sprintf("this program failed in check %s: %v", c.ID, e)
			o = Outcome{Verdict: Skip, Reason: NotReached, Detail: s.fault}
		}
		if o.Verdict != Pass && ctx.Err() != nil {
			// Whatever was found, it was found by a request that was cut short.
			o = Outcome{Verdict: Skip, Reason: NotReached, Detail: s.interrupted(ctx)}
		}
		o.Check, o.Duration = *c, time.Since(began)
		s.scrub(&o)
	}()
	if err := ctx.Err(); err != nil {
		x.skip(NotReached, "%s", s.interrupted(ctx))
	}
	if !c.open {
		x.authorized()
		if c.needs != nil {
			if why := c.needs(x.document()); why != "" {
				x.skip(NotDeclared, "%s", why)
			}
		}
	}
	if c.judge != nil {
		c.judge(x)
	}
	return Outcome{Verdict: Pass, Cases: x.cases}
}
