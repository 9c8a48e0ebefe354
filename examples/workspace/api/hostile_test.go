package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// against runs a test in virtual time against a handler.
func against(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, c *api.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Must(api.New(base, token, &api.Options{Transport: exchange.Serve(t, handler), MaxBody: 1 << 20}))(t)
		test(t, c)
	})
}

// TestHostileAnswers has answers that are not of the API, and the error of each. What may have been
// done is not asked for twice.
func TestHostileAnswers(t *testing.T) {
	names := []string{"token", token, "escaped", strings.ReplaceAll(token, "t", `\u0074`)}
	for _, row := range testkit.Table(t, "testdata/hostile.tsv", 5) {
		testkit.Bubble(t, row[0], func(t *testing.T) {
			transport, requests := exchange.Answers(t, row[2], names...)
			c := testkit.Must(api.New(base, token, &api.Options{Transport: transport, MaxBody: 1 << 20}))(t)
			call := map[string]func() error{
				"GET /v1/whoami": func() error { _, err := c.Whoami(t.Context()); return err },
				"POST /v1/chats": func() error { _, err := c.CreateChat(t.Context(), "x"); return err },
				"GET /v1/chats": func() (last error) {
					for _, err := range c.Chats(t.Context(), nil) {
						last = err
					}
					return last
				},
			}[row[1]]
			err := call()
			require.EqualError(t, err, row[1]+": "+exchange.Expand(row[4]))
			assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), token)
			assert.Equal(t, row[3], fmt.Sprint(requests.Load()))
		})
	}
}

func TestDetailsHideTheToken(t *testing.T) {
	body := fmt.Sprintf(`{"error":{"code":"VALIDATION_ERROR","message":"no","details":{"field":"%s","header":{"a":["%s"]}}}}`,
		token, strings.ReplaceAll(token, "o", `\u006f`))
	against(t, testkit.JSON(400, body), func(t *testing.T, c *api.Client) {
		_, err := c.Whoami(t.Context())
		var failure *api.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, "[redacted]", failure.Field)
		assert.JSONEq(t, `{"a":["[redacted]"]}`, string(failure.Details["header"]))
	})
}

// TestLimitBeyondTheDeadline: a budget that is empty for an hour is not waited for.
func TestLimitBeyondTheDeadline(t *testing.T) {
	against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}, func(t *testing.T, c *api.Client) {
		begun := time.Now()
		_, err := c.Whoami(t.Context())
		require.Equal(t, wire.CodeTimeout, wire.CodeOf(err))
		require.ErrorContains(t, err, "no further request for 1h0m0s")
		assert.Zero(t, time.Since(begun), "the error comes at once")
	})
}

// TestBudgetsAreApart: an empty budget of one kind does not stop another.
func TestBudgetsAreApart(t *testing.T) {
	against(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "10")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(time.Minute).Unix()))
		testkit.JSON(200, `{"data":{"id":"u1"}}`)(w, r)
	}, func(t *testing.T, c *api.Client) {
		begun := time.Now()
		require.NoError(t, c.Do(t.Context(), "POST /api/v3/contact", nil))
		testkit.Must(c.Whoami(t.Context()))(t)
		assert.Zero(t, time.Since(begun), "two budgets")
		require.NoError(t, c.Do(t.Context(), "POST /api/v3/contact", nil))
		assert.Equal(t, time.Minute, time.Since(begun), "the same budget, full again after a minute")
	})
}

// TestForeignAddresses: the token goes to the client's origin and nowhere else.
func TestForeignAddresses(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/addresses.tsv", 2) {
		var asked []string
		against(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			testkit.JSON(200, "{}")(w, r)
		}, func(t *testing.T, c *api.Client) {
			err := c.Do(t.Context(), "GET /api/v3/workflows/runs/:runId", &api.Args{URL: row[1]})
			if row[0] == "yes" {
				require.NoError(t, err, row[1])
				assert.Equal(t, []string{"/api/v3/workflows/runs/1"}, asked, row[1])
				return
			}
			require.ErrorIs(t, err, api.ErrForeign, row[1])
			assert.NotContains(t, err.Error(), "elsewhere", "an error does not repeat the address")
			assert.Empty(t, asked, row[1])
		})
	}
}

func TestNew(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/new.tsv", 3) {
		_, err := api.New(row[1], exchange.Expand(row[2], "token", token, "r", "\r", "none", ""), nil)
		require.Equal(t, row[0] == "yes", err == nil, "%s: %v", row[1], err)
		assert.NotContains(t, fmt.Sprint(err), "pw")
	}
	c := testkit.Must(api.New(base, token, nil))(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.NotContains(t, fmt.Sprintf(verb, c)+fmt.Sprintf(verb, *c), token)
	}
}

func TestArgs(t *testing.T) {
	against(t, func(_ http.ResponseWriter, r *http.Request) { t.Error("requested:", r.URL) }, func(t *testing.T, c *api.Client) {
		for _, id := range []string{"", ".", ".."} {
			_, err := c.Chat(t.Context(), id)
			assert.EqualError(t, err, `api: GET /v1/chats/:id: the parameter "id" must name one resource`)
		}
		assert.Error(t, c.Do(t.Context(), "GET /v1/whoami", &api.Args{Path: api.Path{"id": "1"}}), "a parameter that the path does not have")
		assert.Error(t, c.Do(t.Context(), "GET /v1/nothing", nil))
		assert.Error(t, c.Do(t.Context(), "POST {resume_url}", nil))
		assert.Error(t, c.Do(t.Context(), "POST /v1/chats", &api.Args{Body: func() {}}))
		_, err := c.Upload(t.Context(), api.Upload{Type: "text/plain\r\nX: y"})
		assert.Error(t, err)
		for _, err := range c.Chats(t.Context(), url.Values{"offset": {"-1"}}) {
			assert.Error(t, err)
		}
	})
}

// TestUploadBreaksOff returns the error of the file, not that of the request.
func TestUploadBreaksOff(t *testing.T) {
	against(t, func(_ http.ResponseWriter, r *http.Request) { testkit.Body(r) }, func(t *testing.T, c *api.Client) {
		_, err := c.Upload(t.Context(), api.Upload{Filename: "a", Content: iotest.ErrReader(errors.New("the disk is gone"))})
		assert.ErrorContains(t, err, "the disk is gone")
	})
}

// pages returns a transport whose server has the pages of a row of testdata/pages.tsv, and what it is asked for.
func pages(t *testing.T, row string) (http.RoundTripper, *[]string) {
	t.Helper()
	words := strings.Split(row, "~")
	asked := &[]string{}
	return exchange.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		*asked = append(*asked, query.Get("offset")+"+"+query.Get("limit"))
		testkit.JSON(200, page(t, words[min(len(*asked), len(words))-1], query.Get("offset")))(w, r)
	}), asked
}

// page returns a page in JSON.
func page(t *testing.T, words, offset string) string {
	t.Helper()
	at, _ := strconv.Atoi(offset)
	ids, rest, paginated := strings.Cut(strings.ReplaceAll(words, "$+2", strconv.Itoa(at+2)), "/")
	items := []map[string]string{}
	for id := range strings.FieldsSeq(strings.ReplaceAll(ids, "$", offset)) {
		if name, count, many := strings.Cut(id, "*"); many {
			for i := range testkit.Must(strconv.Atoi(count))(t) {
				items = append(items, map[string]string{"id": fmt.Sprint(name, i)})
			}
		} else if id == "-" {
			items = append(items, map[string]string{"name": "a tool"})
		} else {
			items = append(items, map[string]string{"id": id})
		}
	}
	envelope := map[string]any{"data": items}
	if paginated {
		more := strings.Fields(rest)
		if slices.Contains(more, "@0") {
			at = 0
		}
		envelope["pagination"] = map[string]any{
			"total": testkit.Must(strconv.Atoi(more[0]))(t), "limit": 100, "offset": at,
			"hasMore": slices.Contains(more, "more"),
		}
	}
	return string(testkit.Must(json.Marshal(envelope))(t))
}

// TestPages has lists that end, do not end, or whose items move.
func TestPages(t *testing.T) {
	lists := map[string]string{"chats": "GET /v1/chats", "tools": "GET /api/v2/assistant/tools", "dashboards": "GET /v1/dashboards"}
	for _, row := range testkit.Table(t, "testdata/pages.tsv", 7) {
		testkit.Bubble(t, row[0], func(t *testing.T) {
			transport, asked := pages(t, row[3])
			c := testkit.Must(api.New(base, token, &api.Options{Transport: transport}))(t)
			args := &api.Args{Query: testkit.Must(url.ParseQuery(row[2]))(t)}
			items, failure := 0, error(nil)
			for _, err := range api.List[json.RawMessage](t.Context(), c, lists[row[1]], args) {
				require.NoError(t, failure, "an error ends the sequence")
				if failure = err; err == nil {
					items++
				}
			}
			if row[6] == "-" {
				require.NoError(t, failure)
			} else {
				require.ErrorContains(t, failure, row[6])
			}
			moved := row[6] == "items moved" || strings.HasPrefix(row[6], "the list grew")
			assert.Equal(t, moved, errors.Is(failure, api.ErrMoved))
			assert.Equal(t, row[5], strconv.Itoa(items))
			if row[4] != "*" {
				assert.Equal(t, row[4], strings.Join(*asked, " "))
			}
		})
	}
}

// TestEarlyEnd: a caller who wants no more items asks for no second page.
func TestEarlyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, asked := pages(t, "a b / 3 more")
		c := testkit.Must(api.New(base, token, &api.Options{Transport: transport}))(t)
		for range c.Chats(t.Context(), nil) {
			break
		}
		assert.Len(t, *asked, 1)
	})
}

// TestOnePage: an answer that says that there is more is not returned as if it were
// all, unless the caller asks for a page.
func TestOnePage(t *testing.T) {
	const history = "GET /api/v2/assistant/history/:chat_id"
	against(t, testkit.JSON(200, page(t, "m1 / 2 more", "0")), func(t *testing.T, c *api.Client) {
		path := api.Path{"chat_id": "chat_1"}
		_, err := api.Call[json.RawMessage](t.Context(), c, history, &api.Args{Path: path})
		require.EqualError(t, err, history+": the answer is one page of a list that has more; read it with List")
		testkit.Must(api.Call[json.RawMessage](t.Context(), c, history, &api.Args{Path: path, Query: url.Values{"limit": {"1"}}}))(t)
	})
}

func TestEndsWithItsContext(t *testing.T) {
	against(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(t *testing.T, c *api.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Whoami(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
