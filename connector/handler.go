package connector

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Handler serves one connector: every route of the protocol, relative to where
// it is mounted. It is an [http.Handler] and safe for concurrent use. It uses no
// port, signal, flag, environment variable or global. Two handlers in one process
// share nothing.
type Handler struct {
	service  *service
	token    wire.Token
	document []byte // the document, as it is served
	routes   map[string]routeFunc
}

// New returns a handler that serves a source. It fails with every fault at once,
// each named by its path: a bad slug, limits out of range, duplicate credential
// keys, a document over 64 KiB, a missing token, a grain without an aggregate.
func New(def Definition, src Source, token wire.Token, opts *Options) (*Handler, error) {
	def.Credentials = slices.Clone(def.Credentials) // the host may change its own later
	admission := newAdmission(def.Limits.Concurrency, def.Credentials)
	def.Limits.Concurrency = cmp.Or(def.Limits.Concurrency, defaultConcurrency)
	faults := validateDefinition(def)
	if token.IsZero() {
		faults = append(faults, errors.New("token: missing; make one with wire.NewToken"))
	}
	if src == nil {
		faults = append(faults, errors.New("source: missing"))
		return nil, errors.Join(faults...)
	}
	s := &service{def: def, opts: opts.withDefaults(), source: src, admission: admission, large: batch.NewLarge()}
	var more []error
	s.caps, more = capable(src, s.opts.Omit)
	faults = append(append(faults, more...), lacking(def, src)...)
	s.doc = s.caps.document(def, s.opts.Omit)
	document, err := wire.EncodeAnswer(s.doc)
	switch {
	case err != nil:
		faults = append(faults, fmt.Errorf("document: %w", err))
	case len(document) > terms.MaxDocumentBytes:
		faults = append(faults, fmt.Errorf("document: %d bytes, over the limit of %d; shorten the help texts",
			len(document), terms.MaxDocumentBytes))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	s.connectForm = newForm(def.Credentials)
	return &Handler{service: s, token: token, document: document, routes: routesOf(s.caps.routes)}, nil
}

// lacking returns the credentials that a source says it uses and that the form does not have.
func lacking(def Definition, src Source) (faults []error) {
	uses, ok := src.(interface{ CredentialKeys() []string })
	if !ok {
		return nil
	}
	for _, key := range uses.CredentialKeys() {
		if !slices.ContainsFunc(def.Credentials, func(f wire.CredentialField) bool { return f.Key == key }) {
			faults = append(faults, fmt.Errorf("source: it uses the credential %q, which the form does not have", key))
		}
	}
	return faults
}

// routeFunc serves a request that has been authorized, and whose body has been read.
type routeFunc func(x *exchange, body []byte)

// routesOf returns all routes of a connector by their paths.
func routesOf(optional []optionalRoute) map[string]routeFunc {
	routes := map[string]routeFunc{
		wire.PathCheck:     serveCheck,
		wire.PathDiscovery: serveDiscovery,
		wire.PathQuery:     serveQuery,
	}
	for _, r := range optional {
		routes["/"+string(r.endpoint)] = r.serve
	}
	return routes
}

// Mount returns the pattern and the handler that mount the connector under a path
// prefix of a mux:
//
//	mux.Handle(shop.Mount("/shop"))
//
// The handler expects the whole path, prefix included. Other routers take a pattern of
// their own for everything below the prefix; examples/hosts mounts it in several.
//
// An [http.ServeMux] redirects unclean paths, such as /shop//check, before any
// handler sees them; where that matters, mount the handler without a mux.
func (h *Handler) Mount(prefix string) (pattern string, handler http.Handler) {
	prefix = strings.TrimRight(prefix, "/")
	if prefix == "" {
		return "/", h
	}
	return prefix + "/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		below := r.Clone(r.Context())
		below.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
		below.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, prefix)
		if below.URL.RawPath == below.URL.Path {
			below.URL.RawPath = ""
		}
		h.ServeHTTP(w, below)
	})
}

// ServeHTTP answers one request. It refuses in a fixed order: path, method,
// bearer token, body size, JSON, shape, what the document never advertised, and
// at last what the source refuses [rule http-1].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(h.service, w, r, requestID(r, h.token))
	defer x.observe()
	// Paths match exactly: a path with escapes is another path.
	path := r.URL.Path
	if r.URL.RawPath != "" {
		path = ""
	}
	if path == wire.PathDocument {
		x.reply.log.route = path
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			x.reply.methodNotAllowed("GET, HEAD")
			return
		}
		x.reply.answer(h.document)
		return
	}
	serve, ok := h.routes[path]
	if !ok {
		x.reply.refuse(wire.Errorf(wire.CodeNotFound, "no such route; the document at %s below the base URL lists the optional ones",
			wire.PathDocument))
		return
	}
	x.reply.log.route = path
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		x.reply.methodNotAllowed("POST")
		return
	}
	if !authorized(r, h.token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		x.reply.refuse(wire.Errorf(wire.CodeUnauthorized, "a valid bearer token is required, as the header Authorization: Bearer TOKEN"))
		return
	}
	body, err := x.body()
	if err != nil {
		x.reply.fail(err)
		return
	}
	serve(x, body)
}
