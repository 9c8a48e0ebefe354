// Package hosts shows how a connector is mounted under the path /shop in the routers
// and behind the middleware that hosts use. Its test asks each of them for every kind
// of answer, and requires that rows arrive while the source still works.
//
// A connector answers paths such as /check below its mount. [connector.Handler.Mount]
// removes the prefix, so the router has to hand on the whole path, with everything
// below the prefix.
package hosts

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gorilla/mux"
	"github.com/klauspost/compress/gzhttp"
	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/connectorsdk/connector-sdk-go/connector"
)

// ServeMux mounts a connector in the standard library's mux.
func ServeMux(shop *connector.Handler) http.Handler {
	r := http.NewServeMux()
	r.Handle(shop.Mount("/shop"))
	return r
}

// Chi hands on the whole path, also with Mount: what a sub-router would see stands in
// the context.
func Chi(shop *connector.Handler) http.Handler {
	r := chi.NewRouter()
	_, handler := shop.Mount("/shop")
	r.Mount("/shop", handler)
	return r
}

// Gorilla needs PathPrefix: Handle("/shop/", ...) matches that one path. SkipClean
// spares requests such as /shop//check a redirect, which no reader follows.
func Gorilla(shop *connector.Handler) http.Handler {
	r := mux.NewRouter().SkipClean(true)
	pattern, handler := shop.Mount("/shop")
	r.PathPrefix(pattern).Handler(handler)
	return r
}

// Gin takes a wildcard for what is below the prefix.
func Gin(shop *connector.Handler) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	pattern, handler := shop.Mount("/shop")
	r.Any(pattern+"*path", gin.WrapH(handler))
	return r
}

// Echo takes a wildcard for what is below the prefix.
func Echo(shop *connector.Handler) http.Handler {
	r := echo.New()
	pattern, handler := shop.Mount("/shop")
	r.Any(pattern+"*", echo.WrapHandler(handler))
	return r
}

// Gzip compresses the answers. It has to pass on each flush, as this one does: a
// middleware that collects the answer first breaks heartbeats and deadlines.
func Gzip(shop *connector.Handler) http.Handler {
	return gzhttp.GzipHandler(ServeMux(shop))
}

// Telemetry makes a span of each request. Package otelconnector also makes one of each
// call of the source.
func Telemetry(shop *connector.Handler) http.Handler {
	return otelhttp.NewHandler(ServeMux(shop), "shop")
}
