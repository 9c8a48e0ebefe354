package conformance

import (
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
)

// Request is a request as a report shows it, without secrets. In the place of the
// token and the credentials, the URL, the headers and the body hold
// $PLATFORM_CONNECTOR_TOKEN, $CONNECTOR_CREDENTIALS and $CONNECTOR_CREDENTIALS_2, or a
// shell expression that changes the token as the check did. What neither can stand for
// is shown as [token] or [redacted].
type Request struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Header http.Header `json:"header,omitempty"`
	Body   string      `json:"body,omitempty"`
}

// Curl returns the request as a command line for bash, zsh and ksh. It works as
// pasted once the variables that it names are set, and shows the status and the
// headers of the answer as well.
func (r *Request) Curl() string { return (*check.Request)(r).Curl() }
