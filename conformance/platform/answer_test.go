package platform_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// asks calls each route that answers JSON, and reads rows.
var asks = map[string]func(context.Context, *platform.Client) error{
	wire.PathDocument:  func(ctx context.Context, c *platform.Client) error { _, err := c.Document(ctx); return err },
	wire.PathCheck:     func(ctx context.Context, c *platform.Client) error { return c.Check(ctx, nobody) },
	wire.PathDiscovery: func(ctx context.Context, c *platform.Client) error { _, err := c.Discover(ctx, nobody); return err },
	wire.PathCount: func(ctx context.Context, c *platform.Client) error {
		_, err := c.Count(ctx, nobody, &wire.CountRequest{Table: "t"})
		return err
	},
	wire.PathSize: func(ctx context.Context, c *platform.Client) error { _, err := c.Size(ctx, nobody, "t"); return err },
	wire.PathCardinality: func(ctx context.Context, c *platform.Client) error {
		_, err := c.Cardinality(ctx, nobody, "t", []string{"id", "name"})
		return err
	},
	wire.PathLinkHitRate: func(ctx context.Context, c *platform.Client) error {
		_, err := c.LinkHitRate(ctx, nobody, question("linkHitRate t.a>t.b").(*wire.LinkHitRateRequest))
		return err
	},
	wire.PathAggregate: func(ctx context.Context, c *platform.Client) error {
		req := groups("t by=at/month:month by=on:on count():n sum(amount):total max(at):last limit=3")
		_, _, err := c.Aggregate(ctx, nobody, req, []wire.Column{{Name: "month", Type: wire.TypeDatetime}, {Name: "on", Type: wire.TypeBoolean},
			{Name: "n"}, {Name: "total"}, {Name: "last", Type: wire.TypeDatetime}})
		return err
	},
	wire.PathQuery: func(ctx context.Context, c *platform.Client) error { return readRows(ctx, c, nil) },
}

// nobody has no credentials.
var nobody wire.Credentials

const document = `{"protocolVersion":1,"slug":"shop","capabilities":{"operators":["eq"],"dateBucket":false,"sort":"none","offset":false,` +
	`"join":false,"keysEnforced":false,"limits":{"concurrency":1}},"credentialSchema":[],"endpoints":[]`

// whole replaces the abbreviations of testdata/answers.tsv.
var whole = strings.NewReplacer("<document>", document, "<table>", `"sourceDescription":"","storesRows":true`, "<field>",
	`"sourceColumn":"id","nullable":false,"unique":true,"samples":[],"sourceDescription":""`)

// TestAnswers gives each route answers with one fault, and some without.
func TestAnswers(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/answers.tsv", 5) {
		path, body, place, rule, why := c[0], whole.Replace(c[1]), c[2], c[3], c[4]
		err := asks[cmp.Or(path, wire.PathDocument)](t.Context(), saysJSON(t, body))
		requireFault(t, err, place, rule, "%s %s: %s", path, body, why)
	}
	for body, rule := range map[string]string{ // without groupBy there is one row
		`{"rows":[]}`: "aggregate-3a", `{"rows":[{"n":1},{"n":1}]}`: "aggregate-3a", `{"rows":[{"n":1}]}`: "",
	} {
		_, _, err := saysJSON(t, body).Aggregate(t.Context(), nobody, groups("t count():n"), []wire.Column{{Name: "n"}})
		requireFault(t, err, "rows", rule, body)
	}
}

// TestAnswerCut cuts the usual answer of each route after each byte, by a clean close and by a
// broken connection. None of them looks complete.
func TestAnswerCut(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/answers.tsv", 5) {
		if !strings.HasPrefix(c[4], "the usual") {
			continue
		}
		path, body := cmp.Or(c[0], wire.PathDocument), whole.Replace(c[1])
		for n := range len(body) + 1 {
			err := asks[path](t.Context(), saysJSON(t, body[:n]))
			if n == len(body) {
				require.NoError(t, err, path)
			} else {
				require.ErrorAs(t, err, new(*platform.AnswerError), "%s: %s", path, body[:n])
			}
			err = asks[path](t.Context(), clientOver(t, canned(terms.MediaJSON, func() io.Reader {
				return io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(errors.New("connection reset")))
			})))
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s: %s, though what came is whole", path, body[:n])
			require.Equal(t, "body", faultOf(t, err).Place)
		}
	}
}

// TestRefusals gives each route error answers. Only a code with its own status, in the
// envelope, is the connector's own error.
func TestRefusals(t *testing.T) {
	for path, ask := range asks {
		for _, c := range testkit.Table(t, "testdata/refusals.tsv", 5) {
			status, body, verdict, only, why := testkit.Must(strconv.Atoi(c[0]))(t), c[1], c[2], c[3], c[4]
			if only != "" && only != path {
				continue
			}
			err := ask(t.Context(), clientOver(t, testkit.Always(status, body, "Content-Type: "+terms.MediaJSON)))
			if path == wire.PathDocument { // a host without a connector answers as it likes
				verdict = "document-4"
			}
			if _, broken := rules.Lookup(verdict); !broken {
				var sent struct{ Error *wire.Error }
				require.NoError(t, json.Unmarshal([]byte(body), &sent))
				require.Equal(t, verdict, string(sent.Error.Code))
				require.Equal(t, sent.Error, err, "%s %d: the connector's own words", path, status)
				continue
			}
			fault := faultOf(t, err, "%s %d %s: %s", path, status, body, why)
			require.Equal(t, verdict, fault.Rule, "%s %d %s: %v", path, status, body, fault)
			require.NotEmpty(t, fault.Place)
			require.NotContains(t, err.Error(), "ORA")
		}
	}
}

// TestMedia wants the content types of the document and of streams, with any parameter.
func TestMedia(t *testing.T) {
	for media, rules := range map[string][2]string{ // of the document, and of a stream
		"application/json": {"", "stream-10"}, "Application/JSON; charset=utf-8": {"", "stream-10"}, "text/html": {"document-4", "stream-10"},
		"application/x-ndjson": {"document-4", ""}, "application/x-ndjson; charset=utf-8": {"document-4", ""}, "": {"document-4", "stream-10"},
	} {
		_, err := says(t, media, document+`}`).Document(t.Context())
		requireFault(t, err, "Content-Type", rules[0], media)
		_, err = says(t, media, stream).Query(t.Context(), nobody, query("t"), columns)
		requireFault(t, err, "Content-Type", rules[1], media)
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
	testrun.Long(t)
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

// repeated reads a text n times.
func repeated(text string, n int) io.Reader {
	var parts []io.Reader
	for range n {
		parts = append(parts, strings.NewReader(text))
	}
	return io.MultiReader(parts...)
}

// allocating calls a function, and returns how many MiB have been allocated meanwhile.
func allocating(ask func() error) (mebibytes uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = ask()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20, err
}

// TestManyGroups gives an answer of a million groups, which is legal in its length. It
// is refused before they are all read.
func TestManyGroups(t *testing.T) {
	body := `{"took":{"ms":[1]},"rows":[` + strings.Repeat(`{"n":1},`, 1<<20) + `{"n":1}]}`
	client := saysJSON(t, body)
	allocated, err := allocating(func() error { return asks[wire.PathAggregate](t.Context(), client) })
	require.Equal(t, "aggregate-6", faultOf(t, err).Rule)
	require.Less(t, allocated, uint64(120), "MiB")

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
	const mebibyte, gigabyte = 1 << 20, 1 << 30
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
		text := strings.Repeat(c.text, mebibyte/len(c.text))
		var body *io.LimitedReader
		client := clientOver(t, canned(c.media, func() io.Reader {
			body = &io.LimitedReader{R: repeated(text, gigabyte/mebibyte), N: gigabyte}
			return io.MultiReader(strings.NewReader(c.begin), body)
		}))
		allocated, err := allocating(func() error { return asks[c.path](t.Context(), client) })
		fault := faultOf(t, err, c.path)
		require.Equal(t, c.rule, fault.Rule, "%v", fault)
		require.Less(t, allocated, c.most, "%s: MiB allocated in all", c.path)
		require.Greater(t, body.N, int64(gigabyte-40*mebibyte), "%s: what is too long is not read on", c.path)
	}
}
