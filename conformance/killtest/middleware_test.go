package killtest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A layer is what goes wrong, or is merely odd, in front of a connector.
type layer = func(http.Handler) http.Handler

// over puts layers in front of a connector, the last one outermost.
func over[H http.Handler](base func() H, layers ...layer) func() http.Handler {
	return func() (h http.Handler) {
		h = base()
		for _, l := range layers {
			h = l(h)
		}
		return h
	}
}

// lines passes every line of a stream that h answers through edit, which emits
// what is to be written in its place. Lines keep their newline.
func lines(edit func(line []byte, emit func(...string))) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != wire.PathQuery {
				h.ServeHTTP(w, r)
				return
			}
			lw := &lineWriter{ResponseWriter: w, edit: edit}
			h.ServeHTTP(lw, r)
			if len(lw.rest) > 0 {
				_, _ = w.Write(lw.rest)
			}
		})
	}
}

// linesOf passes the lines of one kind through edit, and the others as they are.
func linesOf(of string, edit func(line []byte, emit func(...string))) layer {
	return lines(func(line []byte, emit func(...string)) {
		if kind(line) == of {
			edit(line, emit)
			return
		}
		emit(string(line))
	})
}

type lineWriter struct {
	http.ResponseWriter
	edit   func(line []byte, emit func(...string))
	rest   []byte
	plain  bool // an answer that is no stream
	status bool
}

// Unwrap lets http.ResponseController flush.
func (w *lineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lineWriter) WriteHeader(status int) {
	w.status, w.plain = true, status != http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	if !w.status {
		w.WriteHeader(http.StatusOK)
	}
	if w.plain {
		return w.ResponseWriter.Write(p)
	}
	w.rest = append(w.rest, p...)
	var failed error
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), failed
		}
		line := bytes.Clone(w.rest[:i+1])
		w.rest = w.rest[i+1:]
		w.edit(line, func(texts ...string) {
			for _, text := range texts {
				if _, err := io.WriteString(w.ResponseWriter, text); err != nil {
					failed = err
				}
			}
		})
	}
}

// recorded answers what h does, after edit has changed it.
func recorded(w http.ResponseWriter, r *http.Request, h http.Handler, edit func(*httptest.ResponseRecorder)) {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	edit(rec)
	replay(w, rec)
}

// replay answers what was recorded.
func replay(w http.ResponseWriter, rec *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), rec.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// answered passes every whole answer of h to some paths through edit.
func answered(edit func(r *http.Request, rec *httptest.ResponseRecorder), paths ...string) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if slices.Contains(paths, r.URL.Path) {
				recorded(w, r, h, func(rec *httptest.ResponseRecorder) { edit(r, rec) })
				return
			}
			h.ServeHTTP(w, r)
		})
	}
}

// withStatus passes the answers of one status to some paths through edit.
func withStatus(status int, edit func(r *http.Request, rec *httptest.ResponseRecorder), paths ...string) layer {
	return answered(func(r *http.Request, rec *httptest.ResponseRecorder) {
		if rec.Code == status {
			edit(r, rec)
		}
	}, paths...)
}

// answers passes every JSON answer of h to the paths through edit, which changes it in place or returns another.
func answers(edit func(body map[string]any, status int) (any, int), paths ...string) layer {
	return answered(func(_ *http.Request, rec *httptest.ResponseRecorder) {
		out, body := any(nil), parsed(rec.Body.Bytes())
		if body != nil {
			out, rec.Code = edit(body, rec.Code)
		}
		rec.Body.Reset()
		if out != nil {
			rec.Body.Write(marshalled(out))
		}
	}, paths...)
}

// replacing replaces the answers of one status to some paths.
func replacing(was int, answer any, status int, paths ...string) layer {
	return answers(func(body map[string]any, now int) (any, int) {
		if now == was {
			return answer, status
		}
		return body, now
	}, paths...)
}

// edits changes every JSON answer to some paths in place.
func edits(edit func(body map[string]any), paths ...string) layer {
	return answers(func(body map[string]any, status int) (any, int) {
		edit(body)
		return body, status
	}, paths...)
}

// onlyFor puts a layer in front of those requests to a path for which a condition holds.
func onlyFor(path string, holds func(body map[string]any) bool, l layer) layer {
	return func(h http.Handler) http.Handler {
		return diverted(func() http.Handler { return l(h) }, path, holds)(h)
	}
}

// ok edits the answers of 200 to some paths.
func ok(edit func(body map[string]any), paths ...string) layer {
	return ofStatus(http.StatusOK, edit, paths...)
}

// ofStatus edits the answers of a status to some paths.
func ofStatus(status int, edit func(body map[string]any), paths ...string) layer {
	return answers(func(body map[string]any, was int) (any, int) {
		if was == status {
			edit(body)
		}
		return body, was
	}, paths...)
}

// listOf returns the objects in a member of a body.
func listOf(body map[string]any, member string) (list []map[string]any) {
	items, _ := body[member].([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			list = append(list, object)
		}
	}
	return list
}

// having reports whether a list of a body has an object for which a condition holds.
func having(member string, holds func(object map[string]any) bool) func(body map[string]any) bool {
	return func(body map[string]any) bool { return slices.ContainsFunc(listOf(body, member), holds) }
}

// asks returns what reports whether all of some conditions hold of an object: a member is there ("limit"), is a text
// ("table=parts") or one of several ("fn=min|max"), is a number above another one or a list of more members ("and>1").
// A "!" in front turns a condition around.
func asks(conditions ...string) func(object map[string]any) bool {
	holds := func(object map[string]any, condition string) bool {
		if name, texts, is := strings.Cut(condition, "="); is {
			return slices.Contains(strings.Split(texts, "|"), textOf(object[name]))
		}
		if name, least, is := strings.Cut(condition, ">"); is {
			n := must(strconv.ParseInt(least, 10, 64))
			return integer(object, name) > n || int64(len(alternatives(object, name))) > n
		}
		return object[condition] != nil
	}
	return func(object map[string]any) bool {
		return !slices.ContainsFunc(conditions, func(condition string) bool {
			condition, not := strings.CutPrefix(condition, "!")
			return holds(object, condition) == not
		})
	}
}

// sets gives a member of an object a value, adds a number to one, and drops takes members out of it.
func sets(member string, value any) func(object map[string]any) {
	return func(object map[string]any) { object[member] = value }
}

func adds(member string, n int64) func(object map[string]any) {
	return func(object map[string]any) { object[member] = integer(object, member) + n }
}

func drops(members ...string) func(object map[string]any) {
	return func(object map[string]any) {
		for _, member := range members {
			delete(object, member)
		}
	}
}

// eachTable edits every table that discovery lists.
func eachTable(edit func(table map[string]any)) layer {
	return edits(eachOf(edit, "tables"), wire.PathDiscovery)
}

// eachOf edits the objects in some lists of an object.
func eachOf(edit func(object map[string]any), lists ...string) func(object map[string]any) {
	return func(object map[string]any) {
		for _, list := range lists {
			for _, o := range listOf(object, list) {
				edit(o)
			}
		}
	}
}

// ofTable edits the table of a name in discovery, and ofField a field of it.
func ofTable(name string, edit func(table map[string]any)) func(body map[string]any) {
	return eachOf(where(asks("name="+name), edit), "tables")
}

func ofField(table, name string, edit func(field map[string]any)) func(body map[string]any) {
	return ofTable(table, eachOf(where(asks("name="+name), edit), "fields"))
}

// described says something else of a field in discovery.
func described(table, field, member string, value any) layer {
	return edits(ofField(table, field, sets(member, value)), wire.PathDiscovery)
}

// kind returns what a line of a stream is, by its first member.
func kind(line []byte) string {
	for _, k := range []string{"served", "rows", "ping", "end", "error"} {
		if strings.HasPrefix(string(line), `{"`+k+`"`) {
			return k
		}
	}
	return ""
}

// rowsOf returns the rows of a line, each as its JSON text.
func rowsOf(line []byte) (rows []json.RawMessage) {
	var body struct{ Rows []json.RawMessage }
	if err := json.Unmarshal(line, &body); err != nil {
		panic(err)
	}
	return body.Rows
}

// cells passes every cell of every row that h answers through edit.
func cells(edit func(name string, v any) any) layer {
	return linesOf("rows", func(line []byte, emit func(...string)) {
		body := parsed(line)
		for _, row := range listOf(body, "rows") {
			for name, v := range row {
				row[name] = edit(name, v)
			}
		}
		emit(string(marshalled(body)), "\n")
	})
}

// cellTexts passes the texts of cells through edit.
func cellTexts(edit func(name, text string) any) layer {
	return cells(func(name string, v any) any {
		if text, ok := v.(string); ok {
			return edit(name, text)
		}
		return v
	})
}

// textsOf passes the texts of one column through edit.
func textsOf(column string, edit func(text string) any) layer {
	return cellTexts(func(name, text string) any {
		if name != column {
			return text
		}
		return edit(text)
	})
}

// between puts f in front of h: it answers itself and reports true, or leaves the request, which it may have changed, to h.
// It gets the body, and may change it too.
func between(f func(w http.ResponseWriter, r *http.Request, body *[]byte) bool) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body := []byte(bodyOf(r)); !f(w, r, &body) {
				h.ServeHTTP(w, withBody(r, body))
			}
		})
	}
}

// watched shows the path and the body of each request, one after the other.
func watched(see func(path, body string)) layer {
	var mu sync.Mutex
	return between(func(_ http.ResponseWriter, r *http.Request, body *[]byte) bool {
		mu.Lock()
		defer mu.Unlock()
		see(r.URL.Path, string(*body))
		return false
	})
}

// refusesWhere refuses the requests for which a condition holds.
func refusesWhere(status int, code, message string, holds func(r *http.Request, body []byte) bool) layer {
	return overtaken(func(r *http.Request) bool { return holds(r, []byte(bodyOf(r))) }, refusal(status, code, message))
}

// withBody gives a request another body.
func withBody(r *http.Request, body []byte) *http.Request {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

// bodyOf reads the body of a request and puts it back.
func bodyOf(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	withBody(r, body)
	return string(body)
}

// requests passes every request to the path, as far as it is a JSON object, through edit. One that edit leaves as it is
// reaches h with the bytes that were sent.
func requests(path string, edit func(body map[string]any)) layer {
	return between(func(_ http.ResponseWriter, r *http.Request, body *[]byte) bool {
		tree := parsed(*body)
		if r.URL.Path != path || tree == nil {
			return false
		}
		before := marshalled(tree)
		edit(tree)
		if after := marshalled(tree); !bytes.Equal(before, after) {
			*body = after
		}
		return false
	})
}

// bodies passes the body of every legal request to the paths through edit,
// before h sees it. Others reach h as they are, to be refused.
func bodies(edit func(body map[string]any), paths ...string) layer {
	return between(func(_ http.ResponseWriter, r *http.Request, body *[]byte) bool {
		if slices.Contains(paths, r.URL.Path) && legal(r.URL.Path, *body) {
			tree := parsed(*body)
			edit(tree)
			*body = marshalled(tree)
		}
		return false
	})
}

// parsed returns a JSON object, or nil if the text is none.
func parsed(text []byte) (tree map[string]any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if !json.Valid(text) || d.Decode(&tree) != nil {
		return nil
	}
	return tree
}

func marshalled(v any) []byte { return must(json.Marshal(v)) }

// mayAsk reports whether a request comes from the platform, as far as its token tells.
func mayAsk(r *http.Request) bool {
	return r.Header.Get("Authorization") == "Bearer "+testToken && r.URL.RawQuery == ""
}

// request returns an empty request of a route, or nil for an unknown one.
func request(path string) wire.Request {
	return map[string]wire.Request{
		wire.PathCheck: new(wire.CheckRequest), wire.PathDiscovery: new(wire.DiscoveryRequest), wire.PathQuery: new(wire.QueryRequest),
		wire.PathCount: new(wire.CountRequest), wire.PathAggregate: new(wire.AggregateRequest), wire.PathSize: new(wire.SizeRequest),
		wire.PathCardinality: new(wire.CardinalityRequest), wire.PathLinkHitRate: new(wire.LinkHitRateRequest),
	}[path]
}

// headers edits the headers of every answer.
func headers(edit func(http.Header)) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&headerEditor{w, edit}, r) })
	}
}

type headerEditor struct {
	http.ResponseWriter
	edit func(http.Header)
}

func (w *headerEditor) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *headerEditor) WriteHeader(status int) {
	w.edit(w.Header())
	w.ResponseWriter.WriteHeader(status)
}

// unwindowed keeps limits and offsets from a connector, which so answers all rows that the filters keep.
var unwindowed = bodies(drops("limit", "offset"), wire.PathQuery)

// withRequest puts a layer of its own in front of each request.
func withRequest(of func(r *http.Request) layer) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { of(r)(h).ServeHTTP(w, r) })
	}
}
