package connector_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestCredentials checks which credentials are taken, dropped and refused.
func TestCredentials(t *testing.T) {
	const declared = `{"apiKey":"` + secret + `"}`
	var seen wire.Credentials
	s := serve(t, core{
		check: func(_ context.Context, req *wire.CheckRequest) error { seen = req.Credentials; return nil },
		discover: func(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
			return &wire.Discovery{}, nil
		},
	}, nil)
	var others []string
	for i := range 256 {
		others = append(others, fmt.Sprintf(`,"other%d":"%s"`, i, canary))
	}
	for _, c := range []struct {
		why, credentials string
		keys             []string // those that reach the source; nil: refused
		message          string
		missing          bool // /check answers check_failed, for the person at the form
	}{
		{"the required one", declared, []string{"apiKey"}, "", false},
		{"and an optional one", `{"apiKey":"` + secret + `","region":"eu"}`, []string{"apiKey", "region"}, "", false},
		{"http-6: a blank optional value is missing", `{"apiKey":"` + secret + `","region":""}`, []string{"apiKey"}, "", false},
		{"http-6: undeclared keys are dropped", `{"apiKey":"` + secret + `","` + canary + `":"` + canary + `"}`,
			[]string{"apiKey"}, "", false},
		{"http-6: {} is legal in itself, but lacks the required one", `{}`, nil, "credentials.apiKey: required", true},
		{"a blank required value is missing", `{"apiKey":""}`, nil, "credentials.apiKey: required", true},
		{"keys are exact", `{"APIKEY":"` + canary + `"}`, nil, "credentials.apiKey: required", true},
		{"http-6: not an object", `"` + canary + `"`, nil, "credentials: must be an object", false},
		{"http-6: a number as a value", `{"apiKey":123456789}`, nil, "credentials.apiKey: must be a string", false},
		{"http-6: nested", `{"apiKey":{"` + canary + `":"x"}}`, nil, "credentials.apiKey: must be a string", false},
		{"http-6: an undeclared key must be a string too", `{"apiKey":"` + secret + `","other":1}`, nil,
			"credentials: every value must be a string", false},
		{"as many members as there may be", `{"apiKey":"` + secret + `"` + strings.Join(others[:255], "") + `}`, []string{"apiKey"}, "",
			false},
		{"one more", `{"apiKey":"` + secret + `"` + strings.Join(others, "") + `}`, nil, "credentials: at most 256 members*", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, path := range []string{"/check", "/discovery", "/query"} {
				seen = wire.Credentials{}
				a := s.post(path, edit(t, path, declared, c.credentials))
				if c.keys != nil {
					assert.Equal(t, 200, a.status, a.body)
					if path == "/check" {
						assert.Equal(t, c.keys, seen.Keys())
						assert.Equal(t, secret, seen.Get("apiKey"))
					}
					continue
				}
				if c.missing && path == "/check" {
					a.refuses(t, 400, wire.CodeCheckFailed, "API key is required.")
				} else {
					a.refuses(t, 400, wire.CodeBadRequest, c.message)
				}
				assert.NotContains(t, a.body, canary)
				assert.NotContains(t, a.body, "123456789")
			}
		})
	}
	s.alive()
}
