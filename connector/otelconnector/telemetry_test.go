package otelconnector_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	meter "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/otelconnector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	bearer = "the-token-of-this-test-0123456789abcdef"
	secret = "s3cr3t-5f2e-9a77"
	canary = "canary7c1e"
)

// source offers the numbers 1 to 5. It sorts, and leaves filters to the library.
type source struct {
	connectors.Source
	connectors.Counter
	first, rest time.Duration // until the first rows, and from there to the end
}

func (s source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if req.Table != "items" {
		return connector.UnknownEntity("no table %q", req.Table)
	}
	if !api.SpanFromContext(ctx).SpanContext().IsValid() {
		return errors.New("no span in the context")
	}
	out.Claim(connector.Applied{Sort: true})
	time.Sleep(s.first)
	w := out.Begin([]wire.Column{{Name: "n", Type: wire.TypeNumber}})
	for n := range int64(5) {
		if err := w.Row(wire.Int(n + 1)); err != nil {
			return err
		}
	}
	if s.rest == 0 {
		return nil
	}
	defer time.Sleep(s.rest)
	return w.Flush()
}

// site is a connector whose spans and metrics are kept.
type site struct {
	t       *testing.T
	handler http.Handler
	spans   *tracetest.InMemoryExporter
	metrics *metric.ManualReader
}

// recording returns a site without a connector, and the options that make telemetry fill it.
func recording(t *testing.T) (*site, *otelconnector.Options) {
	s := &site{t: t, spans: tracetest.NewInMemoryExporter(), metrics: metric.NewManualReader()}
	return s, &otelconnector.Options{
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(s.spans)),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(s.metrics)),
		Propagator:     propagation.TraceContext{},
	}
}

func start(t *testing.T, src connector.Source, opts connector.Options) *site {
	t.Helper()
	s, record := recording(t)
	telemetry := testkit.Must(otelconnector.New(record))(t)
	opts.Logger = slog.New(slog.DiscardHandler)
	definition := connector.Definition{Slug: "shop", Credentials: []wire.CredentialField{connectors.Key}}
	h := connectors.New(bearer, definition, src, telemetry.Options(opts))
	mux := http.NewServeMux()
	mux.Handle(h.Mount("/shop"))
	s.handler = telemetry.Handler(mux)
	return s
}

const (
	tail = `"credentials":{"apiKey":"` + secret + `"},"timeoutMs":60000}`
	ask  = `{"table":"items","and":[{"field":"n","op":"gt","value":2}],"sort":[{"field":"n","dir":"asc"}],"fields":["n"],` + tail
)

func (s *site) post(path, body string, headers ...string) *httptest.ResponseRecorder {
	r := request(path, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.send(r)
}

func request(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/shop"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+bearer)
	return r
}

func (s *site) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// span returns the only span of a name.
func (s *site) span(name string) tracetest.SpanStub {
	s.t.Helper()
	found := slices.DeleteFunc(s.spans.GetSpans(), func(span tracetest.SpanStub) bool { return span.Name != name })
	require.Len(s.t, found, 1, "spans of the name %s", name)
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

// points returns every point of every metric as "name attributes: value", where the
// value of a histogram is its count and its sum.
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
					list = append(list, fmt.Sprintf("%s %s: %d, %d", m.Name, said(p.Attributes.ToSlice()), p.Count, p.Sum))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					list = append(list, fmt.Sprintf("%s %s: %d, %g", m.Name, said(p.Attributes.ToSlice()), p.Count, p.Sum))
				}
			default:
				s.t.Errorf("metric %s is a %T", m.Name, data)
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestSpans checks that a request and the call of its source are spans of the caller's trace.
func TestSpans(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	synctest.Test(t, func(t *testing.T) {
		s := start(t, source{first: 2 * time.Second, rest: time.Second}, connector.Options{})
		w := s.post("/query", ask, "Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
		require.Equal(t, 200, w.Code)
		assert.Equal(t, trace, w.Header().Get("X-Request-ID"))
		request, call := s.span("POST /query"), s.span("connector.source Query")
		assert.Equal(t, trace, request.SpanContext.TraceID().String())
		assert.Equal(t, "00f067aa0ba902b7", request.Parent.SpanID().String())
		assert.Equal(t, api.SpanKindServer, request.SpanKind)
		assert.Equal(t, request.SpanContext.SpanID(), call.Parent.SpanID())
		assert.Equal(t, "connector.source.method=Query", said(call.Attributes))
		assert.Equal(t, `connector.first_row.duration=2 connector.query.asked=["filters","sort"] connector.query.claimed=["sort"] `+
			`connector.query.served=["filters","sort"] connector.request.id=`+trace+` connector.rows.read=5 connector.rows.sent=3 `+
			`connector.slug=shop connector.stream.end=end connector.table=items `+
			fmt.Sprintf("http.request.body.size=%d http.request.method=POST http.response.body.size=%d ", len(ask), w.Body.Len())+
			`http.response.status_code=200 http.route=/query url.scheme=http`, said(request.Attributes))
		assert.Equal(t, codes.Unset, request.Status.Code)
	})
}

// TestSpanOfAnAnswer checks the attributes of a request that has no rows, sent over
// TLS and in no trace, which has the id of its own. The caller's own request stays as it is.
func TestSpanOfAnAnswer(t *testing.T) {
	s := start(t, source{}, connector.Options{})
	r := request("/check", "{"+tail)
	r.TLS = &tls.ConnectionState{}
	w := s.send(r)
	span := s.span("POST /check")
	assert.Equal(t, span.SpanContext.TraceID().String(), w.Header().Get("X-Request-ID"))
	assert.Equal(t, "connector.request.id="+w.Header().Get("X-Request-ID")+" connector.slug=shop "+
		fmt.Sprintf("http.request.body.size=%d http.request.method=POST http.response.body.size=%d ", len(tail)+1, w.Body.Len())+
		"http.response.status_code=200 http.route=/check url.scheme=https", said(span.Attributes))
	assert.Empty(t, r.Header.Get("Traceparent"))
}

// TestOtherPropagator checks that the id is that of the trace too where traces are
// not told by traceparent, and that the headers are read as the host says.
func TestOtherPropagator(t *testing.T) {
	s, record := recording(t)
	record.Propagator = propagation.Baggage{}
	telemetry := testkit.Must(otelconnector.New(record))(t)
	const foreign = "4bf92f3577b34da6a3ce929d0e0e4736"
	var parent string
	r := request("/check", "{"+tail)
	r.Header.Set("Traceparent", "00-"+foreign+"-00f067aa0ba902b7-01")
	telemetry.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		parent = r.Header.Get("Traceparent")
	})).ServeHTTP(httptest.NewRecorder(), r)
	own := s.span("HTTP").SpanContext
	assert.NotEqual(t, foreign, own.TraceID().String())
	assert.Equal(t, "00-"+own.TraceID().String()+"-"+own.SpanID().String()+"-01", parent)
}

// TestGlobalProviders checks that what is not given is the global one.
func TestGlobalProviders(t *testing.T) {
	tracers, meters, propagator := otel.GetTracerProvider(), otel.GetMeterProvider(), otel.GetTextMapPropagator()
	defer func() {
		otel.SetTracerProvider(tracers)
		otel.SetMeterProvider(meters)
		otel.SetTextMapPropagator(propagator)
	}()
	s, record := recording(t)
	otel.SetTracerProvider(record.TracerProvider)
	otel.SetMeterProvider(record.MeterProvider)
	otel.SetTextMapPropagator(record.Propagator)
	for _, opts := range []*otelconnector.Options{nil, {}} {
		telemetry := testkit.Must(otelconnector.New(opts))(t)
		h := connectors.New(bearer, connector.Definition{Slug: "shop"}, source{}, telemetry.Options(*connectors.Quiet()))
		r := request("", "")
		r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		telemetry.Handler(h).ServeHTTP(httptest.NewRecorder(), r)
	}
	require.Len(t, s.spans.GetSpans(), 2)
	for _, span := range s.spans.GetSpans() {
		assert.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", span.SpanContext.TraceID().String())
	}
	assert.Contains(t, strings.Join(s.points(), "\n"), "http.server.request.duration connector.slug=shop ")
}

type instruments = noop.Meter

// refusing provides itself as a meter, which refuses one instrument.
type refusing struct {
	noop.MeterProvider
	instruments
	name string
}

func (r refusing) Meter(string, ...meter.MeterOption) meter.Meter { return r }

func (r refusing) refuse(name string) error {
	if name == r.name {
		return fmt.Errorf("no %s", name)
	}
	return nil
}

func (r refusing) Float64Histogram(name string, _ ...meter.Float64HistogramOption) (meter.Float64Histogram, error) {
	return noop.Float64Histogram{}, r.refuse(name)
}

func (r refusing) Int64Histogram(name string, _ ...meter.Int64HistogramOption) (meter.Int64Histogram, error) {
	return noop.Int64Histogram{}, r.refuse(name)
}

func (r refusing) Int64Counter(name string, _ ...meter.Int64CounterOption) (meter.Int64Counter, error) {
	return noop.Int64Counter{}, r.refuse(name)
}

// TestInstruments checks the unit and the bounds of each instrument, and that a meter that refuses one is an error.
func TestInstruments(t *testing.T) {
	const seconds = " s [0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10]"
	const bytes = " By [100 1000 10000 100000 1e+06 1e+07 1e+08 1e+09]"
	s := start(t, source{}, connector.Options{})
	s.post("/query", ask)
	var all metricdata.ResourceMetrics
	require.NoError(t, s.metrics.Collect(t.Context(), &all))
	var list []string
	for _, m := range all.ScopeMetrics[0].Metrics {
		line := m.Name + " " + m.Unit
		switch data := m.Data.(type) {
		case metricdata.Histogram[int64]:
			line += fmt.Sprint(" ", data.DataPoints[0].Bounds)
		case metricdata.Histogram[float64]:
			line += fmt.Sprint(" ", data.DataPoints[0].Bounds)
		}
		list = append(list, line)
		_, err := otelconnector.New(&otelconnector.Options{MeterProvider: refusing{name: m.Name}})
		assert.EqualError(t, err, "otelconnector: no "+m.Name)
	}
	slices.Sort(list)
	assert.Equal(t, []string{
		"connector.first_row.duration" + seconds,
		"connector.query.parts {part}",
		"connector.rows.read {row}",
		"connector.rows.sent {row}",
		"http.server.request.body.size" + bytes,
		"http.server.request.duration" + seconds,
		"http.server.response.body.size" + bytes,
	}, list)
}

// TestFailures checks status and kind of error of both spans, and that no text of an error is in them.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		why           string
		err           error
		request, call codes.Code
		kind, fault   string
	}{
		{"a failure", fmt.Errorf("%s %s", secret, canary), codes.Error, codes.Error, "internal", "source"},
		{"a late upstream", connector.UpstreamTimeout("%s %s", secret, canary), codes.Error, codes.Error, "timeout", "source"},
		{"a failure that is named as one", wire.Errorf(wire.CodeInternal, "%s", canary), codes.Error, codes.Error, "internal", "source"},
		{"an error that is nil inside", (*wire.Error)(nil), codes.Error, codes.Error, "internal", "source"},
		{"a refusal", connector.CheckFailed("%s", canary), codes.Unset, codes.Unset, "check_failed", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := start(t, source{Source: connectors.Source{
				OnCheck: func(context.Context, *wire.CheckRequest) error { return c.err },
			}}, connector.Options{})
			s.post("/check", "{"+tail)
			request, call := s.span("POST /check"), s.span("connector.source Check")
			assert.Equal(t, c.request, request.Status.Code)
			assert.Equal(t, c.call, call.Status.Code)
			for _, span := range []tracetest.SpanStub{request, call} {
				assert.Contains(t, said(span.Attributes), "error.type="+c.kind)
				if span.Status.Code == codes.Error {
					assert.Equal(t, c.kind, span.Status.Description)
				}
				assert.Empty(t, span.Events)
			}
			assert.Equal(t, c.fault != "", strings.Contains(said(request.Attributes), "connector.fault="+c.fault))
			everything := fmt.Sprintf("%+v %v", s.spans.GetSpans(), s.points())
			assert.NotContains(t, everything, secret)
			assert.NotContains(t, everything, canary)
		})
	}
}

// TestDecline checks that a decline is no error, even one with a reason.
func TestDecline(t *testing.T) {
	s := start(t, source{Counter: func(context.Context, *wire.CountRequest) (int64, error) {
		return 0, fmt.Errorf("too many: %w", connector.ErrDecline)
	}}, connector.Options{})
	require.Equal(t, 200, s.post("/count", `{"table":"items","and":[],`+tail).Code)
	call := s.span("connector.source Count")
	assert.Equal(t, "connector.source.declined=true connector.source.method=Count", said(call.Attributes))
	assert.Equal(t, codes.Unset, call.Status.Code)
}

// TestReaderLeaves checks that what is the fault of neither caller nor source says so, and is no error of the span.
func TestReaderLeaves(t *testing.T) {
	s := start(t, source{}, connector.Options{})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	s.send(request("/check", "{"+tail).WithContext(ctx))
	assert.Contains(t, s.points(), fmt.Sprintf("http.server.request.body.size connector.fault=reader connector.slug=shop "+
		"error.type=timeout http.request.method=POST http.response.status_code=408 http.route=/check url.scheme=http: 1, %d", len(tail)+1))
	assert.Equal(t, codes.Unset, s.span("POST /check").Status.Code)
}

// TestUnknownMethod checks that a method that a caller has made up is in no name.
func TestUnknownMethod(t *testing.T) {
	s := start(t, source{}, connector.Options{})
	for _, path := range []string{"/check", "/" + canary} {
		r := request(path, "")
		r.Method = strings.ToUpper(canary)
		s.send(r)
	}
	for _, name := range []string{"HTTP /check", "HTTP"} {
		assert.Contains(t, said(s.span(name).Attributes), "http.request.method=_OTHER ")
	}
}

// TestMetrics checks the points of two queries, and that guesses add no label.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, source{first: 2 * time.Second, rest: time.Second}, connector.Options{})
		ask := strings.Replace(ask, `"and"`, `"limit":9,"and"`, 1)
		s.post("/query", ask)
		size := s.post("/query", ask).Body.Len()
		s.post("/query", strings.Replace(ask, "items", canary, 1))
		s.post("/"+canary, ask)
		points := s.points()
		const ok = " connector.slug=shop connector.table=items http.request.method=POST " +
			"http.response.status_code=200 http.route=/query url.scheme=http: 2, "
		for _, want := range []string{
			"http.server.request.duration" + ok + "6",
			"http.server.request.body.size" + ok + strconv.Itoa(2*len(ask)),
			"http.server.response.body.size" + ok + strconv.Itoa(2*size),
			"http.server.request.duration connector.slug=shop error.type=unknown_entity http.request.method=POST " +
				"http.response.status_code=404 http.route=/query url.scheme=http: 1, 0",
			"http.server.request.duration connector.slug=shop error.type=not_found http.request.method=POST " +
				"http.response.status_code=404 url.scheme=http: 1, 0",
			"connector.rows.read connector.slug=shop connector.table=items: 10",
			"connector.rows.sent connector.slug=shop connector.table=items: 6",
			"connector.first_row.duration connector.slug=shop connector.table=items: 2, 4",
			"connector.query.parts connector.query.claimed=false connector.query.part=filters connector.slug=shop connector.table=items: 2",
			"connector.query.parts connector.query.claimed=false connector.query.part=window connector.slug=shop connector.table=items: 2",
			"connector.query.parts connector.query.claimed=true connector.query.part=sort connector.slug=shop connector.table=items: 2",
		} {
			assert.Contains(t, points, want)
		}
		assert.Len(t, points, 3*3+2+1+3)
		assert.NotContains(t, strings.Join(points, "\n"), canary)
		assert.NotContains(t, fmt.Sprintf("%+v", s.spans.GetSpans()), canary)
		assert.Equal(t, "POST", s.span("POST").Name, "no route: the method alone")
	})
}

// TestOwnHooks checks that the hooks of the host are still called, inside the span, and that the
// error of one is the answer.
func TestOwnHooks(t *testing.T) {
	var calls []string
	note := func(ctx context.Context, what string) {
		calls = append(calls, fmt.Sprint(what, " ", api.SpanFromContext(ctx).SpanContext().IsValid()))
	}
	var refusal error
	s := start(t, source{}, connector.Options{
		Intercept: func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
			note(ctx, call.Method)
			return cmp.Or(refusal, next(ctx))
		},
		Observe: func(ctx context.Context, seen connector.RequestStats) { note(ctx, seen.Route) },
	})
	assert.Equal(t, 200, s.post("/check", "{"+tail).Code)
	assert.Equal(t, []string{"Check true", "/check true"}, calls)
	refusal = connector.Unsupported("not today")
	assert.Contains(t, s.post("/check", "{"+tail).Body.String(), "not today")
}
