package standin

import (
	"net/http"
	"net/url"
	"strings"
)

// Endpoint is one row of the table of all endpoints. The table routes requests,
// says what they count against, and is what swagger.json is made from.
type Endpoint struct {
	Method  string
	Path    string // parameters in braces, such as /v1/chats/{id}
	Purpose string
	Budget  Budget
	Status  int // of a success

	access access
	params []string // of the query, besides those of every list
	body   string   // the schema of the request body; empty without one
	upload bool     // the body is multipart/form-data
	answer shape
	handle func(*call) (any, error)
}

// access says which credentials an endpoint takes.
type access int

const (
	byToken access = iota // an access token
	byKey                 // a workflow key
	byBoth                // either of them
	open                  // none
)

// name returns the method and the path.
func (e *Endpoint) name() string { return e.Method + " " + e.Path }

// IsList reports whether the endpoint answers a list, in pages or whole.
func (e *Endpoint) IsList() bool {
	return e.answer.form == page || e.answer.form == rows || e.answer == plain("Keys")
}

// Errors returns the statuses that the endpoint can answer besides Status.
func (e *Endpoint) Errors() []int {
	errors := []int{}
	if e.body != "" || e.answer.form == page || e.answer.form == rows {
		errors = append(errors, http.StatusBadRequest)
	}
	if e.access != open {
		errors = append(errors, http.StatusUnauthorized)
	}
	if e.access != open || e.answer.form == raw {
		errors = append(errors, http.StatusForbidden, http.StatusNotFound)
	}
	return append(errors, http.StatusTooManyRequests, http.StatusInternalServerError)
}

// The constructors below give a row its usual status: 200, 201 for what creates,
// 204 for what deletes. The methods after them change what is unusual.

func get(path, purpose string, answer shape, handle func(*call) (any, error)) Endpoint {
	return Endpoint{Method: http.MethodGet, Path: path, Purpose: purpose, Budget: PlanBudget, Status: http.StatusOK,
		answer: answer, handle: handle}
}

func write(method, path, purpose, body string, answer shape, handle func(*call) (any, error)) Endpoint {
	return Endpoint{Method: method, Path: path, Purpose: purpose, Budget: PlanBudget, Status: http.StatusOK,
		body: body, answer: answer, handle: handle}
}

func create(path, purpose, body string, answer shape, handle func(*call) (any, error)) Endpoint {
	e := write(http.MethodPost, path, purpose, body, answer, handle)
	e.Status = http.StatusCreated
	return e
}

func remove(path, purpose string, handle func(*call) (any, error)) Endpoint {
	return Endpoint{Method: http.MethodDelete, Path: path, Purpose: purpose, Budget: PlanBudget, Status: http.StatusNoContent,
		handle: handle}
}

func (e Endpoint) deletes() Endpoint {
	e.Status = http.StatusNoContent
	return e
}

func (e Endpoint) uploads() Endpoint {
	e.upload = true
	return e
}

func (e Endpoint) takes(a access) Endpoint {
	e.access = a
	return e
}

func (e Endpoint) budget(b Budget) Endpoint {
	e.Budget = b
	return e
}

func (e Endpoint) queries(params ...string) Endpoint {
	e.params = params
	return e
}

// match finds the endpoint of a request and the parameters of its path. Of two
// rows that match, the one with fewer parameters counts.
func match(table []Endpoint, r *http.Request) (*Endpoint, map[string]string) {
	path := strings.Split(r.URL.EscapedPath(), "/")
	var found *Endpoint
	var params map[string]string
	for i := range table {
		e := &table[i]
		if e.Method != r.Method {
			continue
		}
		if p, ok := matchPath(strings.Split(e.Path, "/"), path); ok && (found == nil || len(p) < len(params)) {
			found, params = e, p
		}
	}
	return found, params
}

func matchPath(pattern, path []string) (map[string]string, bool) {
	if len(pattern) != len(path) {
		return nil, false
	}
	params := map[string]string{}
	for i, segment := range pattern {
		text, err := url.PathUnescape(path[i])
		if err != nil {
			return nil, false
		}
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			params[strings.TrimSuffix(name, "}")] = text
		} else if text != segment {
			return nil, false
		}
	}
	return params, true
}
