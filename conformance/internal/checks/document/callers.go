package document

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type caller struct {
	who    string
	header http.Header
	// guest marks a caller to whom a host may answer a page of its own.
	guest bool
}

func callers(run *session.Run) []caller {
	return []caller{
		{who: "a caller who asks again"},
		{who: "a caller with the token", header: http.Header{"Authorization": {"Bearer " + run.Token}}},
		{who: "a browser", guest: true, header: http.Header{
			"User-Agent": {"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
			"Accept":     {"text/html,application/xhtml+xml,*/*;q=0.8"}, "Accept-Language": {"de, en;q=0.5"},
		}},
	}
}

// sameForAll compares the document as several callers get it with the first one of the
// run. It compares what the documents say, not how they are written.
func sameForAll(run *session.Run) *check.Finding {
	for _, c := range callers(run) {
		a := run.Exchange(session.Call{Method: http.MethodGet, Path: wire.PathDocument, Header: c.header})
		d, f := a.Decode()
		other := f != nil
		switch {
		case other && c.guest:
			continue
		case a.Err != nil && a.Status == 0:
			return check.Skip(check.NotReached, "no answer came: %v", a.Err)
		}
		run.Cases++
		if other {
			return check.Differs("the document", a.Describe(), "%s gets something else", c.who)
		}
		if member, first, now := difference(run.Document.Document, *d.(*wire.Document)); member != "" {
			return check.Differs(first, now, "%s gets a document with another %s", c.who, member)
		}
	}
	return nil
}

// difference returns the first member in which two documents differ, and its values. The order of a list means nothing.
func difference(a, b wire.Document) (member, first, other string) {
	for _, d := range []*wire.Document{&a, &b} {
		d.Capabilities.Operators = slices.Sorted(slices.Values(d.Capabilities.Operators))
		d.Endpoints = slices.Sorted(slices.Values(d.Endpoints))
		d.CredentialSchema = slices.SortedFunc(slices.Values(d.CredentialSchema), func(a, b wire.CredentialField) int {
			return strings.Compare(a.Key, b.Key)
		})
	}
	for _, m := range []struct {
		name string
		a, b any
	}{
		{"slug", a.Slug, b.Slug},
		{"dialect", a.Dialect, b.Dialect},
		{"capabilities", a.Capabilities, b.Capabilities},
		{"credentialSchema", a.CredentialSchema, b.CredentialSchema},
		{"endpoints", a.Endpoints, b.Endpoints},
	} {
		if !reflect.DeepEqual(m.a, m.b) {
			return m.name, excerpt(m.a), excerpt(m.b)
		}
	}
	return "", "", ""
}

func excerpt(v any) string { return message.Excerpt(fmt.Appendf(nil, "%+v", v), 300) }
