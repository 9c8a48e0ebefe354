package testkit

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A Transport answers the requests of a client by a function.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f Transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Over answers requests from a handler, without a connection. A request whose context has
// ended does not reach it.
func Over(h http.Handler) Transport {
	return func(r *http.Request) (*http.Response, error) {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		res := w.Result()
		res.Request = r
		return res, nil
	}
}

// Reply returns an answer with a status, a body and headers such as "Name: value".
func Reply(status int, body string, headers ...string) *http.Response {
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		res.Header.Add(name, value)
	}
	return res
}

// Always answers every request with the same [Reply].
func Always(status int, body string, headers ...string) Transport {
	return func(*http.Request) (*http.Response, error) { return Reply(status, body, headers...), nil }
}

// Fails fails every request.
func Fails(err error) Transport {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// Body returns the body of a request, which can be read again.
func Body(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// Post asks a handler with a bearer token, without a connection. For an answer that is read
// while it is written, and for a caller who leaves, serve the handler.
func Post(h http.Handler, token, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Send asks a server with a bearer token, by GET if there is no body, and reads its answer.
func Send(t testing.TB, client *http.Client, url, token, body string) (status int, answer string) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r := Must(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	r.Header.Set("Authorization", "Bearer "+token)
	res := Must(client.Do(r))(t)
	text := Must(io.ReadAll(res.Body))(t)
	_ = res.Body.Close()
	return res.StatusCode, string(text)
}
