package platform

import (
	"context"
	"errors"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// retried asks a question, and once more if it was refused because the connector changed.
func retried[T any](
	ctx context.Context, c *Connection, ask func(*Connection) (T, Stats, error),
) (answer T, stats Stats, err error) {
	do := func(c *Connection) (err error) {
		answer, stats, err = ask(c)
		return err
	}
	if err = do(c); err != nil {
		err = c.again(ctx, &stats, err, do)
	}
	return answer, stats, err
}

// again goes on after a question has failed. If the connector refuses a part of it that the document or
// discovery offered, both are read once more: they may have changed since. Then the question
// is planned again, without what is gone, or refused by the name of what it needs. The
// requests of both attempts are in the stats.
func (c *Connection) again(ctx context.Context, stats *Stats, err error, do func(*Connection) error) error {
	next, changes := c.reread(ctx, err)
	if next == nil {
		return err
	}
	spent := stats.Requests + 2 // the document and discovery
	err = do(next)
	stats.Requests += spent
	var refused *RequestError
	if errors.As(err, &refused) && refused.Err == nil {
		return refuse("%s; since this connection was made, %s", refused.Problem, changes[0])
	}
	return err
}

// reread returns the connection as the connector is now, and what changed, if that may be why
// a question was refused; otherwise nil.
func (c *Connection) reread(ctx context.Context, err error) (*Connection, []Change) {
	var own *wire.Error
	refusals := []wire.Code{wire.CodeUnsupported, wire.CodeNotFound, wire.CodeMethodNotAllowed, wire.CodeUnknownEntity}
	if !errors.As(err, &own) || !slices.Contains(refusals, own.Code) || c.enter(ctx) != nil {
		return nil, nil
	}
	defer c.leave()
	next, err := c.Refresh(ctx)
	if err != nil {
		return nil, nil // the refusal says more
	}
	if changes := next.Changes(c); len(changes) > 0 {
		return next, changes
	}
	return nil, nil
}
