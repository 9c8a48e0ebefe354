// Package lifecycle is the platform's connect form and the life of a source, without a
// screen: what a person fills in, which buttons can be pressed, and what a source is
// after that.
//
// A [Form] reads the document, tries the token and the credentials, and forgets what a
// change makes stale. [Add] makes a [Source] of it, which is verified in the background
// by the conformance program and is then conformant or not; [Source.Reconnect] opens the
// form again.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/redact"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Message is an error that the platform shows to the person at the connect form, word
// for word: a text of the platform's own, or one that the connector wrote for that person.
type Message string

// Error returns the message.
func (m Message) Error() string { return string(m) }

// TokenRejected is the error of [Form.Read] and [Form.Test] when the connector refuses the
// bearer token [rule connect-3].
const TokenRejected Message = check.TokenRejected

var (
	errNotRead = errors.New("read the connector first: the form knows no document")
	errChanged = errors.New("the URL or the token was changed in the meantime; read the connector again")
)

// Form is the platform's connect form: a name, the base URL of a connector, the bearer
// token of its host, and one input for each credential field of the connector's document.
// It holds what was typed, says which buttons can be pressed, and does what they do.
//
// Printing a form shows neither the token nor a credential. A form may be used by several
// goroutines.
type Form struct {
	mu       sync.Mutex
	options  platform.Options
	name     string
	url      string
	token    wire.Bearer
	typed    wire.Credentials
	second   wire.Credentials // of a second account; empty without one
	document *wire.Document
	reader   *platform.Client // that read the document
	edits    int              // counts the changes after which a document that is being read is stale
}

// NewForm returns an empty form. Options say how the form reaches the connector; nil means
// the platform's own ways.
func NewForm(options *platform.Options) *Form {
	f := &Form{}
	if options != nil {
		f.options = *options
	}
	return f
}

// Name returns the name of the source.
func (f *Form) Name() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.name
}

// SetName sets the name under which the source will be listed.
func (f *Form) SetName(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.name = name
}

// URL returns the base URL of the connector.
func (f *Form) URL() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.url
}

// SetURL sets the base URL of the connector. Another URL forgets the document and the
// typed credentials, because they belong to another connector [rule connect-5].
func (f *Form) SetURL(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if address == f.url {
		return
	}
	f.url, f.typed, f.second = address, wire.Credentials{}, wire.Credentials{}
	f.forget()
}

// SetToken sets the bearer token that the connector's host issued. Another token forgets
// the document and keeps the typed credentials [rule connect-5].
func (f *Form) SetToken(token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if token == f.token.Reveal() {
		return
	}
	f.token = wire.NewBearer(token)
	f.forget()
}

// HasToken reports whether the form holds a token.
func (f *Form) HasToken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.token.Reveal() != ""
}

// Local reports whether the form takes addresses that the platform would refuse.
func (f *Form) Local() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.options.Local
}

// SetLocal sets whether plain http and addresses of a private network are taken, for work
// on one's own machine. A change forgets the document, which was read by other rules.
func (f *Form) SetLocal(local bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if local == f.options.Local {
		return
	}
	f.options.Local = local
	f.forget()
}

func (f *Form) forget() {
	f.document = nil
	f.edits++
}

// SetCredential sets what was typed for the credential field of that key. An empty value
// counts as absent [rule credential-5].
func (f *Form) SetCredential(key, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.typed = with(f.typed, key, value)
}

// SetSecond sets what was typed for the same field of a second account. If there is one, the connector is graded
// with both, and is to keep their data apart.
func (f *Form) SetSecond(key, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.second = with(f.second, key, value)
}

// with returns credentials with another value of one key.
func with(c wire.Credentials, key, value string) wire.Credentials {
	values := c.Reveal()
	values[key] = value
	return wire.NewCredentials(values)
}

// HasCredential reports whether the form holds a value for the credential field of that key.
func (f *Form) HasCredential(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.typed.Get(key) != ""
}

// HasSecond reports whether the form holds a value for that field of a second account.
func (f *Form) HasSecond(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.second.Get(key) != ""
}

// Document returns the document of the connector, or nil unless the latest [Form.Read] has
// succeeded and nothing was changed since that forgets it. It is not to be changed.
func (f *Form) Document() *wire.Document {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.document
}

// WhyNotRead returns what [Form.Read] still needs, for the person at the form, or "".
func (f *Form) WhyNotRead() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch token := f.token.Reveal() != ""; {
	case f.url == "" && !token:
		return "Type the base URL and the token."
	case f.url == "":
		return "Type the base URL."
	case !token:
		return "Type the token."
	}
	return ""
}

// WhyNotTest returns what [Form.Test] still needs, for the person at the form, or "": the
// document has been read, the token is long enough, and every required credential has a value
// [rule connect-6]. A source can be added under the same conditions [rule connect-11].
func (f *Form) WhyNotTest() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.missing(); err != nil {
		return err.Error()
	}
	return ""
}

// missing returns what is still to be done before credentials can be tried, or nil.
func (f *Form) missing() error {
	if f.document == nil {
		return errNotRead
	}
	if utf8.RuneCountInString(f.token.Reveal()) < wire.MinTokenLength {
		return Message("The token is too short: it has 32 characters or more.")
	}
	for _, field := range f.document.CredentialSchema {
		if !field.Optional && f.typed.Get(field.Key) == "" {
			return Message(field.Label + " is required.")
		}
		if second := f.accounts()[1:]; !field.Optional && len(second) > 0 && second[0].Get(field.Key) == "" {
			return ofSecond + Message(field.Label+" is required.")
		}
	}
	return nil
}

// Read fetches the connector's document and tries the token on /check, without credentials.
// When it succeeds, [Form.Document] returns the document. If the connector refuses the
// token, the error is [TokenRejected]; any other answer in the form of the protocol shows
// that the token is right, since a connector judges it first.
//
// Read completes an address that was typed without a scheme.
func (f *Form) Read(ctx context.Context) error {
	f.mu.Lock()
	f.url = Completed(f.url)
	edits := f.edits
	c, err := f.client()
	f.mu.Unlock()
	if err != nil {
		return err
	}
	document, err := c.Document(ctx)
	if err == nil {
		err = c.Check(ctx, wire.Credentials{})
	}
	var refusal *wire.Error
	if errors.As(err, &refusal) && refusal.Code != wire.CodeUnauthorized {
		err = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var wrong *platform.AnswerError
	switch {
	case edits != f.edits:
		return errChanged
	case errors.As(err, &wrong) && wrong.Path == wire.PathDocument && (wrong.Place == "status" || wrong.Place == "Content-Type"):
		f.document = nil
		return Message("No connector answers at this address. Check the path: " + wrong.Path + ": " + wrong.Place + ": " + wrong.Problem)
	case err != nil:
		f.document = nil
		return shown(err)
	}
	f.document, f.reader = document, c
	return nil
}

// Completed returns an address with a scheme: https, or http for this machine.
func Completed(address string) string {
	address = strings.TrimSpace(address)
	if address == "" || strings.Contains(address, "://") {
		return address
	}
	address = strings.TrimPrefix(address, "//")
	u, err := url.Parse("http://" + address)
	if err != nil { // the client says what is wrong
		return "https://" + address
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	if ip.IsLoopback() || strings.EqualFold(u.Hostname(), "localhost") {
		return "http://" + address
	}
	return "https://" + address
}

// ofSecond begins what is said of the second account.
const ofSecond Message = "Second account: "

// Test tries the typed credentials on /check, those of a second account too. When the upstream rejects them, the error is
// the connector's message word for word [rule connect-7].
func (f *Form) Test(ctx context.Context) error {
	bound, err := f.bind()
	if err != nil {
		return err
	}
	return bound.check(ctx)
}

// Clean returns a text of the connector without the token and the credentials of the form,
// in any spelling. What was typed into plain text fields stays: the person at the form may
// see it [rule credential-9]. Use it before you show a message.
func (f *Form) Clean(text string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var hidden []wire.Credentials
	for _, typed := range []wire.Credentials{f.typed, f.second} {
		values := typed.Reveal()
		if f.document != nil {
			for _, field := range f.document.CredentialSchema {
				if field.Type == wire.CredentialText {
					delete(values, field.Key)
				}
			}
		}
		hidden = append(hidden, wire.NewCredentials(values))
	}
	return redact.New(f.token.Reveal(), hidden).Clean(text)
}

// binding is what a source keeps of the form with which it was connected.
type binding struct {
	name     string
	url      string
	token    wire.Bearer
	accounts []wire.Credentials // the source's own, and those of a second account if there is one
	document *wire.Document
	client   *platform.Client
	options  platform.Options
	cleaner  *redact.Cleaner
}

// check tries the credentials on /check.
func (b *binding) check(ctx context.Context) error {
	for i, account := range b.accounts {
		err := shown(b.client.Check(ctx, account))
		var message Message
		switch {
		case err == nil:
			continue
		case i == 0:
			return err
		case errors.As(err, &message):
			return ofSecond + message
		}
		return fmt.Errorf("%s%w", ofSecond, err)
	}
	return nil
}

// bind returns what a source keeps of the form, or what the form still lacks.
func (f *Form) bind() (*binding, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.missing(); err != nil {
		return nil, err
	}
	accounts := f.accounts()
	return &binding{
		name: f.name, url: f.url, token: f.token, accounts: accounts, document: f.document, client: f.reader, options: f.options,
		cleaner: redact.New(f.token.Reveal(), accounts),
	}, nil
}

// accounts returns what requests carry: the typed values of the fields that the document has, without blank ones. Those
// of a second account follow if any were typed.
func (f *Form) accounts() []wire.Credentials {
	var keys []string
	for _, field := range f.document.CredentialSchema {
		keys = append(keys, field.Key)
	}
	list := []wire.Credentials{f.typed.Only(keys...)}
	if second := f.second.Only(keys...); len(second.Reveal()) > 0 {
		list = append(list, second)
	}
	return list
}

// client returns a client of the connector that the form names.
func (f *Form) client() (*platform.Client, error) {
	options := f.options
	return platform.NewClient(f.url, f.token, &options)
}

// shown returns the error of a /check as the form shows it.
func shown(err error) error {
	var refusal *wire.Error
	if errors.As(err, &refusal) {
		switch refusal.Code {
		case wire.CodeCheckFailed:
			return Message(refusal.Message)
		case wire.CodeUnauthorized:
			return TokenRejected
		}
	}
	return err
}
