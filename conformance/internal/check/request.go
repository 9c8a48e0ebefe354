package check

import (
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The environment variables that a [Request.Curl] line reads.
const (
	EnvToken        = "PLATFORM_CONNECTOR_TOKEN"
	EnvCredentials  = "CONNECTOR_CREDENTIALS"   // a JSON object
	EnvCredentials2 = "CONNECTOR_CREDENTIALS_2" // of the second tenant
)

// The exit codes of the program.
const (
	ExitPass   = 0
	ExitFail   = 1
	ExitNotRun = 2
)

// Shell expressions for values that checks make of the token.
const (
	TokenWithoutLast = "${" + EnvToken + "%?}"
	TokenFirstHalf   = "${" + EnvToken + ":0:${#" + EnvToken + "}/2}"
	TokenSecondHalf  = "${" + EnvToken + ":${#" + EnvToken + "}/2}"
	TokenLower       = `$(printf %s "$` + EnvToken + `" | tr A-Z a-z)`
	TokenUpper       = `$(printf %s "$` + EnvToken + `" | tr a-z A-Z)`
	// TokenAsPassword and TokenAsUser are the token as curl -u sends it.
	TokenAsPassword = `$(printf 'connector:%s' "$` + EnvToken + `" | base64 | tr -d '\n')`
	TokenAsUser     = `$(printf '%s:' "$` + EnvToken + `" | base64 | tr -d '\n')`
	// TokenEscaped writes every byte as %xx, for a query string.
	TokenEscaped = `$(printf %s "$` + EnvToken + `" | od -An -v -tx1 | tr -d '\n' | sed 's/ *$//; s/  */%/g')`
)

// Request is a request as a report shows it, without secrets. In the place of the
// token and the credentials, the URL, the headers and the body hold the
// variables $PLATFORM_CONNECTOR_TOKEN, $CONNECTOR_CREDENTIALS and
// $CONNECTOR_CREDENTIALS_2, or an expression of a shell that changes the token.
// What neither can stand for is shown as [token] or [redacted].
type Request struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Header http.Header `json:"header,omitempty"`
	Body   string      `json:"body,omitempty"`
}

// expressions lists what may stand for a secret in a shown request. A longer name
// comes before one that it begins with.
var expressions = []string{
	"$" + EnvToken, "$" + EnvCredentials2, "$" + EnvCredentials,
	TokenWithoutLast, TokenFirstHalf, TokenSecondHalf, TokenAsPassword, TokenAsUser, TokenLower, TokenUpper, TokenEscaped,
}

// Reads reports whether the request's curl line reads an environment variable.
func (r *Request) Reads(variable string) bool {
	curl := r.Curl()
	return strings.Contains(curl, `"$`+variable+`"`) || strings.Contains(curl, `"${`+variable)
}

// maxArgument is how long a body may be as an argument of a command. Linux takes
// 128 KiB.
const maxArgument = 100_000

// Curl returns the request as a command line for bash, zsh and ksh. It works as
// pasted once the variables that it names are set, and shows the status and the
// headers of the answer as well.
func (r *Request) Curl() string {
	var b strings.Builder
	// Neither a NUL nor a long body fits into an argument.
	piped := len(r.Body) > maxArgument || strings.Contains(r.Body, "\x00")
	if piped {
		b.WriteString(printfCommand(r.Body) + " | ")
	}
	b.WriteString("curl -sSi")
	switch {
	case r.Method == http.MethodHead:
		b.WriteString(" --head")
	case r.Body == "" && r.Method != http.MethodGet, r.Body != "" && r.Method != http.MethodPost:
		b.WriteString(" -X " + Shell(r.Method))
	}
	if strings.HasSuffix(r.URL, wire.PathQuery) {
		b.WriteString(" -N") // lines as they come
	}
	if strings.ContainsAny(r.URL, "[]{}") {
		b.WriteString(" -g")
	}
	if strings.Contains(r.URL, "/.") {
		b.WriteString(" --path-as-is")
	}
	b.WriteString(" " + Shell(r.URL))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			if value == "" {
				b.WriteString(" -H " + Shell(name+";"))
				continue
			}
			b.WriteString(" -H " + Shell(name+": "+value))
		}
	}
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") == "" {
		b.WriteString(" -H 'Content-Type: " + terms.MediaJSON + "'") // not that of a form
	}
	switch {
	case piped:
		b.WriteString(" --data-binary @-")
	case r.Body != "":
		b.WriteString(" --data-raw " + Shell(r.Body))
	}
	return b.String()
}

// Shell quotes text for a shell. It leaves the variables and the expressions that
// stand for a secret for the shell to fill in.
func Shell(text string) string {
	var b strings.Builder
	quoted := false
	quote := func(on bool) {
		if on != quoted {
			b.WriteByte('\'')
			quoted = on
		}
	}
	for part, expression := range parts(text) {
		switch {
		case expression:
			quote(false)
			b.WriteString(`"` + part + `"`)
		case part == "'":
			quote(false)
			b.WriteString(`\'`)
		case !Shows(part):
			quote(false)
			b.WriteString(`$'` + octal(part) + `'`)
		default:
			quote(true)
			b.WriteString(part)
		}
	}
	quote(false)
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// printfCommand returns a command that writes text of any bytes and length, with
// the variables filled in.
func printfCommand(text string) string {
	var format, args strings.Builder
	for part, expression := range parts(text) {
		switch {
		case expression:
			format.WriteString("%s")
			args.WriteString(` "` + part + `"`)
		case part == "'":
			format.WriteString(`'\''`)
		case part == "%":
			format.WriteString("%%")
		case part == `\`:
			format.WriteString(`\\`)
		case !Shows(part):
			format.WriteString(octal(part))
		default:
			format.WriteString(part)
		}
	}
	return "printf -- '" + format.String() + "'" + args.String()
}

// parts returns what text consists of: expressions, and single characters or bytes.
func parts(text string) iter.Seq2[string, bool] {
	return func(yield func(part string, expression bool) bool) {
		for text != "" {
			at := slices.IndexFunc(expressions, func(e string) bool { return strings.HasPrefix(text, e) })
			_, size := utf8.DecodeRuneInString(text)
			if at >= 0 {
				size = len(expressions[at])
			}
			if !yield(text[:size], at >= 0) {
				return
			}
			text = text[size:]
		}
	}
}

// Shows reports whether a terminal shows a character and a clipboard keeps it:
// no control character, no blank but the space, nothing invisible, no broken
// UTF-8.
func Shows(char string) bool {
	r, size := utf8.DecodeRuneInString(char)
	return unicode.IsPrint(r) && !(r == utf8.RuneError && size == 1)
}

// Legible returns text that came from elsewhere in a form that is safe for a
// terminal, a page and a log: characters that do not show, or that act on a
// terminal, become escapes. Line breaks stay.
func Legible(text string) string {
	unsafe := func(r rune) bool { return r != '\n' && !Shows(string(r)) }
	if !strings.ContainsFunc(text, unsafe) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !unsafe(r):
			b.WriteString(text[:size])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// octal writes bytes as escapes that the shells and printf understand.
func octal(bytes string) string {
	var b strings.Builder
	for i := range len(bytes) {
		fmt.Fprintf(&b, `\%03o`, bytes[i])
	}
	return b.String()
}
