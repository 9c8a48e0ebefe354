package wire_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The canaries: what must never be seen. They hold characters that encodings
// change.
const (
	canary      = `sk-Canary/7f3a+"ü=&<9>`
	canaryToken = "token-canary-0123456789abcdef0123456789"
)

// seen reports whether any spelling of a canary is in text.
func seen(text string) bool {
	for _, canary := range []string{canary, canaryToken} {
		for _, spell := range encodings {
			if strings.Contains(text, spell(canary)) {
				return true
			}
		}
		// A piece is as bad as the whole.
		if strings.Contains(text, "Canary") || strings.Contains(text, "canary") {
			return true
		}
	}
	return false
}

// encodings are the forms in which a secret tends to surface.
var encodings = map[string]func(string) string{
	"plain":                func(s string) string { return s },
	"quoted":               func(s string) string { return strings.Trim(fmt.Sprintf("%q", s), `"`) },
	"quoted ASCII":         func(s string) string { return strings.Trim(fmt.Sprintf("%+q", s), `"`) },
	"JSON":                 func(s string) string { b, _ := json.Marshal(s); return strings.Trim(string(b), `"`) },
	"URL query":            url.QueryEscape,
	"URL path":             url.PathEscape,
	"hexadecimal":          func(s string) string { return hex.EncodeToString([]byte(s)) },
	"capital hexadecimal":  func(s string) string { return fmt.Sprintf("%X", s) },
	"base64":               func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"raw base64":           func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"URL base64":           func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"HTML":                 html.EscapeString,
	"spaced hexadecimal":   func(s string) string { return fmt.Sprintf("% x", s) },
	"decimal bytes":        func(s string) string { return strings.Trim(fmt.Sprint([]byte(s)), "[]") },
	"encodeURIComponent":   func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	"user part of a URL":   func(s string) string { return url.UserPassword("", s).String()[1:] },
	"JSON without escapes": func(s string) string { b, _ := wire.Text(s).AppendJSON(nil); return strings.Trim(string(b), `"`) },
}

// holder has secrets in all the places where a printer finds them.
type holder struct {
	Name    string
	Public  wire.Credentials
	private wire.Credentials
	pointer *wire.Credentials
	inside  struct{ deep []wire.Credentials }
	any     any
	byName  map[string]wire.Credentials
	request *wire.QueryRequest
	Token   wire.Token
	token   wire.Token
	Bearer  wire.Bearer
	bearer  wire.Bearer
}

func newHolder(t *testing.T) holder {
	c := wire.NewCredentials(map[string]string{"apiKey": canary, "user": "canary-user"})
	token := testkit.Must(wire.NewToken(canaryToken))(t)
	h := holder{Name: "h", Public: c, private: c, pointer: &c, any: c, byName: map[string]wire.Credentials{"a": c},
		request: &wire.QueryRequest{Table: "t", Envelope: wire.Envelope{Credentials: c}}, Token: token, token: token,
		Bearer: wire.NewBearer(canaryToken), bearer: wire.NewBearer(canaryToken)}
	h.inside.deep = []wire.Credentials{c}
	return h
}

// No way of looking at a secret shows it.
func TestSecretsDoNotShow(t *testing.T) {
	h := newHolder(t)
	for name, thing := range map[string]any{
		"credentials": h.Public, "pointer to credentials": h.pointer, "token": h.Token, "pointer to token": &h.token,
		"bearer": h.Bearer, "pointer to bearer": &h.bearer,
		"holder": h, "pointer to holder": &h, "slice": []any{h.Public, h.Token}, "map": map[string]any{"a": h.Public, "b": h.Token},
		"request": h.request, "error": fmt.Errorf("call failed: %v %v", h.Public, h.Token),
	} {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T", "%10.3s", "%[1]v %[1]s", "%!"} {
				assert.False(t, seen(fmt.Sprintf(verb, thing)), verb)
			}
			assert.False(t, seen(fmt.Sprint(thing)))
			assert.False(t, seen(fmt.Sprintln(thing, thing)))

			var b bytes.Buffer
			for _, handler := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
				slog.New(handler).Error("failed", "thing", thing, slog.Group("group", "thing", thing))
			}
			assert.NotEmpty(t, b.String())
			assert.False(t, seen(b.String()), "slog")

			marshalled, _ := json.Marshal(thing)
			assert.False(t, seen(string(marshalled)), "json")
			marshalled, _ = xml.Marshal(thing)
			assert.False(t, seen(string(marshalled)), "xml")
			b.Reset()
			_ = gob.NewEncoder(&b).Encode(thing)
			assert.False(t, seen(b.String()), "gob")
			b.Reset()
			_ = template.Must(template.New("").Parse("{{.}} {{printf \"%#v\" .}}")).Execute(&b, thing)
			assert.False(t, seen(b.String()), "template")

			var found []string
			reflected(reflect.ValueOf(thing), 0, func(s string) { found = append(found, s) })
			assert.False(t, seen(strings.Join(found, "\x00")), "reflect")
		})
	}
	// The walk does find what is not hidden: else it would prove nothing.
	var found []string
	leaky := struct{ values map[string]string }{h.Public.Reveal()}
	reflected(reflect.ValueOf(&leaky), 0, func(s string) { found = append(found, s) })
	assert.True(t, seen(strings.Join(found, "\x00")))
	assert.True(t, seen(fmt.Sprint(leaky)))
	for name, spell := range encodings {
		assert.True(t, seen("x"+spell(canary)+"y"), name)
	}
}

// reflected visits every text that reflection reaches, unexported ones too.
func reflected(v reflect.Value, depth int, visit func(string)) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		visit(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			reflected(v.Elem(), depth+1, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			reflected(v.Field(i), depth+1, visit)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(b), v)
			visit(string(b))
			return
		}
		for i := range v.Len() {
			reflected(v.Index(i), depth+1, visit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			reflected(k, depth+1, visit)
			reflected(v.MapIndex(k), depth+1, visit)
		}
	}
}

func TestMarks(t *testing.T) {
	h := newHolder(t)
	for _, shown := range []string{h.Public.String(), h.Public.GoString(), fmt.Sprintf("%#v", h.Public), h.Public.LogValue().String(),
		h.Token.String(), h.Token.GoString(), fmt.Sprintf("%s", h.Token), h.Token.LogValue().String(), fmt.Sprintf("%x", h.Bearer)} {
		assert.Equal(t, "[redacted]", shown)
	}
	text := testkit.Must(json.Marshal(map[string]any{"c": h.Public, "t": h.Token, "b": h.Bearer}))(t)
	assert.JSONEq(t, `{"c":"[redacted]","t":"[redacted]","b":"[redacted]"}`, string(text))
}

func TestCredentials(t *testing.T) {
	values := map[string]string{"b": "two", "a": "one", "blank": ""}
	c := wire.NewCredentials(values)
	values["a"] = "changed"
	assert.Equal(t, "one", c.Get("a"), "NewCredentials takes a copy")
	assert.Empty(t, c.Get("missing"))
	assert.Equal(t, []string{"a", "b", "blank"}, c.Keys())

	revealed := c.Reveal()
	assert.Equal(t, map[string]string{"b": "two", "a": "one", "blank": ""}, revealed)
	revealed["a"] = "changed"
	assert.Equal(t, "one", c.Get("a"), "Reveal hands out a copy")

	only := c.Only("a", "blank", "missing")
	assert.Equal(t, []string{"a"}, only.Keys(), "a blank value is a missing one, undeclared keys are dropped (http-6)")

	var zero wire.Credentials
	assert.Empty(t, zero.Get("a"))
	assert.Empty(t, zero.Keys())
	assert.Empty(t, zero.Only("a").Keys())
	assert.NotNil(t, zero.Reveal())
	assert.Equal(t, "text", zero.Scrub("text"))
}

func TestScrub(t *testing.T) {
	c := wire.NewCredentials(map[string]string{"apiKey": canary})
	for name, spell := range encodings {
		t.Run(name, func(t *testing.T) {
			got := c.Scrub("before " + spell(canary) + " after " + spell(canary) + "!")
			assert.False(t, seen(got), got)
			assert.True(t, strings.HasPrefix(got, "before ") && strings.HasSuffix(got, "!"), got)
			assert.Contains(t, got, "[redacted]")
		})
	}
	for _, c := range testkit.Table(t, "testdata/scrub.tsv", 4) {
		t.Run(c[3], func(t *testing.T) {
			secrets := map[string]string{}
			for i, v := range cells.Row(t, c[0]) {
				secrets[fmt.Sprint("key", i)] = v.Text()
			}
			assert.Equal(t, cells.One(t, c[2]).Text(), wire.NewCredentials(secrets).Scrub(cells.One(t, c[1]).Text()))
		})
	}
}

func TestToken(t *testing.T) {
	one, two := strings.Repeat("a", 32), strings.Repeat("b", 40)
	for _, c := range []struct {
		why                    string
		secrets, matches, none []string
	}{
		{"one secret", []string{one}, []string{one},
			[]string{"", two, one[:31], one + "a", strings.ToUpper(one), " " + one, one + "\n"}},
		{"the old secret stays good while the host rotates (http-3)", []string{two, one}, []string{one, two}, []string{two + one}},
		{"one variable holds both during a rotation", []string{one + "," + two}, []string{one, two}, []string{one + "," + two}},
		{"the first and the last visible character", []string{"!~" + one}, []string{"!~" + one}, nil},
		{"the same one twice", []string{one, one}, []string{one}, nil},
	} {
		token := testkit.Must(wire.NewToken(c.secrets...))(t, c.why)
		assert.False(t, token.IsZero(), c.why)
		for _, secret := range c.matches {
			assert.True(t, token.Matches(secret), "%s: %q", c.why, secret)
		}
		for _, secret := range c.none {
			assert.False(t, token.Matches(secret), "%s: %q", c.why, secret)
		}
	}
	var zero wire.Token
	assert.True(t, zero.IsZero())
	assert.False(t, zero.Matches(""), "a token that was never made matches nothing")
	assert.False(t, zero.Matches(one))
}

func TestBearer(t *testing.T) {
	assert.Equal(t, canaryToken, wire.NewBearer(canaryToken).Reveal())
	assert.Empty(t, wire.NewBearer("").Reveal())
	assert.Empty(t, wire.Bearer{}.Reveal(), "one that was never made has nothing to send")
}

func TestNewTokenRefuses(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/tokens.tsv", 3) {
		t.Run(c[2], func(t *testing.T) {
			var secrets []string
			for _, v := range cells.Row(t, strings.ReplaceAll(strings.TrimPrefix(c[0], "-"), "${good}", strings.Repeat("a", 32))) {
				secrets = append(secrets, v.Text())
			}
			token, err := wire.NewToken(secrets...)
			require.ErrorContains(t, err, c[1])
			assert.NotContains(t, err.Error(), "canary", "the error is logged")
			assert.True(t, token.IsZero())
		})
	}
}
