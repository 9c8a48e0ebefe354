package otelconnector

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// instruments are what requests are counted and measured by.
type instruments struct {
	duration, firstRow        metric.Float64Histogram
	requestBytes, answerBytes metric.Int64Histogram
	read, sent, parts         metric.Int64Counter
}

// seconds are the bounds that the semantic conventions advise.
var seconds = metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)

// bytes grow by the factor ten, up to the largest answers.
var bytes = metric.WithExplicitBucketBoundaries(1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)

func (i *instruments) create(meter metric.Meter) error {
	var errs [7]error
	i.duration, errs[0] = meter.Float64Histogram("http.server.request.duration",
		metric.WithUnit("s"), seconds, metric.WithDescription("Duration of requests."))
	i.firstRow, errs[1] = meter.Float64Histogram("connector.first_row.duration",
		metric.WithUnit("s"), seconds, metric.WithDescription("Time until the first rows of a stream were written."))
	i.requestBytes, errs[2] = meter.Int64Histogram("http.server.request.body.size",
		metric.WithUnit("By"), bytes, metric.WithDescription("Size of request bodies."))
	i.answerBytes, errs[3] = meter.Int64Histogram("http.server.response.body.size",
		metric.WithUnit("By"), bytes, metric.WithDescription("Size of answers."))
	i.read, errs[4] = meter.Int64Counter("connector.rows.read",
		metric.WithUnit("{row}"), metric.WithDescription("Rows that the source offered."))
	i.sent, errs[5] = meter.Int64Counter("connector.rows.sent",
		metric.WithUnit("{row}"), metric.WithDescription("Rows that were sent."))
	i.parts, errs[6] = meter.Int64Counter("connector.query.parts",
		metric.WithUnit("{part}"), metric.WithDescription("Filters, sorts and windows that queries asked for."))
	return errors.Join(errs[:]...)
}

// record measures one request.
func (i *instruments) record(ctx context.Context, seen *connector.RequestStats) {
	own := connectorAttributes(seen)
	table := metric.WithAttributeSet(attribute.NewSet(own...))
	all := metric.WithAttributeSet(attribute.NewSet(append(requestAttributes(ctx, seen), own...)...))
	i.duration.Record(ctx, seen.Duration.Seconds(), all)
	i.requestBytes.Record(ctx, seen.BytesRead, all)
	i.answerBytes.Record(ctx, seen.BytesSent, all)
	if seen.RowsRead > 0 {
		i.read.Add(ctx, seen.RowsRead, table)
	}
	if seen.RowsSent > 0 {
		i.sent.Add(ctx, seen.RowsSent, table)
		i.firstRow.Record(ctx, seen.FirstRow.Seconds(), table)
	}
	if seen.Fault != "" {
		return // a source that refuses a query has claimed nothing, and says nothing by it
	}
	for _, part := range parts(seen.Asked) {
		claimed := false
		for _, c := range parts(seen.Claimed) {
			claimed = claimed || c == part
		}
		i.parts.Add(ctx, 1, table, metric.WithAttributes(
			attribute.String("connector.query.part", part), attribute.Bool("connector.query.claimed", claimed)))
	}
}

// connectorAttributes returns the attributes that tell one connector and table from another.
func connectorAttributes(seen *connector.RequestStats) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("connector.slug", seen.Slug)}
	if seen.Table != "" {
		list = append(list, attribute.String("connector.table", seen.Table))
	}
	return list
}

// requestAttributes returns the attributes of the semantic conventions for HTTP, and whose
// fault it was.
func requestAttributes(ctx context.Context, seen *connector.RequestStats) []attribute.KeyValue {
	method := seen.Method
	if method == "" {
		method = "_OTHER"
	}
	list := []attribute.KeyValue{
		attribute.String("http.request.method", method),
		attribute.Int("http.response.status_code", seen.Status),
	}
	if scheme, ok := ctx.Value(schemeKey{}).(string); ok {
		list = append(list, attribute.String("url.scheme", scheme))
	}
	if seen.Route != "" {
		list = append(list, attribute.String("http.route", seen.Route))
	}
	if seen.Code != "" {
		list = append(list, attribute.String("error.type", string(seen.Code)))
	}
	if seen.Fault != "" && seen.Fault != connector.FaultCaller {
		list = append(list, attribute.String("connector.fault", string(seen.Fault)))
	}
	return list
}

// parts names the parts of a query.
func parts(s wire.Served) []string {
	list := []string{}
	for _, part := range []struct {
		set  bool
		name string
	}{{s.Filters, "filters"}, {s.Sort, "sort"}, {s.Window, "window"}} {
		if part.set {
			list = append(list, part.name)
		}
	}
	return list
}
