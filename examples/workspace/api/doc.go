// Package api is a client of the platform's general API.
//
// One table, [Endpoints], has every endpoint that the document shows. [Call], [List]
// and [Client.Do] take an endpoint by its method and path, written as in the
// document:
//
//	client, err := api.New("https://platform.example.com", token, nil)
//	...
//	agents := api.List[json.RawMessage](ctx, client, "GET /api/v2/assistant/agents", nil)
//
// Where the document shows the fields, there is a Go type and a method, such as
// [Client.Workflows]. Where it does not, the caller decodes what arrives.
//
// The client sends its token to the origin of its base address and to no other. It
// follows no redirect, and cuts the token out of every text that it returns. It
// repeats what is safe to repeat and keeps to the budget of requests that answers
// announce; see restsource.Transport.
package api
