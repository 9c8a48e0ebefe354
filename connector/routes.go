package connector

import (
	"context"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// optionalRoute is a route that a connector has if its source does. The document lists it, and
// [Omit] can leave it out.
type optionalRoute struct {
	endpoint wire.Endpoint
	serve    routeFunc
	offer    func(c *capabilities, src Source) bool // keeps the source if it has the method
}

// optionalRoutes are in the order of the document.
var optionalRoutes = []optionalRoute{
	{wire.EndpointSize, serveSize, offer(func(c *capabilities) *Sizer { return &c.sizer })},
	{wire.EndpointCount, serveCount, offer(func(c *capabilities) *Counter { return &c.counter })},
	{wire.EndpointAggregate, serveAggregate, offer(func(c *capabilities) *Aggregator { return &c.aggregator })},
	{wire.EndpointCardinality, serveCardinality, offer(func(c *capabilities) *CardinalityMeasurer { return &c.cardinality })},
	{wire.EndpointLinkHitRate, serveLinkHitRate, offer(func(c *capabilities) *LinkMeasurer { return &c.links })},
}

// offer returns a function that keeps a source as one that has the method of a route, and reports
// whether it has it.
func offer[S any](kept func(*capabilities) *S) func(*capabilities, Source) bool {
	return func(c *capabilities, src Source) (ok bool) {
		*kept(c), ok = src.(S)
		return ok
	}
}

// Each function below is one route: accept the request, refuse what the document
// never advertised, call the source, check its answer.

// serveJSON serves a JSON route. It decodes the body into req, which envelope and
// table are parts of; table is nil if the request has none. ask calls the source, in
// a goroutine of its own, and returns the answer, or nil for 204.
func serveJSON(
	x *exchange,
	body []byte,
	req wire.Request,
	envelope *wire.Envelope,
	table *string,
	ask func(context.Context) (wire.Answer, error),
) {
	if err := x.accept(body, req, &envelope.Credentials, table); err != nil {
		x.reply.fail(err)
		return
	}
	var encoded []byte
	deadline := x.arrived.Add(x.service.timeout(envelope.TimeoutMS))
	err := x.calls.until(x.r.Context(), deadline, func(ctx context.Context) error {
		answer, err := ask(ctx)
		if err != nil || answer == nil {
			return err
		}
		if encoded, err = wire.EncodeAnswer(answer); err != nil {
			return explainUnsendable(fmt.Errorf("the source's answer cannot be sent: %w", err), x.reply.log.table)
		}
		if len(encoded) > terms.MaxAnswerBytes {
			return faultf("the source's answer has %d bytes, over the limit of %d", len(encoded), terms.MaxAnswerBytes)
		}
		return nil
	})
	switch {
	case err != nil:
		x.reply.fail(err)
	case encoded == nil:
		x.reply.conn.noContent()
	default:
		x.reply.answer(encoded)
	}
}

func serveCheck(x *exchange, body []byte) {
	var req wire.CheckRequest
	serveJSON(x, body, &req, &req.Envelope, nil, func(ctx context.Context) (wire.Answer, error) {
		err := x.invoke(ctx, "Check", func(ctx context.Context) error { return x.service.source.Check(ctx, &req) })
		return &wire.CheckAnswer{OK: true}, err
	})
}

func serveDiscovery(x *exchange, body []byte) {
	var req wire.DiscoveryRequest
	serveJSON(x, body, &req, &req.Envelope, nil, func(ctx context.Context) (wire.Answer, error) {
		var found *wire.Discovery
		err := x.invoke(ctx, "Discover", func(ctx context.Context) (err error) {
			found, err = x.service.source.Discover(ctx, &req)
			return err
		})
		if err != nil {
			return nil, err
		}
		if found == nil {
			return nil, fault("Discover returned nothing")
		}
		if err := validateDiscovery(found); err != nil {
			return nil, err
		}
		for _, text := range danglingKeys(found) {
			x.reply.log.warn(text)
		}
		answer := *found // which the source may keep
		answer.Warnings = nil
		hidden := x.reply.form.hidden(x.reply.log.secrets) // from who typed the credentials, and reads them
		for _, text := range found.Warnings {
			answer.Warnings = append(answer.Warnings, message(text, hidden))
		}
		return &answer, nil
	})
}

func serveSize(x *exchange, body []byte) {
	var req wire.SizeRequest
	serveJSON(x, body, &req, &req.Envelope, &req.Table, func(ctx context.Context) (wire.Answer, error) {
		if _, err := x.describe(ctx, req.Table); err != nil {
			return nil, err
		}
		var answer wire.SizeAnswer
		err := x.invoke(ctx, "Size", func(ctx context.Context) (err error) {
			answer.Size, err = x.service.caps.sizer.Size(ctx, &req)
			return err
		})
		switch {
		case isDecline(err):
			return &wire.SizeAnswer{}, nil
		case err != nil:
			return nil, err
		case answer.Size == nil:
			return nil, fault("Size returned nil; return ErrDecline if the size is unknown")
		case !isCount(answer.Size.Rows):
			return nil, fault("Size answered a number of rows that is not from 0 to 2^53-1")
		}
		return &answer, nil
	})
}

func serveCount(x *exchange, body []byte) {
	var req wire.CountRequest
	serveJSON(x, body, &req, &req.Envelope, &req.Table, func(ctx context.Context) (wire.Answer, error) {
		table, err := x.describe(ctx, req.Table)
		if err == nil {
			err = checkFilters(table, req.Where)
		}
		if err != nil {
			return nil, err
		}
		var answer wire.CountAnswer
		err = x.invoke(ctx, "Count", func(ctx context.Context) (err error) {
			answer.Count, err = x.service.caps.counter.Count(ctx, &req)
			return err
		})
		if isDecline(err) {
			answer.Count, err = x.countByReading(ctx, &req, table)
		}
		if err == nil && !isCount(answer.Count) {
			err = fault("Count answered a number that is not from 0 to 2^53-1")
		}
		return &answer, err
	})
}

// isCount reports whether n can be the number of something on the wire.
func isCount(n int64) bool { return n >= 0 && n <= terms.MaxSafeInteger }

func serveCardinality(x *exchange, body []byte) {
	var req wire.CardinalityRequest
	serveJSON(x, body, &req, &req.Envelope, &req.Table, func(ctx context.Context) (wire.Answer, error) {
		table, err := x.describe(ctx, req.Table)
		if err == nil {
			err = checkColumns(table, req.Columns...)
		}
		if err != nil {
			return nil, err
		}
		var counts map[string]*wire.Cardinality
		err = x.invoke(ctx, "Cardinality", func(ctx context.Context) (err error) {
			counts, err = x.service.caps.cardinality.Cardinality(ctx, &req)
			return err
		})
		if err != nil {
			return nil, err
		}
		// One entry for every column asked for and no other; a column without
		// one was not counted.
		answer := &wire.CardinalityAnswer{Columns: make(map[string]*wire.Cardinality, len(req.Columns))}
		for _, column := range req.Columns {
			c := counts[column]
			if c != nil && (!isCount(c.Distinct) || !isCount(c.NonNull) || c.Distinct > c.NonNull) {
				return nil, faultf("Cardinality answered %d distinct of %d values for column %s",
					c.Distinct, c.NonNull, terms.QuoteName(column))
			}
			answer.Columns[column] = c
		}
		return answer, nil
	})
}

func serveLinkHitRate(x *exchange, body []byte) {
	var req wire.LinkHitRateRequest
	serveJSON(x, body, &req, &req.Envelope, &req.FromTable, func(ctx context.Context) (wire.Answer, error) {
		ends := []struct{ table, column string }{
			{req.FromTable, req.FromColumn},
			{req.ToTable, req.ToColumn},
		}
		for _, end := range ends {
			table, err := x.describe(ctx, end.table)
			if err == nil {
				err = checkColumns(table, end.column)
			}
			if err != nil {
				return nil, err
			}
		}
		var answer *wire.LinkHitRate
		err := x.invoke(ctx, "LinkHitRate", func(ctx context.Context) (err error) {
			answer, err = x.service.caps.links.LinkHitRate(ctx, &req)
			return err
		})
		if err != nil {
			return nil, err
		}
		if answer == nil {
			return nil, fault("LinkHitRate returned nothing")
		}
		if !isCount(answer.OrphanCount) || !isCount(answer.FromNonNull) || answer.OrphanCount > answer.FromNonNull ||
			len(answer.OrphanSamples) > terms.MaxOrphanSamples {
			return nil, fault("LinkHitRate answered more orphans than values, or more than 20 samples")
		}
		// The rate follows from the counts, so the source cannot get it wrong.
		own := *answer
		own.OrphanRate = 0
		if own.FromNonNull > 0 {
			own.OrphanRate = float64(own.OrphanCount) / float64(own.FromNonNull)
		}
		return &own, nil
	})
}
