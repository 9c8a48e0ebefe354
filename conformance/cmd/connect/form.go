package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// formView is the state of the connect form, as the page gets it. It says which secrets the
// program holds, and never what they are.
type formView struct {
	Name       string   `json:"name"`
	URL        string   `json:"url"`
	Local      bool     `json:"local"`
	HasToken   bool     `json:"hasToken"`
	Held       []string `json:"held"`       // keys of the credentials that the program holds
	HeldSecond []string `json:"heldSecond"` // and of those of a second account
	Wiped      int      `json:"wiped"`      // when it changes, the page empties its inputs
	WhyNotRead string   `json:"whyNotRead"` // empty if Read connector can be pressed
	WhyNotTest string   `json:"whyNotTest"` // empty if Test connection and Connect can be
	Slug       string   `json:"slug"`       // empty until the document was read
	Fields     string   `json:"fields"`     // the inputs of the credential fields, as HTML
	Connected  bool     `json:"connected"`
	Problem    string   `json:"problem"` // why the last button failed
	Done       string   `json:"done"`    // what the last button did
	Warning    string   `json:"warning"` // the platform would refuse the address
	SourceName string   `json:"sourceName"`
}

// input is a credential field of the page, of the first or of the second account.
type input struct {
	wire.CredentialField
	ID       string
	Account  string // the field that an edit of it names
	Required bool
}

// newInputs returns the inputs of both accounts. The second account may be left out as a whole.
func newInputs(schema []wire.CredentialField) (accounts struct{ First, Second []input }) {
	for i, f := range schema {
		accounts.First = append(accounts.First, input{f, fmt.Sprint("credential-", i), "credential", !f.Optional})
		accounts.Second = append(accounts.Second, input{f, fmt.Sprint("second-", i), "second", false})
	}
	return accounts
}

// view returns the state of the form.
func (p *page) view() formView {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.form
	v := formView{
		Name: f.Name(), URL: f.URL(), Local: f.Local(), HasToken: f.HasToken(), Wiped: p.wiped,
		WhyNotRead: f.WhyNotRead(), WhyNotTest: f.WhyNotTest(), Connected: p.source.Load() != nil,
		Warning: p.refused,
	}
	if s := p.source.Load(); s != nil {
		v.SourceName = s.Name()
	}
	if d := f.Document(); d != nil {
		v.Slug = d.Slug
		v.Fields = p.render("fields.html", newInputs(d.CredentialSchema))
		for _, field := range d.CredentialSchema {
			if f.HasCredential(field.Key) {
				v.Held = append(v.Held, field.Key)
			}
			if f.HasSecond(field.Key) {
				v.HeldSecond = append(v.HeldSecond, field.Key)
			}
		}
	}
	return v
}

func (p *page) showForm(w http.ResponseWriter, _ *http.Request) { answer(w, p.view()) }

// edit takes what was typed into one input.
func (p *page) edit(w http.ResponseWriter, r *http.Request) {
	var typed struct{ Field, Key, Value string }
	if !receive(w, r, &typed) {
		return
	}
	p.mu.Lock()
	form := p.form
	switch typed.Field {
	case "name":
		form.SetName(typed.Value)
	case "url":
		if typed.Value != form.URL() {
			p.wiped++
			p.refused = ""
		}
		form.SetURL(typed.Value)
	case "token":
		form.SetToken(typed.Value)
	case "local":
		form.SetLocal(typed.Value == "true")
		p.refused = ""
	case "credential":
		form.SetCredential(typed.Key, typed.Value)
	case "second":
		form.SetSecond(typed.Key, typed.Value)
	}
	p.mu.Unlock()
	answer(w, p.view())
}

// read presses Read connector.
func (p *page) read(w http.ResponseWriter, r *http.Request) {
	form := p.current()
	err := form.Read(r.Context())
	problem := problemOf(form, err)
	if err == nil {
		refused := refusedAddress(r.Context(), form)
		p.mu.Lock()
		p.refused = refused
		p.mu.Unlock()
	}
	v := p.view()
	if v.Problem = problem; err == nil {
		v.Done = "The connector takes the token."
	}
	answer(w, v)
}

// test presses Test connection.
func (p *page) test(w http.ResponseWriter, r *http.Request) {
	form := p.current()
	err := form.Test(r.Context())
	v := p.view()
	v.Problem = problemOf(form, err)
	if err == nil {
		v.Done = "The connector takes the credentials."
	}
	answer(w, v)
}

// connect presses Connect: a new source, or the same one bound again.
func (p *page) connect(w http.ResponseWriter, r *http.Request) {
	p.connecting.Lock()
	defer p.connecting.Unlock()
	form, source := p.current(), p.source.Load()
	err := error(nil)
	if source != nil {
		err = source.Rebind(r.Context(), form)
	} else if source, err = lifecycle.Add(r.Context(), form, conformance.Run); err == nil {
		p.source.Store(source)
	}
	if err == nil {
		p.mu.Lock()
		p.begin()
		p.mu.Unlock()
	}
	v := p.view()
	v.Problem = problemOf(form, err)
	answer(w, v)
}

// reconnect opens the form of the connected source again.
func (p *page) reconnect(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	if s := p.source.Load(); s != nil {
		p.form = s.Reconnect()
		p.wiped++
	}
	p.mu.Unlock()
	answer(w, p.view())
}

func (p *page) current() *lifecycle.Form {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.form
}

// problemOf returns what the page shows beside the form of an error.
func problemOf(form *lifecycle.Form, err error) string {
	text := said(err)
	if errors.Is(err, platform.ErrAddress) {
		text += ". If the connector runs on this machine or in a private network, switch on Local work."
	}
	return check.Legible(form.Clean(text))
}

// said returns what an error says, as it came from the connector.
func said(err error) string {
	if err == nil {
		return ""
	}
	var refusal *wire.Error
	var unreached *platform.ConnectionError
	var wrong *platform.AnswerError
	switch {
	case errors.As(err, &refusal):
		return "The connector answered " + string(refusal.Code) + ": " + refusal.Message
	case errors.As(err, &unreached):
		return "The connector cannot be reached: " + unreached.Problem
	case errors.As(err, &wrong) && errors.Is(err, io.ErrUnexpectedEOF):
		return "The answer ended before it was complete. The connector may have stopped. (" + wrong.Path + ", " + wrong.Place + ")"
	}
	return err.Error()
}

// refusedAddress returns why the platform would refuse the address that the form was allowed
// to use, or "".
func refusedAddress(ctx context.Context, form *lifecycle.Form) string {
	const would = "The platform would refuse this address: "
	u, err := url.Parse(form.URL())
	if err != nil || !form.Local() {
		return ""
	}
	if u.Scheme != "https" {
		return would + "it takes https only."
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return ""
	}
	for _, a := range addresses {
		var refused *netguard.Error
		if errors.As(netguard.Check(netip.Addr(a)), &refused) {
			return would + a.Unmap().String() + " is " + refused.Kind + "."
		}
	}
	return ""
}
