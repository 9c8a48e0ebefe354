package otelconnector_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/otelconnector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	bearer = "the-token-of-this-test-0123456789abcdef"
	secret = "s3cr3t-5f2e-9a77"
	canary = "canary7c1e"
)

var items = wire.Table{Name: "items", Fields: []wire.Field{{Name: "n", Type: wire.TypeNumber}}}

// source offers the numbers 1 to 5. It sorts, and leaves filters to the library.
type source struct{ check error }

func (s source) Check(context.Context, *wire.CheckRequest) error { return s.check }

func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{items}}, nil
}

func (source) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	if req.Table != items.Name {
		return connector.UnknownEntity("no table %q", req.Table)
	}
	if !api.SpanFromContext(ctx).SpanContext().IsValid() {
		return errors.New("no span in the context")
	}
	out.Claim(connector.Served{Sort: true})
	w := out.Begin(items.Columns())
	for n := range int64(5) {
		if err := w.Row(wire.Int(n + 1)); err != nil {
			return err
		}
	}
	return nil
}

// site is a connector whose spans and metrics are kept.
type site struct {
	t       *testing.T
	handler http.Handler
	spans   *tracetest.InMemoryExporter
	metrics *metric.ManualReader
}

func start(t *testing.T, src connector.Source, opts connector.Options) *site {
	t.Helper()
	s := &site{t: t, spans: tracetest.NewInMemoryExporter(), metrics: metric.NewManualReader()}
	telemetry, err := otelconnector.New(&otelconnector.Options{
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(s.spans)),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(s.metrics)),
		Propagator:     propagation.TraceContext{},
	})
	require.NoError(t, err)
	token, err := wire.NewToken(bearer)
	require.NoError(t, err)
	opts.Logger = slog.New(slog.DiscardHandler)
	h, err := connector.New(connector.Definition{
		Slug:        "shop",
		Credentials: []wire.CredentialField{{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword}},
	}, src, token, telemetry.Options(opts))
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle(h.At("/shop"))
	s.handler = telemetry.Handler(mux)
	return s
}

const (
	tail = `"credentials":{"apiKey":"` + secret + `"},"timeoutMs":60000}`
	ask  = `{"table":"items","and":[{"field":"n","op":"gt","value":2}],"sort":[{"field":"n","dir":"asc"}],"fields":["n"],` + tail
)

func (s *site) post(path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/shop"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+bearer)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// span returns the only span of a name.
func (s *site) span(name string) tracetest.SpanStub {
	s.t.Helper()
	var found []tracetest.SpanStub
	var names []string
	for _, span := range s.spans.GetSpans() {
		names = append(names, span.Name)
		if span.Name == name {
			found = append(found, span)
		}
	}
	require.Len(s.t, found, 1, "spans of the name %s among %q", name, names)
	return found[0]
}

// said returns attributes as text, sorted.
func said(list []attribute.KeyValue) string {
	var texts []string
	for _, kv := range list {
		texts = append(texts, string(kv.Key)+"="+kv.Value.String())
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

// points returns every point of every metric as "name attributes value".
func (s *site) points() (list []string) {
	s.t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(s.t, s.metrics.Collect(s.t.Context(), &all))
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					list = append(list, fmt.Sprintf("%s %s: %d", m.Name, said(p.Attributes.ToSlice()), p.Value))
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					list = append(list, fmt.Sprintf("%s %s: %d", m.Name, said(p.Attributes.ToSlice()), p.Count))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					list = append(list, fmt.Sprintf("%s %s: %d", m.Name, said(p.Attributes.ToSlice()), p.Count))
				}
			default:
				s.t.Errorf("metric %s is a %T", m.Name, data)
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestSpans checks that a request and the call of its source are spans of the
// caller's trace.
func TestSpans(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	s := start(t, source{}, connector.Options{})
	w := s.post("/query", ask, "Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	require.Equal(t, 200, w.Code)
	assert.Equal(t, trace, w.Header().Get("X-Request-ID"))
	request, call := s.span("POST /query"), s.span("connector.source Query")
	assert.Equal(t, trace, request.SpanContext.TraceID().String())
	assert.Equal(t, "00f067aa0ba902b7", request.Parent.SpanID().String())
	assert.Equal(t, api.SpanKindServer, request.SpanKind)
	assert.Equal(t, request.SpanContext.SpanID(), call.Parent.SpanID())
	assert.Equal(t, "connector.source.method=Query", said(call.Attributes))
	attributes := said(slices.DeleteFunc(request.Attributes, func(kv attribute.KeyValue) bool {
		return kv.Key == "connector.first_row.duration"
	}))
	assert.Equal(t, `connector.query.asked=["filters","sort"] connector.query.claimed=["sort"] `+
		`connector.query.served=["filters","sort"] connector.request.id=`+trace+` connector.rows.read=5 connector.rows.sent=3 `+
		`connector.slug=shop connector.stream.end=end connector.table=items `+
		fmt.Sprintf("http.request.body.size=%d http.request.method=POST http.response.body.size=%d ", len(ask), w.Body.Len())+
		`http.response.status_code=200 http.route=/query url.scheme=http`, attributes)
	assert.Equal(t, codes.Unset, request.Status.Code)
}

// TestNewTrace checks that a request that is in no trace has the id of its own.
func TestNewTrace(t *testing.T) {
	s := start(t, source{}, connector.Options{})
	w := s.post("/check", "{"+tail)
	assert.Equal(t, s.span("POST /check").SpanContext.TraceID().String(), w.Header().Get("X-Request-ID"))
}

// TestFailures checks status and kind of error of both spans, and that no text of
// an error is in them.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		why           string
		err           error
		request, call codes.Code
		kind, fault   string
	}{
		{"a failure", fmt.Errorf("%s %s", secret, canary), codes.Error, codes.Error, "internal", "source"},
		{"a late upstream", connector.Timeout("%s %s", secret, canary), codes.Error, codes.Error, "timeout", "source"},
		{"a refusal", connector.CheckFailed("%s", canary), codes.Unset, codes.Unset, "check_failed", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := start(t, source{check: c.err}, connector.Options{})
			s.post("/check", "{"+tail)
			request, call := s.span("POST /check"), s.span("connector.source Check")
			assert.Equal(t, c.request, request.Status.Code)
			assert.Equal(t, c.call, call.Status.Code)
			for _, span := range []tracetest.SpanStub{request, call} {
				assert.Contains(t, said(span.Attributes), "error.type="+c.kind)
				assert.Empty(t, span.Events)
			}
			assert.Equal(t, c.fault != "", strings.Contains(said(request.Attributes), "connector.fault="+c.fault))
			everything := fmt.Sprintf("%+v %v", s.spans.GetSpans(), s.points())
			assert.NotContains(t, everything, secret)
			assert.NotContains(t, everything, canary)
		})
	}
}

// TestMetrics checks the points of two queries, and that guesses add no label.
func TestMetrics(t *testing.T) {
	s := start(t, source{}, connector.Options{})
	s.post("/query", ask)
	s.post("/query", ask)
	s.post("/query", strings.Replace(ask, "items", canary, 1))
	s.post("/"+canary, ask)
	points := s.points()
	const ok = " connector.slug=shop connector.table=items http.request.method=POST " +
		"http.response.status_code=200 http.route=/query url.scheme=http: 2"
	for _, want := range []string{
		"http.server.request.duration" + ok,
		"http.server.request.body.size" + ok,
		"http.server.response.body.size" + ok,
		"http.server.request.duration connector.slug=shop error.type=unknown_entity http.request.method=POST " +
			"http.response.status_code=404 http.route=/query url.scheme=http: 1",
		"http.server.request.duration connector.slug=shop error.type=not_found http.request.method=POST " +
			"http.response.status_code=404 url.scheme=http: 1",
		"connector.rows.read connector.slug=shop connector.table=items: 10",
		"connector.rows.sent connector.slug=shop connector.table=items: 6",
		"connector.first_row.duration connector.slug=shop connector.table=items: 2",
		"connector.query.parts connector.query.claimed=false connector.query.part=filters connector.slug=shop connector.table=items: 2",
		"connector.query.parts connector.query.claimed=true connector.query.part=sort connector.slug=shop connector.table=items: 2",
	} {
		assert.Contains(t, points, want)
	}
	assert.Len(t, points, 3*3+2+1+2)
	assert.NotContains(t, strings.Join(points, "\n"), canary)
	assert.NotContains(t, fmt.Sprintf("%+v", s.spans.GetSpans()), canary)
}

// TestOwnHooks checks that the hooks of the host are still called, inside the span.
func TestOwnHooks(t *testing.T) {
	var calls []string
	note := func(ctx context.Context, what string) {
		calls = append(calls, fmt.Sprint(what, " ", api.SpanFromContext(ctx).SpanContext().IsValid()))
	}
	s := start(t, source{}, connector.Options{
		Around: func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
			note(ctx, call.Method)
			return next(ctx)
		},
		Observe: func(ctx context.Context, seen connector.Observation) { note(ctx, seen.Route) },
	})
	s.post("/check", "{"+tail)
	assert.Equal(t, []string{"Check true", "/check true"}, calls)
}
