package restsource_test

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reply and always answer requests without a network.
var reply, always = testkit.Reply, testkit.Always

// secretText is what no log and no message may quote.
const secretText = "text-of-the-body"

// A remote is an API in place of the network. It keeps when it is asked since it was begun, and for what.
type remote struct {
	// answer returns the answer of a request, as answering has it.
	answer func(r *http.Request) string
	begun  time.Time

	mu      sync.Mutex
	asked   []string // "/rows?a=b", "POST /exports"
	times   []time.Duration
	urls    []string
	headers []http.Header
	bodies  []string
}

func (api *remote) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		body = string(testkit.Body(r))
	}
	api.mu.Lock()
	api.asked = append(api.asked, strings.TrimPrefix(r.Method+" ", "GET ")+strings.TrimPrefix(r.URL.RequestURI(), "/v1"))
	api.times, api.urls = append(api.times, time.Since(api.begun)), append(api.urls, r.URL.String())
	api.headers, api.bodies = append(api.headers, r.Header), append(api.bodies, body)
	api.mu.Unlock()
	return answering(api.answer(r))(r)
}

// takeAsked returns what was asked since the last call.
func (api *remote) takeAsked() []string {
	api.mu.Lock()
	defer api.mu.Unlock()
	asked := api.asked
	api.asked = nil
	return asked
}

// takeQueries returns the queries of what was asked since the last call.
func (api *remote) takeQueries() (queries []string) {
	for _, address := range api.takeAsked() {
		_, query, _ := strings.Cut(address, "?")
		queries = append(queries, query)
	}
	return queries
}

// failures are what a request may end with but an answer.
var failures = map[string]testkit.Transport{
	"!breaks": testkit.Fails(errors.New("connection reset")), "!nothing": testkit.Fails(io.EOF),
	"!refused":  testkit.Fails(&net.OpError{Op: "dial", Err: errors.New("connection refused: the token " + shopToken)}),
	"!resolver": testkit.Fails(&net.DNSError{IsTimeout: true}), "!unknown": testkit.Fails(&net.DNSError{IsNotFound: true}),
	"!private":     testkit.Fails(&netguard.Error{Kind: "in a private network"}),
	"!unrecorded":  testkit.Fails(&recording.Missing{}),
	"!certificate": testkit.Fails(&tls.CertificateVerificationError{Err: errors.New("unknown authority")}),
	"!gzip":        always(200, gzipped(bodyOfOne)), "!gzip header": always(200, gzipped(bodyOfOne), "Content-Encoding: gzip"),
	"!export": always(200, gzipped("id\n1\n2\n3\n")),
	"!broken": func(*http.Request) (*http.Response, error) {
		res := reply(200, "")
		res.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"rows": [`), iotest.ErrReader(errors.New("the token "+shopToken))))
		return res, nil
	},
	"!silence": func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	},
	"!endless": func(r *http.Request) (*http.Response, error) {
		return reply(200, fmt.Sprintf(`{"rows": [], "next": "?p=%sx"}`, r.URL.Query().Get("p"))), nil
	},
}

var (
	// rowsWord is a list of rows by their ids: "1-4", "5,2,6", "none".
	rowsWord   = regexp.MustCompile(`^(?:none|\d+-\d+|\d{1,2}(?:,\d+)*)$`)
	statusWord = regexp.MustCompile(`^(\d\d\d)(?: |$)`)
	headerWord = regexp.MustCompile(`^\{([\w-]+: ?[^{}]*)\} ?`)
	folded     = regexp.MustCompile(`«(.*?)×(\d+)»`)
)

// unfold writes out what a file of cases has in short: "«x×3»" is "xxx", "↵" and "⇥" are a line feed and a
// tab, and "\r", "\uFEFF", "\xeb" and "\xff" are the characters and bytes that Go means by them.
func unfold(text string) string {
	text = folded.ReplaceAllStringFunc(text, func(short string) string {
		m := folded.FindStringSubmatch(short)
		n, _ := strconv.Atoi(m[2])
		return strings.Repeat(m[1], n)
	})
	return strings.NewReplacer("↵", "\n", "⇥", "\t", `\r`, "\r", `\uFEFF`, "\uFEFF", `\xeb`, "\xeb", `\xff`, "\xff").Replace(text)
}

// inTurn returns an API that answers in turn, the last answer for ever. Made in a bubble, it tells the bubble's time.
func inTurn(texts ...string) *remote {
	var turn atomic.Int64
	return &remote{begun: time.Now(), answer: func(*http.Request) string { return texts[min(int(turn.Add(1)), len(texts))-1] }}
}

// answering answers every request alike. An answer is one of failures, or a status unless it is 200, headers, and a
// body or rows with other members, as far as it has them: `{"rows": []}`, `1-4 "next":"c"`, `{Link: <...>} 5-6`, "204".
func answering(text string) testkit.Transport {
	if fails := failures[text]; fails != nil {
		return fails
	}
	status, headers := 200, []string(nil)
	if m := statusWord.FindStringSubmatch(text); m != nil {
		status, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	for m := headerWord.FindStringSubmatch(text); m != nil; m = headerWord.FindStringSubmatch(text) {
		headers, text = append(headers, m[1]), text[len(m[0]):]
	}
	if ids, members, more := strings.Cut(text, " "); more && rowsWord.MatchString(ids) {
		text = rowsOf(ids, members)
	} else if rowsWord.MatchString(text) {
		text = rowsOf(text)
	}
	return always(status, unfold(text), headers...)
}

// atPlaces returns an API of addresses, each with its answer behind it. An address is a path, or nothing for any, with
// some of the parameters that a request has, or members of its body. The first that fits answers, and 404 if none does.
func atPlaces(answers ...string) *remote {
	return &remote{answer: func(r *http.Request) string {
		asked := r.URL.Query()
		if r.Body != nil {
			var members map[string]string
			_ = json.Unmarshal(testkit.Body(r), &members) // other bodies have no members
			for name, value := range members {
				asked.Set(name, value)
			}
		}
		for pair := range slices.Chunk(answers, 2) {
			path, query, _ := strings.Cut(pair[0], "?")
			has, err := url.ParseQuery(query)
			if err != nil {
				panic(err)
			}
			for name, values := range asked {
				if slices.Equal(has[name], values) {
					delete(has, name)
				}
			}
			if len(has) == 0 && (path == "" || path == strings.TrimPrefix(r.URL.EscapedPath(), "/v1")) {
				return pair[1]
			}
		}
		return "404"
	}}
}

// saysAll requires an error that says, itself or in the log, each of some texts: "internal: & not JSON".
func saysAll(t *testing.T, texts string, err error, log string) {
	t.Helper()
	require.Error(t, err)
	for text := range strings.SplitSeq(texts, " & ") {
		assert.Contains(t, err.Error()+" "+log, text)
	}
	for _, secret := range []string{secretText, oauthSecret, url.QueryEscape(oauthSecret)} {
		assert.NotContains(t, err.Error()+log, secret)
	}
}

// inSeconds returns times as a file of cases has them.
func inSeconds(times []time.Duration) string {
	words := make([]string, len(times))
	for i, at := range times {
		words[i] = strconv.FormatFloat(at.Seconds(), 'f', -1, 64)
	}
	return strings.Join(words, " ")
}

// rowsOf returns an answer with the rows of these ids, and other members.
func rowsOf(ids string, members ...string) string {
	var rows []string
	for word := range strings.SplitSeq(strings.TrimPrefix(ids, "none"), ",") {
		first, last, ok := strings.Cut(word, "-")
		if !ok {
			last = first
		}
		from, _ := strconv.Atoi(first)
		for to, err := strconv.Atoi(last); err == nil && from <= to; from++ {
			rows = append(rows, fmt.Sprintf(`{"id":%d}`, from))
		}
	}
	return "{" + strings.Join(append([]string{`"rows":[` + strings.Join(rows, ",") + "]"}, members...), ",") + "}"
}

// shapes are ways to page, with pages of 4 rows where a size is asked for.
var shapes = map[string]restsource.Pages{
	"one": onePage, "cursor": cursorPages, "url": urlPages, "link": linkPages, "after": afterPages, "page": numberPages,
	"offset": offsetPages, "scroll": scrollPages,
	"func": {By: restsource.PagingFunc, Func: func(body []byte, _ http.Header) (url.Values, bool, error) {
		var answer struct{ C string } // it fails for what is no JSON
		err := json.Unmarshal(body, &answer)
		return url.Values{"c": {answer.C}}, answer.C != "", err
	}},
	"header": {By: restsource.PagingFunc, Func: func(body []byte, h http.Header) (url.Values, bool, error) {
		return url.Values{"v": {"3", "4"}, "x": {h.Get("X-Next")}}, strings.Contains(string(body), `"id":1`), nil
	}},
	"promise": {By: restsource.PagingFunc, Func: func([]byte, http.Header) (url.Values, bool, error) { return nil, true, nil }},
	"byPage":  byPage, "byOffset": byOffset, "byCursor": byCursor, "byKey": byKey, "byURL": byURL, "byLink": byLink,
	"fromZero": {By: restsource.PagingPage, Param: "page0", FromZero: true},
	"plain":    {By: restsource.PagingCursor, Param: "cursor", Next: "next"},
}

// shaped declares the table numbers by words, one of shapes and what differs from it, and returns what is
// asked of it: "page total limit=4".
func shaped(t *testing.T, words string) (tables []restsource.Table, req wire.QueryRequest) {
	t.Helper()
	tables, req = numbersTable(onePage), asks(allNumbers, words)
	table := &tables[0]
	for word := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(word, "=")
		number, _ := strconv.Atoi(value)
		switch name {
		case "more":
			table.Pages.HasMore = "more"
		case "ahead":
			table.Pages.Ahead = true
		case "unsized":
			table.Pages.SizeParam, table.Pages.Size = "", 0
		case "size":
			table.Pages = sized(table.Pages, number)
		case "resends":
			table.Pages.Resends = true
		case "end":
			table.Pages.EndStatus = number
		case "next":
			table.Pages.Next = value
		case "last":
			table.Pages.LastRowCursor = value
		case "total":
			table.Total = cmp.Or(value, "total")
		case "rows":
			table.Rows = value
		case "keyless":
			table.Key = nil
		case "filter":
			table.Filters = []restsource.Param{{Column: "id", Op: wire.OpGte, Name: "from"}}
			req.And = []wire.Filter{cond("id", wire.OpGte, wire.Int(1))}
		case "children":
			req.Table = word
		case "limit", "from", "count", "counted", "sizes", "discover", "warns":
		default:
			require.Contains(t, shapes, word)
			table.Pages = shapes[word]
		}
	}
	if req.Table == "children" {
		tables = append(tables, children())
	}
	return tables, req
}

// readings reads, counts or discovers the rows of each line of a file, as testdata/end.tsv tells. All of
// the answers are asked for, and no log quotes one.
func readings(t *testing.T, file string) {
	for _, c := range testkit.Table(t, "testdata/"+file, 5) {
		why, how, answers, asked, want := c[0], c[1], strings.Split(c[2], " | "), strings.ReplaceAll(c[3], "-", ""), c[4]
		asks := routes[strings.Fields(how)[0]]
		if asks == nil {
			asks = []string{wire.PathQuery}
		}
		for _, path := range asks {
			testkit.Bubble(t, why, func(t *testing.T) {
				tables, req := shaped(t, how)
				api := inTurn(answers...)
				tenant, log := logged(t, shopAPI, tables, api)
				got, err := toldOf(tenant, path, req)
				synctest.Wait() // the request is logged when it is over
				said := strings.ReplaceAll(log.String(), `\\`, `\`)
				assert.Equal(t, asked, strings.Join(api.takeQueries(), " "))
				assert.NotContains(t, said, secretText)
				assert.Equal(t, strings.HasSuffix(how, "warns"), strings.Contains(said, "the source warns"))
				if err == nil {
					assert.Equal(t, want, got)
					return
				}
				require.NotRegexp(t, `^\d*$`, want, "%s %s", err, said)
				assert.Contains(t, err.Error()+said, want)
				assert.NotContains(t, err.Error(), secretText)
			})
		}
	}
}

// routes are what a line of a file asks in place of the rows.
var routes = map[string][]string{
	"count": {wire.PathCount, wire.PathSize}, "counted": {wire.PathCount}, "sizes": {wire.PathSize}, "discover": {wire.PathDiscovery},
}

// toldOf asks for the rows of a table, or about them, and returns what the answer says. Rows that are 1 to so many are
// their number.
func toldOf(tenant *connectortest.Tenant, path string, req wire.QueryRequest) (string, error) {
	switch path {
	case wire.PathCount:
		n, err := tenant.Count(wire.CountRequest{Table: req.Table})
		return fmt.Sprint(n), err
	case wire.PathSize:
		size, err := tenant.Size(req.Table)
		if err != nil || !size.Exact {
			return "inexact", err
		}
		return fmt.Sprint(size.Rows), nil
	case wire.PathDiscovery:
		found, err := tenant.Discover()
		if err != nil {
			return "", err
		}
		return strings.Join(found.Warnings, " | "), nil
	}
	answer, err := tenant.Query(req)
	if err != nil {
		return "", err
	}
	ids := idsOf(answer)
	for i, id := range ids {
		if id != int64(i)+1 {
			return fmt.Sprint(ids), nil
		}
	}
	return fmt.Sprint(len(ids)), nil
}
