// Package otelconnector reports a connector's requests to OpenTelemetry: a span for
// each request and for each call of the source, and metrics by the semantic
// conventions of HTTP servers.
//
//	telemetry, err := otelconnector.New(nil) // the global providers
//	p := standalone.Program{Definition: def, Source: src, Options: telemetry.Options(connector.Options{})}
//	p.Around = append(p.Around, telemetry.Handler)
//	err = p.Run(ctx)
//
// Or, with a server of your own:
//
//	handler, err := connector.New(def, src, token, telemetry.Options(connector.Options{}))
//	err = connector.Serve(ctx, listener, telemetry.Handler(handler), nil)
//
// Nothing in a span or a metric is a credential, the text of an error, or a name
// that a caller has made up. For this reason the spans have no url.path, which the
// conventions ask for.
//
// # Metrics
//
//	http.server.request.duration    histogram, seconds
//	http.server.request.body.size   histogram, bytes
//	http.server.response.body.size  histogram, bytes
//	connector.first_row.duration    histogram, seconds until the first rows were written
//	connector.rows.read             counter, rows that the source offered
//	connector.rows.sent             counter, rows that were sent
//	connector.query.parts           counter, parts of the queries that were answered: filters, sort, window
//
// Those of HTTP have the attributes http.request.method, http.route, url.scheme,
// http.response.status_code and error.type; all have connector.slug and, where the
// source knows the table, connector.table. error.type is the protocol's code. What
// fails on no fault of the caller has connector.fault: source, reader or host.
// connector.query.parts has connector.query.part, and connector.query.claimed: true
// if the source has applied the part itself, false if it was not pushed.
package otelconnector

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// name is the instrumentation scope.
const name = "github.com/connectorsdk/connector-sdk-go/connector/otelconnector"

// Options say where to report to. Nil, and every nil member, is the global one of
// package otel.
type Options struct {
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Propagator reads the trace that a request belongs to from its headers.
	Propagator propagation.TextMapPropagator
}

// Telemetry reports the requests of one or more connectors. It is safe for
// concurrent use.
type Telemetry struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	instruments
}

// New returns a Telemetry. It fails if the meter refuses an instrument.
func New(opts *Options) (*Telemetry, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.Propagator == nil {
		o.Propagator = otel.GetTextMapPropagator()
	}
	t := &Telemetry{tracer: o.TracerProvider.Tracer(name), propagator: o.Propagator}
	if err := t.create(o.MeterProvider.Meter(name)); err != nil {
		return nil, fmt.Errorf("otelconnector: %w", err)
	}
	return t, nil
}

// Options returns options that report each request and each call of the source. The
// Intercept and Observe of o are called too.
func (t *Telemetry) Options(o connector.Options) *connector.Options {
	observe := o.Observe
	o.Observe = func(ctx context.Context, seen connector.RequestStats) {
		t.record(ctx, &seen)
		describe(ctx, &seen)
		if observe != nil {
			observe(ctx, seen)
		}
	}
	intercept := o.Intercept
	o.Intercept = func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
		return t.around(ctx, call, func(ctx context.Context) error {
			if intercept != nil {
				return intercept(ctx, call, next)
			}
			return next(ctx)
		})
	}
	return &o
}

// Handler returns a handler that makes a span for each request, in the trace that
// its headers name, and calls next. Put it around a connector or around a mux of
// several. A request without an id of its own gets the id of its trace. Without
// Handler there are metrics, and the spans of the source are in the trace that the
// request's context has, such as one of otelhttp.
func (t *Telemetry) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := t.propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		traced := r.WithContext(context.WithValue(ctx, schemeKey{}, scheme))
		if span.SpanContext().IsValid() {
			traced.Header = r.Header.Clone()
			propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(traced.Header))
		}
		next.ServeHTTP(w, traced)
	})
}

// schemeKey is the key under which a request's context has its URL's scheme.
type schemeKey struct{}

// describe writes on the span of a request what became of it.
func describe(ctx context.Context, seen *connector.RequestStats) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetName(spanName(seen))
	span.SetAttributes(requestAttributes(ctx, seen)...)
	span.SetAttributes(connectorAttributes(seen)...)
	span.SetAttributes(
		attribute.String("connector.request.id", seen.RequestID),
		attribute.Int64("http.request.body.size", seen.BytesRead),
		attribute.Int64("http.response.body.size", seen.BytesSent),
	)
	if seen.End != "" {
		span.SetAttributes(
			attribute.String("connector.stream.end", seen.End),
			attribute.StringSlice("connector.query.asked", parts(seen.Asked)),
			attribute.StringSlice("connector.query.claimed", parts(seen.Claimed)),
			attribute.StringSlice("connector.query.served", parts(seen.Served)),
			attribute.Int64("connector.rows.read", seen.RowsRead),
			attribute.Int64("connector.rows.sent", seen.RowsSent),
			attribute.Float64("connector.first_row.duration", seen.FirstRow.Seconds()),
		)
	}
	if seen.Fault == connector.FaultSource || seen.Status >= 500 {
		span.SetStatus(codes.Error, string(seen.Code))
	}
}

// spanName returns the method and the route. A caller has made up neither.
func spanName(seen *connector.RequestStats) string {
	method := seen.Method
	if method == "" {
		method = "HTTP"
	}
	if seen.Route == "" {
		return method
	}
	return method + " " + seen.Route
}

// around starts a span for one call of the source. The text of an error may hold
// credentials, so the span has only its kind.
func (t *Telemetry) around(ctx context.Context, call connector.Call, next func(context.Context) error) error {
	ctx, span := t.tracer.Start(ctx, "connector.source "+call.Method, trace.WithAttributes(
		attribute.String("connector.source.method", call.Method),
	))
	defer span.End()
	err := next(ctx)
	var deliberate *wire.Error
	switch {
	case err == nil:
	case errors.Is(err, connector.ErrDecline):
		span.SetAttributes(attribute.Bool("connector.source.declined", true))
	case errors.As(err, &deliberate) && deliberate != nil:
		span.SetAttributes(attribute.String("error.type", string(deliberate.Code)))
		if deliberate.Code == wire.CodeTimeout || deliberate.Code == wire.CodeInternal {
			span.SetStatus(codes.Error, string(deliberate.Code))
		}
	default:
		span.SetAttributes(attribute.String("error.type", string(wire.CodeInternal)))
		span.SetStatus(codes.Error, string(wire.CodeInternal))
	}
	return err
}
