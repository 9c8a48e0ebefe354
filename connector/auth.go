package connector

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// authorized reports whether the request has the bearer token: in exactly one
// Authorization header, its scheme in any case, and with no token in the query
// string.
func authorized(r *http.Request, token wire.Token) bool {
	if tokenInQuery(r.URL.RawQuery, token) {
		return false
	}
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return false
	}
	scheme, presented, ok := strings.Cut(headers[0], " ")
	return ok && strings.EqualFold(scheme, "Bearer") && token.Matches(strings.TrimLeft(presented, " "))
}

// tokenInQuery reports whether the query string has a token: a value that is one,
// or a parameter whose name says that its value is meant to be one.
func tokenInQuery(query string, token wire.Token) bool {
	for query != "" {
		var pair string
		if i := strings.IndexAny(query, "&;"); i >= 0 {
			pair, query = query[:i], query[i+1:]
		} else {
			pair, query = query, ""
		}
		name, value, _ := strings.Cut(pair, "=")
		switch strings.ToLower(unescape(name)) {
		case "token", "access_token", "accesstoken", "bearer", "bearer_token", "authorization", "auth", "api_key", "apikey":
			return true
		}
		for _, text := range []string{name, unescape(name), value, unescape(value)} {
			if fields := strings.Fields(text); len(fields) > 0 && token.Matches(fields[len(fields)-1]) {
				return true
			}
		}
	}
	return false
}

// unescape returns the decoded text, or the text itself if it is malformed.
func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
