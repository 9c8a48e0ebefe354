package killtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// spelling is how a connector writes JSON.
type spelling struct {
	blank    string                   // between tokens
	escaped  bool                     // every character of a text as \uXXXX
	reversed bool                     // members from the last to the first
	number   func(json.Number) string // nil: as it is
}

// write appends a decoded value.
func (s spelling) write(b *bytes.Buffer, v any) {
	b.WriteString(s.blank)
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		names := slices.Sorted(maps.Keys(v))
		if s.reversed {
			slices.Reverse(names)
		}
		for i, name := range names {
			b.WriteString([]string{"", ","}[min(i, 1)])
			s.write(b, name)
			b.WriteString(":")
			s.write(b, v[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, element := range v {
			b.WriteString([]string{"", ","}[min(i, 1)])
			s.write(b, element)
		}
		b.WriteByte(']')
	case json.Number:
		if s.number != nil {
			b.WriteString(s.number(v))
		} else {
			b.WriteString(v.String())
		}
	case string:
		s.text(b, v)
	default:
		b.Write(marshalled(v))
	}
	b.WriteString(s.blank)
}

func (s spelling) text(b *bytes.Buffer, text string) {
	if !s.escaped {
		b.Write(marshalled(text))
		return
	}
	b.WriteByte('"')
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(b, `\u%04X`, unit)
	}
	b.WriteByte('"')
}

// respelt writes all that h answers in another spelling, streams line by line.
func respelt(s spelling) layer {
	return func(h http.Handler) http.Handler {
		decoded := func(raw []byte) (v any) {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			if d.Decode(&v) != nil {
				return nil
			}
			return v
		}
		stream := lines(func(line []byte, emit func(...string)) {
			var b bytes.Buffer
			s.write(&b, decoded(line))
			emit(b.String(), "\n")
		})(h)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == wire.PathQuery {
				stream.ServeHTTP(w, r)
				return
			}
			recorded(w, r, h, func(rec *httptest.ResponseRecorder) {
				if v := decoded(rec.Body.Bytes()); v != nil {
					rec.Body.Reset()
					s.write(rec.Body, v)
				}
			})
		})
	}
}

// withPoint writes integers as 5.0, as languages do that know one kind of number.
func withPoint(n json.Number) string {
	if strings.ContainsAny(n.String(), ".eE") {
		return n.String()
	}
	return n.String() + ".0"
}

// withExponent writes numbers as 1.5e+01, where a float64 holds them.
func withExponent(n json.Number) string {
	f, err := n.Float64()
	if err != nil || len(strings.Trim(n.String(), "-.0")) > 15 {
		return n.String()
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}

// trickling writes an answer a byte at a time, as far as its first few hundred bytes.
func trickling(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&trickle{ResponseWriter: w, left: 300}, r) })
}

type trickle struct {
	http.ResponseWriter
	left int
}

func (w *trickle) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *trickle) Write(p []byte) (n int, err error) {
	for n < len(p) && w.left > 0 && err == nil {
		_, err = w.ResponseWriter.Write(p[n : n+1])
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		n++
		w.left--
	}
	if err != nil || n == len(p) {
		return n, err
	}
	rest, err := w.ResponseWriter.Write(p[n:])
	return n + rest, err
}

// hinting sends an informational answer before each answer.
func hinting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		h.ServeHTTP(w, r)
	})
}

// queueing answers one request at a time.
func queueing(h http.Handler) http.Handler {
	turn := make(chan struct{}, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bodyOf(r)
		turn <- struct{}{}
		defer func() { <-turn }()
		h.ServeHTTP(w, r)
	})
}
