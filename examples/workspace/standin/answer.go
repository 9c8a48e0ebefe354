package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// failure is an error answer. Its code string follows from the status: the
// documents list the codes and the statuses but not which goes with which.
type failure struct {
	Status  int
	Message string
	Field   string // error.details.field, for input that is not valid
}

func (f *failure) Error() string { return f.Message }

// codes are the error codes that the documents show, by status.
var codes = map[int]string{
	http.StatusBadRequest:          "VALIDATION_ERROR",
	http.StatusUnauthorized:        "UNAUTHORIZED",
	http.StatusForbidden:           "FORBIDDEN",
	http.StatusNotFound:            "NOT_FOUND",
	http.StatusTooManyRequests:     "RATE_LIMITED",
	http.StatusInternalServerError: "INTERNAL_ERROR",
}

// invalid returns a failure about one member of the input. An empty field means the
// whole input.
func invalid(field, format string, args ...any) *failure {
	return &failure{Status: http.StatusBadRequest, Field: field, Message: fmt.Sprintf(format, args...)}
}

func unauthorized(message string) *failure {
	return &failure{Status: http.StatusUnauthorized, Message: message}
}

func forbidden(message string) *failure {
	return &failure{Status: http.StatusForbidden, Message: message}
}

func notFound(what string) *failure {
	return &failure{Status: http.StatusNotFound, Message: what + " does not exist."}
}

// shape says how an endpoint's answer is laid out. Schema names a schema of
// schemas.json.
type shape struct {
	form   form
	schema string
}

type form int

const (
	none   form = iota // no body
	object             // {data: {...}}
	page               // {data: [...], pagination: {...}}
	rows               // {data: [...]}: what reference set B shows for some lists
	bare               // the value itself: what the document about runs shows
	events             // a server-sent event stream
	raw                // bytes of another media type
)

func one(schema string) shape    { return shape{object, schema} }
func list(schema string) shape   { return shape{page, schema} }
func inRows(schema string) shape { return shape{rows, schema} }
func plain(schema string) shape  { return shape{bare, schema} }

// listPage is what a handler of a list returns.
type listPage struct {
	Data       []json.RawMessage `json:"data"`
	Pagination pagination        `json:"pagination"`
}

type pagination struct {
	Total   int  `json:"total"`
	Limit   int  `json:"limit"`
	Offset  int  `json:"offset"`
	HasMore bool `json:"hasMore"`
}

// writer returns a function that writes a handler's value. It encodes the value
// at once, because the caller still holds the lock that guards it.
func (s shape) writer(status int, value any) (func(http.ResponseWriter), error) {
	switch s.form {
	case none:
		return func(w http.ResponseWriter) { w.WriteHeader(status) }, nil
	case events, raw:
		return value.(func(http.ResponseWriter)), nil
	case object:
		value = map[string]any{"data": value}
	case rows:
		value = map[string]any{"data": value.(*listPage).Data}
	}
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter) { writeJSON(w, status, body) }, nil
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the client has gone: nobody is left to tell.
	_, _ = w.Write(append(body, '\n'))
}

func writeFailure(w http.ResponseWriter, f *failure) {
	details := map[string]string{}
	if f.Field != "" {
		details["field"] = f.Field
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": codes[f.Status], "message": f.Message, "details": details,
	}})
	if err != nil {
		panic(err) // strings always encode
	}
	writeJSON(w, f.Status, body)
}
