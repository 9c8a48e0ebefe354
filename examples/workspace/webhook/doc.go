// Package webhook receives the webhooks of workflow runs.
//
// [Receiver] is an http.Handler that does all of it: it bounds the body, checks the
// signature before it parses anything, and recognises deliveries that come again.
// [Verify] and [Parse] are the steps, for a handler of your own.
//
// A connector keeps nothing between calls, so it has no use for webhooks: a receiver
// is a program of its own, such as cmd/receiver.
package webhook
