package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gorilla/mux"
	"github.com/klauspost/compress/gzhttp"
	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
)

// hosts are what connectors are mounted in, by the values of -in: the routers, and the
// middleware that hosts put around them.
//
// A connector answers paths such as /check below its mount. [connector.Handler.Mount]
// removes the prefix, so the router has to hand on the whole path, with everything
// below the prefix.
var hosts = map[string]func([]mounted) http.Handler{
	"mux":      inServeMux,
	"chi":      inChi,
	"gorilla":  inGorilla,
	"gin":      inGin,
	"echo":     inEcho,
	"gzip":     behindGzip,
	"otelhttp": behindTelemetry,
}

// inServeMux mounts the connectors in the standard library's mux.
func inServeMux(connectors []mounted) http.Handler {
	r := http.NewServeMux()
	for _, c := range connectors {
		r.Handle(c.handler.Mount(c.path))
	}
	return r
}

// inChi passes on the whole path, also with Mount: chi keeps a sub-router's path in the
// context.
func inChi(connectors []mounted) http.Handler {
	r := chi.NewRouter()
	for _, c := range connectors {
		_, handler := c.handler.Mount(c.path)
		r.Mount(c.path, handler)
	}
	return r
}

// inGorilla needs PathPrefix: Handle("/shop/", ...) matches that one path. SkipClean
// spares requests such as /shop//check a redirect, which no reader follows.
func inGorilla(connectors []mounted) http.Handler {
	r := mux.NewRouter().SkipClean(true)
	for _, c := range connectors {
		pattern, handler := c.handler.Mount(c.path)
		r.PathPrefix(pattern).Handler(handler)
	}
	return r
}

// inGin takes a wildcard for what is below the prefix.
func inGin(connectors []mounted) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	for _, c := range connectors {
		pattern, handler := c.handler.Mount(c.path)
		r.Any(pattern+"*path", gin.WrapH(handler))
	}
	return r
}

// inEcho takes a wildcard for what is below the prefix.
func inEcho(connectors []mounted) http.Handler {
	r := echo.New()
	for _, c := range connectors {
		pattern, handler := c.handler.Mount(c.path)
		r.Any(pattern+"*", echo.WrapHandler(handler))
	}
	return r
}

// behindGzip compresses the answers. It has to pass on each flush, as this one does: a
// middleware that collects the answer first breaks heartbeats and deadlines.
func behindGzip(connectors []mounted) http.Handler {
	return gzhttp.GzipHandler(inServeMux(connectors))
}

// behindTelemetry records a span for each request. Package otelconnector also records one
// for each call of the source.
func behindTelemetry(connectors []mounted) http.Handler {
	return otelhttp.NewHandler(inServeMux(connectors), "hosts")
}
