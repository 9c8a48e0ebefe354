package authentication

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
)

type wrongToken struct{ what, header string }

// otherTokens tries tokens that have nothing in common with the right one.
func otherTokens(run *session.Run) *check.Finding {
	other := []byte(strings.Repeat("x", len(run.Token)))
	if string(other) == run.Token {
		other[0] = 'y'
	}
	return wrongTokens(run, []wrongToken{
		{"another token of the same length", "Bearer " + string(other)},
		{"an empty bearer", "Bearer "},
		{"the scheme Basic", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+string(other)))},
		{"the token undefined", "Bearer undefined"},
		{"the token null", "Bearer null"},
	})
}

// similarTokens tries tokens that are made of the right one.
func similarTokens(run *session.Run) *check.Finding {
	token := run.Token
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	first := run.Derive(token[:len(token)/2], check.TokenFirstHalf)
	password := run.Derive(encoded("connector:"+token), check.TokenAsPassword)
	user := run.Derive(encoded(token+":"), check.TokenAsUser)
	second := run.Derive(token[len(token)/2:], check.TokenSecondHalf)
	list := []wrongToken{
		{"the token without its last character", "Bearer " + run.Derive(token[:len(token)-1], check.TokenWithoutLast)},
		{"the first half of the token", "Bearer " + first},
		{"the token and one character more", "Bearer " + token + "x"},
		{"the token under the scheme Basic", "Basic " + token},
		{"the token as the password of the scheme Basic", "Basic " + password},
		{"the token without the scheme Bearer", token},
		{"the token with a blank inside", "Bearer " + first + " " + second},
		{"the token after a further Bearer", "Bearer Bearer " + token},
		{"the token and a word more", "Bearer " + token + " x"},
		{"the token as the user of the scheme Basic", "Basic " + user},
		{"the token under the scheme Token", "Token " + token},
		{"the token after a word", "Bearer x" + token},
		{"the token without a blank after Bearer", "Bearer" + token},
	}
	if lower := strings.ToLower(token); lower != token {
		list = append(list, wrongToken{"the token in lower case", "Bearer " + run.Derive(lower, check.TokenLower)})
	}
	if upper := strings.ToUpper(token); upper != token {
		list = append(list, wrongToken{"the token in upper case", "Bearer " + run.Derive(upper, check.TokenUpper)})
	}
	return wrongTokens(run, list)
}

// wrongTokens tries every token on every route. Each token comes to one of the routes before any comes to a second.
func wrongTokens(run *session.Run, list []wrongToken) *check.Finding {
	topic, routes := run.Topic(), run.Document.Paths(true)
	for turn := range routes {
		for i, wrong := range list {
			path := routes[(i+turn)%len(routes)]
			if f := refused(run, path, run.Legal(path, topic).Text(), wrong.what, wrong.header); f != nil || run.Spent(1) {
				return f
			}
		}
	}
	return nil
}

// tokenParameters are names under which a token may be read from a query string by mistake.
var tokenParameters = []string{
	"token", "access_token", "bearer", "bearer_token", "authorization", "Authorization", "auth", "api_key", "apikey", "key",
}

func queryToken(run *session.Run) *check.Finding {
	topic := run.Topic()
	for _, path := range run.Document.Paths(true) {
		ask := func(names ...string) (*session.Answer, *check.Finding) {
			values := url.Values{}
			for _, name := range names {
				values.Set(name, run.Token)
			}
			c := session.Call{Path: path, Body: run.Legal(path, topic).Text()}
			c.Authorization, c.Query = []string{}, values.Encode()
			run.Cases++
			a := run.Exchange(c)
			return a, wants401(a, "%s with the token in the query string as %s", path, strings.Join(names, ", "))
		}
		a, all := ask(tokenParameters...)
		switch {
		case all == nil && !run.Spent(1):
			continue
		case all == nil, a.Err != nil: // without an answer, nothing tells which of the names it is
			return all
		}
		for _, name := range tokenParameters {
			if _, f := ask(name); f != nil {
				return f
			}
		}
		return all
	}
	return nil
}
