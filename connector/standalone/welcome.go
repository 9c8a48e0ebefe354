package standalone

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// lookTime bounds the discovery that finds a table for the printed query.
	lookTime = 3 * time.Second
	// maxDiscovery bounds its answer.
	maxDiscovery = 8 << 20
	// maxFields and maxRows keep the first answer readable.
	maxFields = 4
	maxRows   = 5

	envCredentials = "CONNECTOR_CREDENTIALS"
)

// welcome is what the person who started the program reads.
type welcome struct {
	url         string
	secret      string // the token, or the current one of two
	minted      bool   // it was made for this run, so it may be printed
	rotating    bool   // the variable holds two tokens
	serving     string
	credentials map[string]string
	required    []wire.CredentialField // those that the person has to fill in
}

// text returns where the connector is, its token, and requests to paste.
func (w *welcome) text(ctx context.Context) string {
	var b strings.Builder
	token, bearer := "$"+envToken, "$"+envToken
	switch {
	case w.rotating:
		token, bearer = "both of $"+envToken, "${"+envToken+"%%,*}"
	case w.minted:
		token, bearer = fmt.Sprintf("%s (made for this run; set %s to keep one)", w.secret, envToken), w.secret
	}
	fmt.Fprintf(&b, "Serving %s at %s\nToken: %s\n\nTry it:\n\n", w.serving, w.url, token)
	if len(w.required) > 0 {
		form := map[string]string{}
		for _, f := range w.required {
			form[f.Key] = "..."
		}
		fmt.Fprintf(&b, "export %s=%s   # what a tenant types into the connect form\n\n", envCredentials, shell(encode(form)))
	}
	fmt.Fprintf(&b, "curl -sS %s%s\n\n", w.url, wire.PathDocument)
	post := func(path, members string) {
		fmt.Fprintf(&b, "curl -sS %s%s -H \"Authorization: Bearer %s\" -d %s\n\n", w.url, path, bearer, w.body(members))
	}
	post(wire.PathCheck, "")
	post(wire.PathDiscovery, "")
	table := w.firstTable(ctx)
	if table == nil {
		b.WriteString("and /query, with the names of a table and its fields that /discovery tells:\n\n  ")
		table = &wire.Table{Name: "TABLE", Fields: []wire.Field{{Name: "FIELD"}}}
	}
	fields := []string{}
	for _, f := range table.Fields[:min(len(table.Fields), maxFields)] {
		fields = append(fields, f.Name)
	}
	post(wire.PathQuery, fmt.Sprintf(`"table":%s,"fields":%s,"and":[],"sort":[],"limit":%d,`, encode(table.Name), encode(fields), maxRows))
	return b.String()
}

// body returns the body of a request as a word of a POSIX shell.
func (w *welcome) body(members string) string {
	if len(w.required) > 0 {
		return shell("{"+members+`"credentials":`) + `"$` + envCredentials + `"` + shell(`,"timeoutMs":60000}`)
	}
	return shell("{" + members + `"credentials":` + w.given() + `,"timeoutMs":60000}`)
}

// given returns the credentials that are printed, as JSON.
func (w *welcome) given() string {
	if w.credentials == nil {
		return "{}"
	}
	return encode(w.credentials)
}

// firstTable returns the first table that stores rows, without one the first view, or
// nil if discovery needs the credentials of a tenant, fails or takes too long. Over
// TLS it does not look: the certificate is for another name than localhost.
func (w *welcome) firstTable(ctx context.Context) *wire.Table {
	if len(w.required) > 0 || strings.HasPrefix(w.url, "https:") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	body := `{"credentials":` + w.given() + fmt.Sprintf(`,"timeoutMs":%d}`, lookTime.Milliseconds())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+wire.PathDiscovery, strings.NewReader(body))
	if err != nil {
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+w.secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxDiscovery))
	_ = res.Body.Close()
	var found wire.Discovery
	if err != nil || res.StatusCode != http.StatusOK || wire.Decode(answer, &found) != nil {
		return nil
	}
	if len(found.Tables) == 0 {
		return nil
	}
	stored := slices.IndexFunc(found.Tables, func(t wire.Table) bool { return t.StoresRows })
	return &found.Tables[max(stored, 0)]
}

// encode returns strings as JSON text that a person can read.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings, lists and objects of strings always encode
	return strings.TrimSpace(b.String())
}

// shell quotes text for a POSIX shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
