// Package hostlog lets a source of this library write a line into the log of the
// request that it serves, where no error would tell the host.
package hostlog

import "context"

// Key is the context key of what the calls of one request share. If its value has the
// method Warn(text string), [Warn] calls it.
type Key struct{}

// Warn writes a warning to the log of the request of ctx, without the values of its
// credentials. Outside of a request it does nothing.
func Warn(ctx context.Context, text string) {
	if log, ok := ctx.Value(Key{}).(interface{ Warn(text string) }); ok {
		log.Warn(text)
	}
}
