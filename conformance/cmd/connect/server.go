package main

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/entity"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

//go:embed page
var files embed.FS

// policy lets the page load its own script and style and ask its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// maxBody bounds what the page sends: a form, or a question.
const maxBody = 1 << 20

// connected is a connection, with what has been measured of its tables.
type connected struct {
	*platform.Connection
	url      string // of the connector
	entities []*entity.Entity

	mu    sync.Mutex
	first map[int][][]wire.Value // the first page of each table, until the second was read
}

// page serves the one page of the program and holds what it shows: a form, and the source
// that was connected with it.
type page struct {
	host      string // where it listens: the only Host that a request may name
	key       string // the first part of every path
	routes    *http.ServeMux
	sameSite  *http.CrossOriginProtection
	templates *template.Template
	feed      feed
	options   platform.ConnectionOptions

	// connection is nil until the tables of the source were read.
	connection atomic.Pointer[connected]

	// source is nil until a form was connected.
	source atomic.Pointer[lifecycle.Source]

	connecting sync.Mutex // held while a form is connected, which asks the connector

	mu      sync.Mutex
	form    *lifecycle.Form
	refused string             // why the platform would refuse the address, or ""
	wiped   int                // counts the times that the typed credentials were forgotten
	stop    context.CancelFunc // ends what works for the connected source
	work    sync.WaitGroup
}

// newPage returns the page, to be served at host.
func newPage(form *lifecycle.Form, host string) *page {
	p := &page{host: host, key: rand.Text(), form: form, sameSite: http.NewCrossOriginProtection(), stop: func() {}}
	p.templates = template.Must(template.New("").Funcs(p.functions()).ParseFS(files, "page/*.html"))
	p.feed.init()
	p.routes = http.NewServeMux()
	p.routes.HandleFunc("GET /{$}", p.index)
	p.routes.HandleFunc("GET /{file}", asset)
	p.routes.HandleFunc("GET /events", p.events)
	p.routes.HandleFunc("GET /form", p.showForm)
	p.routes.HandleFunc("POST /form", p.edit)
	p.routes.HandleFunc("POST /read", p.read)
	p.routes.HandleFunc("POST /test", p.test)
	p.routes.HandleFunc("POST /connect", p.connect)
	p.routes.HandleFunc("POST /reconnect", p.reconnect)
	p.routes.HandleFunc("POST /verify", p.verify)
	p.routes.HandleFunc("GET /report.html", p.report)
	p.routes.HandleFunc("GET /report.json", p.report)
	p.routes.HandleFunc("POST /measure", p.measure)
	p.routes.HandleFunc("POST /preview", p.preview)
	p.routes.HandleFunc("POST /rows", p.further)
	p.routes.HandleFunc("POST /ask", p.ask)
	p.routes.HandleFunc("POST /csv", p.csv)
	return p
}

// url returns the address of the page.
func (p *page) url() string { return "http://" + p.host + "/" + p.key + "/" }

// close ends all that works for the page.
func (p *page) close() {
	p.disconnect()
	p.feed.close()
}

// ServeHTTP lets requests through that come from the page itself. Another site cannot know
// the key, cannot make a browser name this host after it has pointed a name of its own at this
// machine, and cannot post across origins.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch rest, ok := strings.CutPrefix(r.URL.Path, "/"+p.key+"/"); {
	case r.Host != p.host:
		http.Error(w, "the page is served at "+p.host+" only", http.StatusMisdirectedRequest)
	case !ok || strings.Contains(rest, "/"):
		http.Error(w, "open the address that the program printed", http.StatusNotFound)
	case p.sameSite.Check(r) != nil:
		http.Error(w, "requests come from the page itself", http.StatusForbidden)
	default:
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		r.URL.Path = "/" + rest
		p.routes.ServeHTTP(w, r)
	}
}

// index serves the page without any state: what it shows comes by /form and /events.
func (p *page) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, p.render("index.html", nil))
}

// types are the content types of the page's assets, the only files that it serves.
var types = map[string]string{
	"app.js": "text/javascript; charset=utf-8", "app.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
}

// asset serves the page's script or style.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if types[name] == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[name])
	http.ServeFileFS(w, r, files, "page/"+name)
}

// render returns a template's text. The templates are ours, so a failure is a fault of the
// program.
func (p *page) render(name string, data any) string {
	var b strings.Builder
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	return b.String()
}

// clean returns a text of the connected source without its token and its credentials.
func (p *page) clean(text string) string {
	if s := p.source.Load(); s != nil {
		text = s.Clean(text)
	}
	return text
}

// legible returns a text of the connected source as reports show it.
func (p *page) legible(text string) string { return check.Legible(p.clean(text)) }

// answer writes v as JSON.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// receive reads the JSON that the page has sent, or refuses it and reports false.
func receive(w http.ResponseWriter, r *http.Request, v any) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		http.Error(w, "too long", http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "not the JSON that the page sends", http.StatusBadRequest) // err may quote a secret
	}
	return err == nil
}
