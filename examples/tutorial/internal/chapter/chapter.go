// Package chapter tests the chapters of docs/tutorial.md: the code that a chapter
// shows is in its program, and the program answers what the chapter says.
package chapter

import (
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// update writes what the programs answer into the tutorial. Review it with git diff.
var update = flag.Bool("update", false, "rewrite the outputs in docs/tutorial.md")

const (
	tutorial = "../../../docs/tutorial.md"
	token    = "a-token-for-tests-0123456789abcdef"
)

// Test tests the chapter of the program in the working directory, which is the
// section that links to its main.go.
func Test(t *testing.T, name string, definition connector.Definition, source connector.Source) {
	t.Helper()
	text, err := os.ReadFile(tutorial)
	require.NoError(t, err)
	before, section, found := strings.Cut(string(text), "](../examples/tutorial/"+name+"/main.go)")
	require.True(t, found, "the tutorial does not link to the chapter %s", name)
	section, after, _ := strings.Cut(section, "\n## ")
	if after != "" {
		after = "\n## " + after
	}
	requireCode(t, section)

	answers := 0
	var told strings.Builder
	for i, block := range strings.Split(section, "```") {
		if i > 0 {
			told.WriteString("```")
		}
		lines, console := strings.CutPrefix(block, "console\n")
		if !console {
			told.WriteString(block)
			continue
		}
		told.WriteString("console\n")
		for _, command := range commands(lines) {
			answers++
			told.WriteString(command + answer(t, definition, source, command))
		}
	}
	require.NotZero(t, answers, "the chapter asks nothing")
	if *update {
		head := before + "](../examples/tutorial/" + name + "/main.go)"
		require.NoError(t, os.WriteFile(tutorial, []byte(head+told.String()+after), 0o644))
		return
	}
	require.Equal(t, told.String(), section,
		"the program answers otherwise; go test -p 1 ./examples/tutorial/... -update rewrites the tutorial")
}

// requireCode requires that the program and its test hold each block of Go.
func requireCode(t *testing.T, section string) {
	t.Helper()
	var code string
	for _, name := range []string{"main.go", "ledger.go", "main_test.go"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		code += string(text)
	}
	blocks := strings.Split(section, "```go\n")[1:]
	require.NotEmpty(t, blocks, "the chapter shows no code")
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		require.Contains(t, code, block)
	}
}

// commands returns the commands of a console, which begin with "$ " and end with the
// quote that closes the body. What stands between them is output.
func commands(console string) (list []string) {
	open := false
	for line := range strings.Lines(console) {
		switch {
		case strings.HasPrefix(line, "$ "):
			list = append(list, line)
		case open:
			list[len(list)-1] += line
		default:
			continue
		}
		open = !strings.HasSuffix(line, "'\n")
	}
	return list
}

// answer returns what the program answers to a command such as
//
//	$ ask /query '{"table": "invoices"}'
//
// in virtual time: a program that is slow costs no time here.
func answer(t *testing.T, definition connector.Definition, source connector.Source, command string) (body string) {
	t.Helper()
	path, quoted, found := strings.Cut(strings.TrimPrefix(command, "$ ask "), " ")
	require.True(t, found, command)
	synctest.Test(t, func(t *testing.T) {
		secret, err := wire.NewToken(token)
		require.NoError(t, err)
		handler, err := connector.New(definition, source, secret, &connector.Options{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(strings.Trim(strings.TrimSpace(quoted), "'")))
		req.Header.Set("Authorization", "Bearer "+token)
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, req)
		body = strings.TrimSpace(got.Body.String()) + "\n"
	})
	return body
}
