package restsource

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// API says how the API behind the tables is reached.
type API struct {
	// Base is the address below which all paths are, such as
	// "https://api.example.com/v2". You may write any address here, "http://localhost:9000"
	// too. In it, {key} stands for the tenant's credential of that key.
	// "https://{shop}.example.com/api" takes one label of a host name. "{baseUrl}" takes a
	// whole https address; the source then dials public addresses only, so that no tenant
	// reaches into the host's network.
	Base string
	// Authorize puts the tenant's credentials into a request: [Bearer], [KeyHeader],
	// [KeyParam], [Basic], [ClientCredentials], [SignedJWT], [Token], or a function of your
	// own. Nil: the API needs none.
	Authorize Authorize
	// Hosts are the hosts that the answer of a token endpoint may name in place of that of
	// Base, by TokenAnswer.Base: "api.example.com", or "*.my.example.com", in which the star is
	// one label. The source then dials public addresses only.
	Hosts []string
	// Certificate is shown to a server that asks for one.
	Certificate Certificate
	// Check is the path of the cheapest endpoint that proves the credentials, such as
	// "/whoami", perhaps with a query. Empty: the first page of the first table.
	Check string
	// Header is sent with every request, for instance the version of the API.
	Header http.Header
	// Judge says what an answer means, from its status, its headers and its body: fine,
	// wait and again, renew the token and again, unauthorized, not there, failed. It sees
	// each answer once, also those with a bad status. Nil, and the zero [Verdict], leave it
	// to the library. [JudgeErrors] and [JudgeErrorList] are ready-made. It must be safe for
	// concurrent use.
	Judge func(a *Answer) Verdict
	// Rate is a rate of requests that the API does not state and that you know.
	Rate Rate
	// Budget says where the bodies of answers state what is left of a budget. GraphQL APIs
	// that state it in extensions.cost.throttleStatus need none.
	Budget Budget
}

// Authorize puts a tenant's credentials into a request. It must not change the
// request's host. It is called each time a request is sent, repetitions included. Use
// [Token] for a token that the API gives out first. To sign a request, read its body by
// GetBody, which is nil for a GET.
type Authorize func(r *http.Request, credentials wire.Credentials) error

// Bearer sends a credential as the header "Authorization: Bearer ...". Like KeyHeader
// and KeyParam, it removes the blanks around a token that were pasted with it.
func Bearer(key string) Authorize {
	return func(r *http.Request, credentials wire.Credentials) error {
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(credentials.Get(key)))
		return nil
	}
}

// KeyHeader sends a credential as a header, such as "X-Api-Key".
func KeyHeader(header, key string) Authorize {
	return func(r *http.Request, credentials wire.Credentials) error {
		r.Header.Set(header, strings.TrimSpace(credentials.Get(key)))
		return nil
	}
}

// KeyParam sends a credential as a query parameter, for an API that takes it nowhere
// else.
func KeyParam(param, key string) Authorize {
	return func(r *http.Request, credentials wire.Credentials) error {
		query := r.URL.Query()
		query.Set(param, strings.TrimSpace(credentials.Get(key)))
		r.URL.RawQuery = query.Encode()
		return nil
	}
}

// Basic sends two credentials as user name and password.
func Basic(user, password string) Authorize {
	return func(r *http.Request, credentials wire.Credentials) error {
		r.SetBasicAuth(credentials.Get(user), credentials.Get(password))
		return nil
	}
}

// template is a text in which {name} stands for a value.
type template string

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// names returns the placeholders.
func (t template) names() (names []string) {
	for _, match := range placeholder.FindAllStringSubmatch(string(t), -1) {
		names = append(names, match[1])
	}
	return names
}

// expand replaces the placeholders.
func (t template) expand(value func(name string) (string, error)) (string, error) {
	var failed error
	text := placeholder.ReplaceAllStringFunc(string(t), func(name string) string {
		v, err := value(name[1 : len(name)-1])
		if err != nil && failed == nil {
			failed = err
		}
		return v
	})
	return text, failed
}

// segment escapes a value so that it stays one segment of a path.
func segment(value string) (string, error) {
	switch value {
	case "", ".", "..":
		return "", errors.New("restsource: an empty value, or one of dots, cannot be part of a path")
	}
	return url.PathEscape(value), nil
}

// tenants reports whether the address depends on what a tenant types.
func (a *API) tenants() bool { return strings.Contains(a.Base, "{") }

// typed reports whether tenants type the whole address.
func (a *API) typed() bool { return strings.HasPrefix(a.Base, "{") }

// faults returns what is wrong with the declaration.
func (a *API) faults() (faults []error) {
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("restsource: API."+format, args...))
	}
	if a.Check != "" && !strings.HasPrefix(a.Check, "/") {
		fault("Check: begin the path with a slash")
	}
	if a.Rate.Requests < 0 || a.Rate.Per < 0 {
		fault("Rate: must not be negative")
	}
	if b := a.Budget; b != (Budget{}) && (b.Remaining == "" || b.Restore == "" && b.Reset == "") {
		fault("Budget: needs Remaining, and Restore or Reset")
	}
	for _, host := range a.Hosts {
		labels := strings.Split(host, ".")
		if strings.ContainsAny(host, "/@") || slices.Contains(labels[max(0, len(labels)-2):], "*") {
			fault("Hosts: a host is spelled like api.example.com or *.example.com")
		}
	}
	if a.typed() {
		if placeholder.FindString(a.Base) != a.Base {
			fault("Base: nothing may follow the placeholder of a whole address; put it into the paths")
		}
		return faults
	}
	example, _ := template(a.Base).expand(func(string) (string, error) { return "x", nil })
	u, err := url.Parse(example)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		fault("Base: must be an address such as https://api.example.com/v2, without user, query and fragment, or {key}")
	}
	return faults
}

var label = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// base returns the address of a tenant's API. Its errors are for the person who
// typed it.
func (a *API) base(creds wire.Credentials, local bool) (*url.URL, error) {
	if a.typed() {
		return typedBase(creds.Get(a.Base[1:len(a.Base)-1]), local)
	}
	scheme, rest, _ := strings.Cut(a.Base, "://")
	host, path, _ := strings.Cut(rest, "/")
	host, err := template(host).expand(func(key string) (string, error) {
		v := creds.Get(key)
		if !label.MatchString(v) {
			return "", connector.CheckFailed("The name in the address of the API must have letters, digits and hyphens only, " +
				"such as my-shop. Enter the name alone, without https:// and without a domain.")
		}
		return v, nil
	})
	if err != nil {
		return nil, err
	}
	path, err = template(path).expand(func(key string) (string, error) { return credentialSegment(creds, key) })
	if err != nil {
		return nil, err
	}
	return url.Parse(scheme + "://" + host + "/" + path)
}

// credentialSegment returns a credential as part of a path.
func credentialSegment(creds wire.Credentials, key string) (string, error) {
	v, err := segment(creds.Get(key))
	if err != nil {
		return "", connector.CheckFailed("The credential %s is missing, or cannot be part of an address.", key)
	}
	return v, nil
}

// typedBase returns an address that a tenant typed.
func typedBase(text string, local bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, connector.CheckFailed("The address of the API must look like https://api.example.com/v2, " +
			"without a user name, a question mark or a hash sign.")
	case u.Scheme != "https" && !(local && u.Scheme == "http"):
		return nil, connector.CheckFailed("The address of the API must begin with https://.")
	}
	return u, nil
}

// sameOrigin reports whether two addresses have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if strings.EqualFold(u.Scheme, "https") {
		return "443"
	}
	return "80"
}
