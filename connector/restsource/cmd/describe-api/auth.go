package main

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// credential is an input of the connect form.
type credential struct {
	key, label string
	secret     bool
	help       string
	param      string // the placeholder that it stands for
	note       *note
}

// authorize is how requests carry the credentials.
type authorize struct {
	expr        string // a Go expression; empty: the description names no credentials
	unknown     string
	notes       []note
	credentials []credential
}

// requirement returns the security requirements that most of the endpoints have.
func (d *description) requirement(endpoints []endpoint) openapi3.SecurityRequirements {
	counts, found := map[string]int{}, map[string]openapi3.SecurityRequirements{}
	best := ""
	for _, e := range endpoints {
		own := d.Security
		if e.op.Security != nil {
			own = *e.op.Security
		}
		name := ""
		for _, r := range own {
			name += strings.Join(slices.Sorted(maps.Keys(r)), "\x00") + "\x01"
		}
		counts[name]++
		found[name] = own
		if best == "" || counts[name] > counts[best] {
			best = name
		}
	}
	if len(endpoints) == 0 {
		return d.Security
	}
	return found[best]
}

// authorize chooses among the security schemes.
func (d *description) authorize(endpoints []endpoint) (a authorize) {
	schemes := openapi3.SecuritySchemes{}
	if d.Components != nil {
		schemes = d.Components.SecuritySchemes
	}
	var alone, left []string
	alternatives := d.requirement(endpoints)
	if len(alternatives) == 0 {
		alternatives = openapi3.SecurityRequirements{}
		for _, name := range ordered(d, schemes) {
			alternatives = append(alternatives, openapi3.SecurityRequirement{name: nil})
		}
		if len(alternatives) > 0 {
			a.notes = append(a.notes, note{"guess", "the description has security schemes, but requires none."})
		}
	}
	for _, r := range alternatives {
		names := slices.Sorted(maps.Keys(r))
		if len(names) == 1 {
			alone = append(alone, names[0])
		} else if len(names) > 1 {
			left = append(left, strings.Join(names, " and "))
		}
	}
	chosen := ""
	for _, name := range alone {
		if ref := schemes[name]; ref != nil && ref.Value != nil && chosen == "" && a.use(ref.Value) {
			chosen = name
			continue
		}
		left = append(left, name)
	}
	switch {
	case chosen != "" && len(left) > 0:
		a.notes = append(a.notes, note{"plain",
			fmt.Sprintf("Chosen: the scheme %s. The API also takes %s.", chosen, strings.Join(left, ", "))})
	case chosen == "" && len(left) > 0:
		var known []string
		for _, name := range left {
			known = append(known, name+kindOf(schemes[name]))
		}
		a.unknown = "the API takes " + strings.Join(known, ", ")
	case chosen == "":
		a.notes = append(a.notes, note{"todo",
			"the description names no credentials. If the API needs some, say how requests carry them."})
	}
	return a
}

// kindOf describes a scheme that package restsource has no name for.
func kindOf(ref *openapi3.SecuritySchemeRef) string {
	if ref == nil || ref.Value == nil {
		return ""
	}
	s := ref.Value
	switch {
	case s.Type == "oauth2" && s.Flows != nil && s.Flows.ClientCredentials != nil:
		return " (OAuth 2.0 client credentials at " + s.Flows.ClientCredentials.TokenURL + ")"
	case s.Type == "oauth2":
		return " (OAuth 2.0 with a person's consent; a token that the tenant pastes may do)"
	case s.Type == "apiKey":
		return " (a " + s.In + ")"
	case s.Scheme != "":
		return " (HTTP " + s.Scheme + ")"
	}
	return " (" + s.Type + ")"
}

// clientCredentials returns the token endpoint of OAuth's client credentials, or "" if the
// scheme has no such flow or names no whole address.
func clientCredentials(s *openapi3.SecurityScheme) string {
	if s.Flows == nil || s.Flows.ClientCredentials == nil {
		return ""
	}
	at, err := url.Parse(s.Flows.ClientCredentials.TokenURL)
	if err != nil || at.Scheme != "https" || at.Host == "" || strings.ContainsAny(at.String(), "{}") {
		return ""
	}
	return at.String()
}

// headerName is a name that a header can have.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// use sets how requests carry the credentials of a scheme, if package restsource has a
// name for it.
func (a *authorize) use(s *openapi3.SecurityScheme) bool {
	key := credential{key: "apiKey", label: "API key", secret: true, help: sentence(s.Description)}
	switch {
	case s.Type == "http" && strings.EqualFold(s.Scheme, "bearer"):
		key.key, key.label = "token", "Access token"
		a.expr = `restsource.Bearer("token")`
	case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
		a.expr = `restsource.Basic("user", "password")`
		a.credentials = []credential{
			{key: "user", label: "User", help: key.help},
			{key: "password", label: "Password", secret: true},
		}
		a.notes = append(a.notes, note{"guess", "user name and password; some APIs take a key as the user name, and no password."})
		a.credentials[1].note = &note{"guess", "a password is required. Set Optional if the API takes a key as the user name."}
		return true
	case s.Type == "apiKey" && s.In == "header" && headerName.MatchString(s.Name):
		a.expr = fmt.Sprintf(`restsource.KeyHeader(%q, "apiKey")`, s.Name)
		if strings.EqualFold(s.Name, "Authorization") {
			a.notes = append(a.notes, note{"todo",
				"the tenant's input is the whole header Authorization, such as \"Bearer ...\" or \"Token ...\"."})
		}
	case s.Type == "apiKey" && s.In == "query" && s.Name != "":
		a.expr = fmt.Sprintf(`restsource.KeyParam(%q, "apiKey")`, s.Name)
	case s.Type == "oauth2" && clientCredentials(s) != "":
		a.expr = fmt.Sprintf(`restsource.ClientCredentials{TokenURL: %q, ID: "clientId", Secret: "clientSecret"}.Authorize()`,
			clientCredentials(s))
		a.notes = append(a.notes, note{"guess", "no scopes are asked for. Set Scopes, and Audience, if the token endpoint wants them."})
		a.credentials = []credential{
			{key: "clientId", label: "Client ID", help: key.help},
			{key: "clientSecret", label: "Client secret", secret: true},
		}
		return true
	default:
		return false
	}
	a.credentials = []credential{key}
	return true
}
