package connector

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Handler serves one connector: every route of the protocol, relative to where
// it is mounted. It is an [http.Handler] that is safe for concurrent use, and
// owns nothing outside itself: no port, signal, flag, environment variable or
// global. Two handlers in one process share nothing.
type Handler struct {
	def      Definition
	opts     Options
	source   Source
	caps     capabilities
	token    wire.Token
	doc      *wire.Document
	document []byte // the document, as it is served
	keys     []string
	required []string
	routes   map[string]func(*exchange)

	lingering atomic.Int64 // calls of the source that outlived their request
}

// New makes a connector of a source. It fails with every fault at once, each
// named by its path: a bad slug, limits out of range, duplicate credential keys,
// a document over 64 KiB, a missing token, a grain without an aggregate (H2).
func New(def Definition, src Source, token wire.Token, opts *Options) (*Handler, error) {
	h := &Handler{def: def, opts: opts.withDefaults(), source: src, token: token}
	if h.def.Limits.Concurrency == 0 {
		h.def.Limits.Concurrency = defaultConcurrency
	}
	faults := validateDefinition(h.def)
	if token.IsZero() {
		faults = append(faults, errors.New("token: missing; make one with wire.NewToken"))
	}
	if src == nil {
		faults = append(faults, errors.New("source: missing"))
		return nil, errors.Join(faults...)
	}
	var more []error
	h.caps, more = capable(src, h.opts.Omit)
	faults = append(faults, more...)
	h.doc = h.caps.document(h.def, h.opts.Omit)
	var err error
	if h.document, err = wire.EncodeAnswer(h.doc); err != nil {
		faults = append(faults, fmt.Errorf("document: %w", err))
	} else if len(h.document) > wire.MaxDocumentBytes {
		faults = append(faults, fmt.Errorf("document: %d bytes, over the limit of %d; shorten the help texts", len(h.document), wire.MaxDocumentBytes))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	for _, f := range h.def.Credentials {
		h.keys = append(h.keys, f.Key)
		if !f.Optional {
			h.required = append(h.required, f.Key)
		}
	}
	h.route()
	return h, nil
}

// route mounts the routes the document lists.
func (h *Handler) route() {
	h.routes = map[string]func(*exchange){
		wire.PathCheck:     check,
		wire.PathDiscovery: discovery,
		wire.PathQuery:     query,
	}
	for _, e := range h.doc.Endpoints {
		h.routes["/"+string(e)] = map[wire.Endpoint]func(*exchange){
			wire.EndpointSize:        size,
			wire.EndpointCount:       count,
			wire.EndpointAggregate:   aggregate,
			wire.EndpointCardinality: cardinality,
			wire.EndpointLinkHitRate: linkHitRate,
		}[e]
	}
}

// Document is the capability document as it is served.
func (h *Handler) Document() []byte { return append([]byte(nil), h.document...) }

// At mounts the connector under a path prefix of a mux:
//
//	mux.Handle(shop.At("/shop"))
//
// An [http.ServeMux] redirects unclean paths, such as /shop//check, before any
// handler sees them; where that matters, mount the handler without a mux.
func (h *Handler) At(prefix string) (pattern string, handler http.Handler) {
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

// ServeHTTP answers one request. The order of refusal is fixed (G1): path,
// method, bearer, body size, JSON, shape, what the document never advertised,
// the source.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(h, w, r)
	// Paths match exactly: a path that is spelled with escapes is another one.
	path := r.URL.Path
	if r.URL.RawPath != "" {
		path = ""
	}
	if path == wire.PathDocument {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			x.methodNotAllowed("GET, HEAD")
			return
		}
		x.write(http.StatusOK, wire.MediaJSON, h.document)
		return
	}
	serve, ok := h.routes[path]
	if !ok {
		x.refuse(wire.Errorf(wire.CodeNotFound, "no such route; the capability document lists the optional ones"))
		return
	}
	x.route = path
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		x.methodNotAllowed("POST")
		return
	}
	if !authorized(r, h.token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		x.refuse(wire.Errorf(wire.CodeUnauthorized, "a valid bearer token is required"))
		return
	}
	serve(x)
}
