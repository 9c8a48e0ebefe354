// Command prometheus is a connector with what operating one takes: lines of JSON in
// its log, metrics for Prometheus, spans, TLS, a probe and a graceful stop.
//
//	go run -C examples/prometheus .
package main

import (
	"context"
	"log"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/otelconnector"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

// newTelemetry measures into the default registry of Prometheus.
func newTelemetry() (*otelconnector.Telemetry, error) {
	reader, err := exporter.New(exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, err
	}
	return otelconnector.New(&otelconnector.Options{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))})
}

func main() {
	telemetry, err := newTelemetry()
	if err != nil {
		log.Fatal(err)
	}
	// Without its metrics the program is not worth running.
	go func() {
		log.Fatal(connector.ListenAndServe(context.Background(), "localhost:9464", promhttp.Handler()))
	}()
	options := telemetry.Options(connector.Options{Logger: slog.New(slog.NewJSONHandler(log.Writer(), nil))})
	if err := standalone.Run(definition, source(), options, telemetry.Handler); err != nil {
		log.Fatal(err)
	}
}
