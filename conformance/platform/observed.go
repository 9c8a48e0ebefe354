package platform

import "github.com/connectorsdk/connector-sdk-go/wire"

// Observed returns the same connection with another observer: observe is called with each
// step of the requests that are made through what Observed returns, and with no others. See
// [Options.Observe]. The two share the limit of concurrent requests.
func (c *Connection) Observed(observe func(Step)) *Connection {
	own := *c
	own.client = c.client.copy()
	own.client.options.Observe = observe
	return &own
}

// Rotated returns the same connection with another token and other credentials of the same
// tenant, for the time when one of them has changed. Answers that are being read go on with
// those that they began with, and so does c. The two share the limit of concurrent requests.
func (c *Connection) Rotated(token wire.Bearer, credentials wire.Credentials) *Connection {
	own := *c
	own.client = c.client.copy()
	own.client.token, own.client.secret = token, secretOf(token)
	own.credentials = credentials
	return &own
}
