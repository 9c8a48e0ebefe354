package main

import (
	"bytes"
	"flag"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden sources anew, to be reviewed")

// descriptions are those of the tests.
var descriptions = []string{"shop.yaml", "pages.yaml", "shapes.yaml", "hostile.yaml"}

// drafted returns the source and the summary for a description of the tests.
func drafted(t testing.TB, args ...string) (source, summary string) {
	t.Helper()
	var out, notes bytes.Buffer
	require.NoError(t, run(args, nil, &out, &notes))
	return out.String(), notes.String()
}

func TestGolden(t *testing.T) {
	for _, name := range descriptions {
		t.Run(name, func(t *testing.T) {
			got, summary := drafted(t, filepath.Join("testdata", name))
			got += "\n// " + summary
			path := filepath.Join("testdata", strings.TrimSuffix(name, ".yaml")+".golden")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "no golden source: run this test with -update and review it")
			require.Equal(t, string(want), got, "the source has changed: run this test with -update and review it")
		})
	}
}

// TestVersions requires the same source for the same API in the words of 3.0 and JSON, and of
// 3.1 and YAML: nullable and type arrays, exclusive bounds, texts beside a reference.
func TestVersions(t *testing.T) {
	later, _ := drafted(t, "testdata/shop.yaml")
	earlier, _ := drafted(t, "testdata/shop30.json")
	require.Equal(t, later, strings.Replace(earlier, "OpenAPI 3.0.3", "OpenAPI 3.1.0", 1))
}

// TestTwice requires the same source each time: nothing depends on the order of a map.
func TestTwice(t *testing.T) {
	for _, name := range descriptions {
		first, _ := drafted(t, filepath.Join("testdata", name))
		for range 10 {
			again, _ := drafted(t, filepath.Join("testdata", name))
			require.Equal(t, first, again)
		}
	}
}

// TestAccepted builds each source without the fields that the author has to fill in, and
// requires that restsource.New and connector.New find no other fault.
func TestAccepted(t *testing.T) {
	for _, name := range descriptions {
		t.Run(name, func(t *testing.T) {
			source, _ := drafted(t, filepath.Join("testdata", name))
			require.Empty(t, faults(t, source))
		})
	}
}

// known are the faults of a table without what the author has to fill in.
var known = regexp.MustCompile(`API\.Base: must be|it has no columns|key: there is no column`)

// faults runs a program that prints what the library says of the declarations.
func faults(t *testing.T, source string) (found []string) {
	t.Helper()
	head, _, ok := strings.Cut(withoutUnknowns(t, source), "func main() {")
	require.True(t, ok)
	head = strings.Replace(head, "import (", "import (\n\t\"fmt\"\n", 1)
	program := head + `func main() {
	defer func() { _ = log.Prefix; _ = standalone.Main }()
	token, err := wire.NewToken("a-token-of-enough-letters-0123456789")
	if err != nil {
		log.Fatal(err)
	}
	source, err := restsource.New(api, tables, nil)
	if err == nil {
		_, err = connector.New(definition, source, token, nil)
	}
	if err != nil {
		fmt.Println(err)
	}
}
`
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for line := range strings.Lines(string(out)) {
		if !known.MatchString(line) {
			found = append(found, line)
		}
	}
	return found
}

// withoutUnknowns returns a source without the fields whose value is a call of fillIn. A
// Path gets a value.
func withoutUnknowns(t testing.TB, source string) string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "main.go", source, 0)
	require.NoError(t, err)
	drop := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "fillIn" {
				drop[files.Position(call.Pos()).Line] = true
			}
		}
		return true
	})
	var kept strings.Builder
	n := 0
	for line := range strings.Lines(source) {
		switch n++; {
		case !drop[n]:
			kept.WriteString(line)
		case strings.HasPrefix(strings.TrimSpace(line), "Path:"):
			kept.WriteString("Path: \"/any\",\n") // every table needs one
		}
	}
	return kept.String()
}

// vocabulary are the identifiers that a source can have.
var vocabulary = strings.Fields(`main log http time strconv connector restsource standalone wire definition api tables Definition Slug
	Credentials CredentialField Key Label Type CredentialText CredentialPassword Help API Base Authorize Bearer Basic ClientCredentials TokenURL ID Secret KeyHeader KeyParam Check
	Header Table Name Description Path Parent Query Rows Pages By PagingPage PagingOffset PagingCursor PagingLink PagingURL Param Next
	LastRowCursor HasMore SizeParam Size FromZero true false Total TotalHeader Columns Column TypeString TypeNumber TypeDecimal TypeBoolean
	TypeDate TypeDatetime TypeJSON TypeArray NotNull OfParent Convert Unix Second ForeignKeys ForeignKey Field TargetTable TargetField Filters
	Op
	OpEq OpIn OpGt OpGte OpLt OpLte OpIncludes OpStartsWith Separator Spell SpellUnix Round Exact fillIn string source err New nil Fatal Main
	Value bool`)

// requireContained fails if text of the description has become anything but text in
// a string or in a comment.
func requireContained(t testing.TB, source []byte) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "main.go", source, parser.ParseComments)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			require.Contains(t, vocabulary, name.Name)
		}
		return true
	})
	for _, group := range file.Comments {
		for _, c := range group.List {
			require.True(t, c.Text == "//" || strings.HasPrefix(c.Text, "// "), c.Text)
			require.False(t, constraint.IsPlusBuild(c.Text), c.Text)
		}
	}
	for _, decl := range file.Imports {
		require.Regexp(t, `^"(log|net/http|strconv|time|github\.com/connectorsdk/connector-sdk-go/[a-z/]+)"$`, decl.Path.Value)
	}
	require.NotContains(t, string(source), "\u202e", "text that runs from right to left hides what it is")
}

func TestContained(t *testing.T) {
	for _, name := range descriptions {
		source, _ := drafted(t, filepath.Join("testdata", name))
		requireContained(t, []byte(source))
	}
}

// FuzzRead requires that any description is refused, or becomes a source in which its
// text is text only.
func FuzzRead(f *testing.F) {
	for _, name := range append(slices.Clone(descriptions), "shop30.json") {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(data)
	}
	for _, text := range []string{
		"", "null", "[]", "openapi: 3.1.0", "{\"swagger\": \"2.0\"}", "openapi: 3.0.0\npaths: {/a: null}",
		"openapi: 3.1.0\npaths: {/a: {get: {responses: {'200': {$ref: '#/components/responses/A'}}}}}",
		"a: &a [*a, *a]", "openapi: 3.0.0\nservers: [null]\nsecurity: [{x: []}, null]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := read(data)
		if err != nil {
			return
		}
		source, _, err := newDraft(d, regexp.MustCompile("")).source()
		require.NoError(t, err)
		requireContained(t, source)
	})
}

// TestEnds requires that schemas that grow by reference, or refer to each other, end.
func TestEnds(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths:\n  /a: {get: {responses: {'200': {description: x, content: " +
		"{application/json: {schema: {type: array, items: {$ref: '#/components/schemas/S30'}}}}}}}}\ncomponents:\n  schemas:\n" +
		"    S0: {type: object, properties: {id: {type: string}}}\n")
	for i := 1; i <= 30; i++ { // 2 to the power of 30 parts
		b.WriteString(strings.NewReplacer("N", strconv.Itoa(i), "P", strconv.Itoa(i-1)).Replace(
			"    SN: {allOf: [{$ref: '#/components/schemas/SP'}, {$ref: '#/components/schemas/SP'}]}\n"))
	}
	began := time.Now()
	d, err := read([]byte(b.String()))
	require.NoError(t, err)
	source, _, err := newDraft(d, regexp.MustCompile("")).source()
	require.NoError(t, err)
	require.Contains(t, string(source), `{Name: "id", Type: wire.TypeString}`)
	require.Less(t, time.Since(began), time.Minute)
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, description, says string }{
		{"an older version", "swagger: '2.0'\ninfo: {title: x}", "3.0 and 3.1"},
		{"a later version", "openapi: 4.0.0\npaths: {}", "3.0 and 3.1"},
		{"another file", "openapi: 3.0.0\npaths: {/a: {$ref: 'other.yaml#/a'}}", "bundle it"},
		{"no description", "\x00", "cannot read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := run([]string{"-"}, strings.NewReader(tc.description), io.Discard, io.Discard)
			require.ErrorContains(t, err, tc.says)
		})
	}
}

// TestPaths requires that -paths selects endpoints.
func TestPaths(t *testing.T) {
	source, summary := drafted(t, "-paths", "^/customers$", "testdata/shop.yaml")
	require.Contains(t, summary, "1 lists, 1 tables")
	require.Contains(t, source, `"customers"`)
	require.NotContains(t, source, `"orders"`)
}

// TestAuthorize holds what each security scheme becomes.
func TestAuthorize(t *testing.T) {
	for _, tc := range []struct{ name, schemes, security, want string }{
		{"bearer", "{a: {type: http, scheme: Bearer}}", "[{a: []}]", `restsource.Bearer("token")`},
		{"basic", "{a: {type: http, scheme: basic}}", "[{a: []}]", `restsource.Basic("user", "password")`},
		{"key in a header", "{a: {type: apiKey, in: header, name: X-Key}}", "[{a: []}]", `restsource.KeyHeader("X-Key", "apiKey")`},
		{"key in the query", "{a: {type: apiKey, in: query, name: key}}", "[{a: []}]", `restsource.KeyParam("key", "apiKey")`},
		{"the whole header is typed", "{a: {type: apiKey, in: header, name: Authorization}}", "[{a: []}]",
			"// TODO: the tenant's input is the whole"},
		{"a cookie is not known", "{a: {type: apiKey, in: cookie, name: sid}}", "[{a: []}]", `Authorize: fillIn("the API takes a (a cookie)")`},
		{"digest is not known", "{a: {type: http, scheme: digest}}", "[{a: []}]", `Authorize: fillIn("the API takes a (HTTP digest)")`},
		{"client credentials", "{a: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://t.example', scopes: {}}}}}", "[{a: []}]",
			`restsource.ClientCredentials{TokenURL: "https://t.example", ID: "clientId", Secret: "clientSecret"}.Authorize()`},
		{"a token endpoint without a host", "{a: {type: oauth2, flows: {clientCredentials: {tokenUrl: /token, scopes: {}}}}}", "[{a: []}]",
			"client credentials at /token"},
		{"consent", "{a: {type: oauth2, flows: {authorizationCode: {authorizationUrl: x, tokenUrl: y, scopes: {}}}}}", "[{a: []}]",
			"OAuth 2.0 with a person's consent"},
		{"two at once are not known", "{a: {type: http, scheme: bearer}, b: {type: apiKey, in: header, name: K}}", "[{a: [], b: []}]",
			`fillIn("the API takes a and b")`},
		{"the first that is known", "{a: {type: openIdConnect, openIdConnectUrl: x}, b: {type: http, scheme: bearer}}", "[{a: []}, {b: []}]",
			"// Chosen: the scheme b. The API also takes a."},
		{"none is required", "{b: {type: http, scheme: bearer}}", "[]", "// Guess: the description has security schemes, but requires none."},
		{"none", "{}", "[]", "// TODO: the description names no credentials."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			text := "openapi: 3.0.0\ninfo: {title: x, version: '1'}\npaths: {}\nsecurity: " + tc.security +
				"\ncomponents: {securitySchemes: " + tc.schemes + "}\n"
			require.NoError(t, run([]string{"-"}, strings.NewReader(text), &out, io.Discard))
			require.Contains(t, out.String(), tc.want)
		})
	}
}

// TestNames holds how names are split and put together.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"orderItems": "order_items", "OrderItems": "order_items", "order-items": "order_items", "HTTPServer": "http_server",
		"userID": "user_id", "page[size]": "page_size", "": "", "日本語": "日本語", "v2": "v2", "__a__": "a",
	} {
		require.Equal(t, want, words(name), name)
	}
	for name, want := range map[string]string{
		"companies": "company", "addresses": "address", "boxes": "box", "status": "status", "access": "access", "orders": "order",
	} {
		require.Equal(t, want, singular(name), name)
	}
	for title, want := range map[string]string{"GitHub v3 REST API": "github-v3", "日本語": "my-api", "123 Shop": "shop", "A": "my-api"} {
		require.Equal(t, want, slug(title), title)
	}
}
