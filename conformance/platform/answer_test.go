package platform_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// asks calls each route that answers JSON.
var asks = map[string]func(context.Context, *platform.Client) error{
	wire.PathDocument: func(ctx context.Context, c *platform.Client) error { _, err := c.Document(ctx); return err },
	wire.PathCheck:    func(ctx context.Context, c *platform.Client) error { return c.Check(ctx, wire.Credentials{}) },
	wire.PathDiscovery: func(ctx context.Context, c *platform.Client) error {
		_, err := c.Discover(ctx, wire.Credentials{})
		return err
	},
	wire.PathCount: func(ctx context.Context, c *platform.Client) error {
		_, err := c.Count(ctx, wire.Credentials{}, &wire.CountRequest{Table: "t"})
		return err
	},
	wire.PathSize: func(ctx context.Context, c *platform.Client) error {
		_, err := c.Size(ctx, wire.Credentials{}, "t")
		return err
	},
	wire.PathCardinality: func(ctx context.Context, c *platform.Client) error {
		_, err := c.Cardinality(ctx, wire.Credentials{}, "t", []string{"id", "name"})
		return err
	},
	wire.PathLinkHitRate: func(ctx context.Context, c *platform.Client) error {
		_, err := c.LinkHitRate(ctx, wire.Credentials{}, &wire.LinkHitRateRequest{FromTable: "t", FromColumn: "a", ToTable: "t", ToColumn: "b"})
		return err
	},
	wire.PathAggregate: func(ctx context.Context, c *platform.Client) error {
		_, _, err := c.Aggregate(ctx, wire.Credentials{}, &wire.AggregateRequest{Table: "t", Limit: 3,
			GroupBy: []wire.GroupKey{{Field: "at", As: "month", Grain: wire.GrainMonth}, {Field: "on", As: "on"}},
			Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}, {Fn: wire.AggSum, Field: "amount", As: "total"},
				{Fn: wire.AggMax, Field: "at", As: "last"}}},
			[]wire.Column{{Name: "month", Type: wire.TypeDatetime}, {Name: "on", Type: wire.TypeBoolean}, {Name: "n"}, {Name: "total"},
				{Name: "last", Type: wire.TypeDatetime}})
		return err
	},
	wire.PathQuery: func(ctx context.Context, c *platform.Client) error {
		return readRows(ctx, c, nil)
	},
}

const document = `{"protocolVersion":1,"slug":"shop","capabilities":{"operators":["eq"],"dateBucket":false,"sort":"none","offset":false,` +
	`"join":false,"keysEnforced":false,"limits":{"concurrency":1}},"credentialSchema":[],"endpoints":[]`

const field = `{"name":"id","sourceColumn":"id","type":"number","nullable":false,"unique":true,"samples":[],"sourceDescription":""}`

// bare is a table without fields.
func bare(name string) string {
	return `{"name":"` + name + `","sourceDescription":"","storesRows":true,"primaryKey":[],"foreignKeys":[],"fields":[]}`
}

func tables(name, more string) string {
	return `{"tables":[{"name":"` + name + `","sourceDescription":"","storesRows":true,` + more + `,"fields":[` + field + `]}]}`
}

// TestAnswers gives each route answers with one fault, and some without.
func TestAnswers(t *testing.T) {
	whole := strings.NewReplacer("<document>", document, "<table>", `"sourceDescription":"","storesRows":true`, "<field>",
		`"sourceColumn":"id","nullable":false,"unique":true,"samples":[],"sourceDescription":""`)
	for _, c := range testkit.Table(t, "testdata/answers.tsv", 5) {
		path, body, place, rule, why := c[0], whole.Replace(c[1]), c[2], c[3], c[4]
		err := asks[strings.Replace(path, "document", wire.PathDocument, 1)](t.Context(), saysJSON(t, body))
		requireFault(t, err, place, rule, "%s %s: %s", path, body, why)
	}
	// Without groupBy there is one row.
	for body, rule := range map[string]string{
		`{"rows":[]}`:                "aggregate-3a",
		`{"rows":[{"n":1},{"n":1}]}`: "aggregate-3a",
		`{"rows":[{"n":1}]}`:         "",
	} {
		client := saysJSON(t, body)
		_, _, err := client.Aggregate(t.Context(), wire.Credentials{}, &wire.AggregateRequest{Table: "t",
			Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}}, []wire.Column{{Name: "n"}})
		requireFault(t, err, "rows", rule, body)
	}
}

// TestAnswerCut cuts legal answers after each byte, by a clean close and by a broken
// connection. None of them looks complete.
func TestAnswerCut(t *testing.T) {
	for path, body := range map[string]string{
		wire.PathDocument:    document + "}",
		wire.PathCheck:       `{"ok":true}`,
		wire.PathDiscovery:   tables("t", `"primaryKey":["id"],"foreignKeys":[]`),
		wire.PathCount:       `{"count":12}`,
		wire.PathSize:        `{"size":{"rows":3,"exact":false}}`,
		wire.PathCardinality: `{"columns":{"id":{"nonNull":3,"distinct":3},"name":null}}`,
		wire.PathLinkHitRate: `{"fromNonNull":4,"orphanCount":1,"orphanRate":0.25,"orphanSamples":["x"]}`,
		wire.PathAggregate:   `{"rows":[{"month":"2024-04-01","on":true,"n":2,"total":"1.50","last":null}]}`,
	} {
		for n := range len(body) + 1 {
			client := saysJSON(t, body[:n])
			err := asks[path](t.Context(), client)
			if n == len(body) {
				require.NoError(t, err, path)
			} else {
				require.ErrorAs(t, err, new(*platform.AnswerError), "%s: %s", path, body[:n])
			}
			client = clientOver(t, canned(terms.MediaJSON, func() io.Reader {
				return io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(errors.New("connection reset")))
			}))
			err = asks[path](t.Context(), client)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s: %s, though what came is whole", path, body[:n])
			require.Equal(t, "body", faultOf(t, err).Place)
		}
	}
}

// TestRefusals gives each route error answers. Only a code with its own status, in the
// envelope, is the connector's own error.
func TestRefusals(t *testing.T) {
	const words = `Line one.\nThe key \"sk-…\" is <b>unknown</b> at https://crm.example.com ☹`
	envelope := func(code, message string) string {
		return `{"error":{"code":"` + code + `","message":"` + message + `"}}`
	}
	for path, ask := range asks {
		for _, c := range []struct {
			status     int
			body       string
			code       wire.Code // of the connector's own error
			rule, only string    // or the rule that the answer breaks; on this route alone
			why        string
		}{
			{400, envelope("bad_request", "no"), wire.CodeBadRequest, "", "", "a refusal"},
			{401, envelope("unauthorized", "no"), wire.CodeUnauthorized, "", "", "a refusal"},
			{404, envelope("unknown_entity", "no"), wire.CodeUnknownEntity, "", "", "a refusal"},
			{408, envelope("timeout", "no"), wire.CodeTimeout, "", "", "a refusal"},
			{422, envelope("unsupported", "no"), wire.CodeUnsupported, "", "", "a refusal"},
			{500, envelope("internal", "internal error"), wire.CodeInternal, "", "", "an error"},
			{404, envelope("not_found", "no"), wire.CodeNotFound, "", "", "a refusal"},
			{405, envelope("method_not_allowed", "no"), wire.CodeMethodNotAllowed, "", "", "a refusal"},
			{422, `{"error":{"code":"unsupported","message":"no","at":1}}`, wire.CodeUnsupported, "", "", "not forbidden"},
			{400, envelope("check_failed", words), wire.CodeCheckFailed, "", wire.PathCheck, "the connector's words"},
			{400, envelope("check_failed", ""), "", "route-8", wire.PathCheck, "for the person who typed it"},
			{400, envelope("check_failed", ` \n`), "", "route-8", wire.PathCheck, "who reads nothing in blanks"},
			{400, envelope("check_failed", "no"), "", "error-3", wire.PathCount, "on /check alone"},
			{400, envelope("unsupported", "no"), "", "http-9", "", "the status of another code"},
			{500, envelope("timeout", "no"), "", "http-9", "", "the status of another code"},
			{500, envelope("internal", "ORA-1017 at 10.0.0.7"), "", "error-8", "", "the cause is for the log"},
			{500, envelope("internal", "internal error: ORA-1017"), "", "error-8", "", "nor does it follow"},
			{403, envelope("forbidden", "no"), "", "error-1", "", "an unknown code"},
			{500, `internal error`, "", "error-1", "", "no envelope"},
			{502, `<html>Bad Gateway</html>`, "", "error-1", "", "no envelope"},
			{422, `{"error":"no"}`, "", "error-1", "", "no envelope"},
			{422, `{"error":{"code":"unsupported"}}`, "", "error-1", "", "no message"},
			{422, ``, "", "error-1", "", "no envelope"},
			{300, envelope("bad_request", "no"), "", "error-1", "", "a redirect"},
			{302, envelope("bad_request", "no"), "", "error-1", "", "a redirect"},
			{308, envelope("bad_request", "no"), "", "error-1", "", "a redirect"},
			{201, `{"ok":true}`, "", "route-3", "", "another success"},
			{204, ``, "", "route-3", wire.PathCount, "nothing to decline"},
		} {
			if c.only != "" && c.only != path {
				continue
			}
			client := clientOver(t, testkit.Always(c.status, c.body, "Content-Type: "+terms.MediaJSON))
			err := ask(t.Context(), client)
			if path == wire.PathDocument { // a host without a connector answers as it likes
				c.code, c.rule = "", "document-4"
			}
			if c.code != "" {
				var sent struct{ Error *wire.Error }
				require.NoError(t, json.Unmarshal([]byte(c.body), &sent))
				require.Equal(t, c.code, sent.Error.Code)
				require.Equal(t, sent.Error, err, "%s %d: the connector's own words", path, c.status)
				continue
			}
			fault := faultOf(t, err, "%s %d %s: %s", path, c.status, c.body, c.why)
			require.Equal(t, c.rule, fault.Rule, "%s %d %s: %v", path, c.status, c.body, fault)
			require.NotEmpty(t, fault.Place)
			require.NotContains(t, err.Error(), "ORA")
		}
	}
}

// TestMedia wants the content types of the document and of streams, with any parameter.
func TestMedia(t *testing.T) {
	for media, rule := range map[string]string{
		"application/json": "", "Application/JSON; charset=utf-8": "", "text/html": "document-4",
		"application/x-ndjson": "document-4", "": "document-4",
	} {
		_, err := says(t, media, document+`}`).Document(t.Context())
		requireFault(t, err, "Content-Type", rule, media)
	}
	for media, rule := range map[string]string{
		"application/x-ndjson": "", "application/x-ndjson; charset=utf-8": "", "application/json": "stream-10",
		"text/plain": "stream-10", "": "stream-10",
	} {
		_, err := says(t, media, stream).Query(t.Context(), wire.Credentials{}, &wire.QueryRequest{}, columns)
		requireFault(t, err, "Content-Type", rule, media)
	}
	coded := func(coding, body string) *platform.Client {
		return clientOver(t, testkit.Always(200, body, "Content-Type: "+terms.MediaJSON, "Content-Encoding: "+coding))
	}
	for path, ask := range asks {
		fault := faultOf(t, ask(t.Context(), coded("gzip", "\x1f\x8b")), path)
		require.Equal(t, "Content-Encoding", fault.Place)
	}
	for _, coding := range []string{"identity", "Identity"} {
		require.NoError(t, coded(coding, `{"ok":true}`).Check(t.Context(), wire.Credentials{}), "what was asked for")
	}
}

// TestLongest gives answers that are as long as they may be, and one byte longer.
func TestLongest(t *testing.T) {
	for _, c := range []struct {
		path, body, rule string
		most             int
	}{
		{wire.PathDocument, document + "}", "document-5", terms.MaxDocumentBytes},
		{wire.PathCheck, `{"ok":true}`, "http-10", terms.MaxAnswerBytes},
	} {
		for more := range 2 {
			body := c.body + strings.Repeat(" ", c.most-len(c.body)+more)
			err := asks[c.path](t.Context(), saysJSON(t, body))
			requireFault(t, err, "body", []string{"", c.rule}[more], c.path)
		}
	}
}

// endless repeats a text for n bytes.
type endless struct {
	text string
	left int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && int64(n) < e.left {
		n += copy(p[n:], e.text)
	}
	e.left -= int64(n)
	return n, nil
}

// TestManyGroups gives an answer of a million groups, which is legal in its length. It
// is refused before they are all read.
func TestManyGroups(t *testing.T) {
	body := `{"took":{"ms":[1]},"rows":[` + strings.Repeat(`{"n":1},`, 1<<20) + `{"n":1}]}`
	client := saysJSON(t, body)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := asks[wire.PathAggregate](t.Context(), client)
	runtime.ReadMemStats(&after)
	fault := faultOf(t, err)
	require.Equal(t, "aggregate-6", fault.Rule)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(120), "MiB")

	// As many groups as the limit, of as many bytes, are none too many.
	for n, refused := range map[int]bool{3: false, 4: true} {
		var groups []string
		for i := range n {
			groups = append(groups, fmt.Sprintf(`{"month":"2024-0%d-01","on":null,"n":1,"total":"1","last":null,"x":"%s"}`, i+1,
				strings.Repeat("x", 400<<10)))
		}
		body := `{"rows":[` + strings.Join(groups, ",") + `]}`
		client := saysJSON(t, body)
		require.Equal(t, refused, asks[wire.PathAggregate](t.Context(), client) != nil, "%d groups", n)
	}
}

// TestBounded gives every route a body of a gigabyte, and streams a line of one. Each is
// refused after little memory.
func TestBounded(t *testing.T) {
	const gigabyte = 1 << 30
	for _, c := range []struct {
		path, media, begin, text, rule string
		most                           uint64 // MiB
	}{
		{wire.PathDocument, terms.MediaJSON, document + `,"x":"`, "aaaaaaaa", "document-5", 1},
		{wire.PathDiscovery, terms.MediaJSON, `{"tables":[],"x":"`, "aaaaaaaa", "http-10", 200},
		{wire.PathCount, terms.MediaJSON, ``, "        ", "http-10", 200},
		{wire.PathAggregate, terms.MediaJSON, `{"rows":[`, `{"n":1},`, "http-10", 200},
		{wire.PathQuery, terms.MediaNDJSON, `{"rows":[{"id":"`, "aaaaaaaa", "stream-6", 64},
		{wire.PathQuery, terms.MediaNDJSON, ``, "        ", "stream-6", 64},
		{wire.PathQuery, terms.MediaJSON, ``, "        ", "stream-10", 1},
	} {
		var body *endless
		client := clientOver(t, canned(c.media, func() io.Reader {
			body = &endless{text: c.text, left: gigabyte}
			return io.MultiReader(strings.NewReader(c.begin), body)
		}))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := asks[c.path](t.Context(), client)
		runtime.ReadMemStats(&after)
		fault := faultOf(t, err, c.path)
		require.Equal(t, c.rule, fault.Rule, "%v", fault)
		require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, c.most, "%s: MiB allocated in all", c.path)
		require.Greater(t, body.left, int64(gigabyte-40<<20), "%s: what is too long is not read on", c.path)
	}
}
