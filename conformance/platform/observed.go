package platform

// Observed returns the same connection with another observer: observe is called with each
// step of the requests that are made through what Observed returns, and with no others. See
// [Options.Observe]. The two share the limit of concurrent requests, but not what has been
// measured of their entities.
func (c *Connection) Observed(observe func(Step)) *Connection {
	client := &Client{url: c.client.url, token: c.client.token, http: c.client.http, options: c.client.options}
	client.options.Observe = observe
	own := *c
	own.client = client
	own.entities = entities(&own)
	return &own
}

// URL returns the base URL of the connector, without a slash at its end.
func (c *Connection) URL() string { return c.client.URL() }
