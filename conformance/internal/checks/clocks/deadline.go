package clocks

import (
	"fmt"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// deadline is when a request has to be over.
type deadline struct {
	after time.Duration // what the request states
	// latest is how long a complete answer may take that was not ended by it.
	latest time.Duration
	// ended is how long the answer may take that says so.
	ended time.Duration
}

// within returns a deadline that is kept within a tolerance.
func within(after, tolerance time.Duration) deadline {
	return deadline{after, after + tolerance, after + tolerance}
}

// judge returns what is wrong with the answer to a request with the deadline, and
// whether the answer shows how the connector keeps it.
func (d deadline) judge(a *session.Answer) (shown bool, f *check.Finding) {
	took := a.Took.Round(time.Millisecond)
	expected := fmt.Sprintf("408 timeout or, in a stream, an error line with code timeout, after %s", d.after)
	switch {
	case a.Late:
		return true, check.Differs(expected, a.Err.Error(), "the deadline is not enforced")
	case a.Err == nil && complete(a):
		if a.Took <= d.latest || a.Declined() {
			return false, nil // it did not have to wait
		}
		return true, check.Differs(expected, fmt.Sprintf("a complete answer after %s", took), "the deadline is not enforced")
	}
	if f := d.ending(a); f != nil {
		f.Expected = expected
		return true, f
	}
	switch {
	case a.Took > d.ended:
		return true, check.Differs(expected, fmt.Sprintf("after %s", took), "the deadline is enforced late")
	case d.after > time.Second && a.Took < d.after/10:
		return true, check.Differs(expected, fmt.Sprintf("after %s", took), "a timeout is answered long before the deadline")
	}
	return true, nil
}

// ending returns what is wrong with how an answer says that a deadline has elapsed.
func (d deadline) ending(a *session.Answer) *check.Finding {
	st := a.Stream
	switch {
	case st == nil && a.Err != nil:
		return check.Fail("%v", a.Err)
	case st == nil || a.Err == nil && a.Status != http.StatusOK:
		return a.RefusedWith(wire.CodeTimeout)
	case st.Fault == nil:
		received := ""
		if st.Broken != nil {
			received = st.Broken.Detail
		}
		return check.Differs("", received, "the stream is cut without a word when the deadline has elapsed")
	case st.Fault.Code != wire.CodeTimeout:
		return check.Differs("", st.Fault.Error(), "the error line of an elapsed deadline has another code")
	case st.Broken != nil:
		return check.Differs("", st.Broken.Detail, "the stream goes on after the deadline's error line")
	}
	return nil
}
