// Command prometheus is a connector with what operating one takes: lines of JSON in
// its log, metrics for Prometheus, spans, a probe and a graceful stop.
//
//	OTEL_METRICS_EXPORTER=prometheus OTEL_TRACES_EXPORTER=console go run -C examples/prometheus .
//
// The variables are those of OpenTelemetry, and say where its measurements go.
package main

import (
	"context"
	"errors"
	"log"
	"log/slog"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/otelconnector"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

func main() {
	ctx := context.Background()
	meters := metric.NewMeterProvider(metric.WithReader(must(autoexport.NewMetricReader(ctx))))
	tracers := trace.NewTracerProvider(trace.WithBatcher(must(autoexport.NewSpanExporter(ctx))))
	telemetry := must(otelconnector.New(&otelconnector.Options{MeterProvider: meters, TracerProvider: tracers}))
	options := telemetry.Options(connector.Options{Logger: slog.New(slog.NewJSONHandler(log.Writer(), nil))})
	program := standalone.Program{Definition: definition, Source: source(), Options: options}
	program.Around = append(program.Around, telemetry.Handler)
	must(ctx, errors.Join(program.Run(ctx), tracers.Shutdown(ctx), meters.Shutdown(ctx))) // the last spans are sent
}

// must ends the program if there is an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
