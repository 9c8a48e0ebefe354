package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
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

func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// TestHostileAnswers has answers that are not of the API, and the error of each.
func TestHostileAnswers(t *testing.T) {
	escaped := strings.ReplaceAll(token, "t", `\u0074`)
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"HTML", answer(200, "text/html; charset=utf-8", "<html>"+token),
			"GET /v1/whoami: the answer is HTML; is the base address that of the API?"},
		{"half a JSON", answer(200, "application/json", `{"data":{"id":"u1","email":"`+token),
			"GET /v1/whoami: the answer is not JSON, or only a part of it"},
		{"two values", answer(200, "application/json", `{"data":{"id":"u1"}}{}`),
			"GET /v1/whoami: the answer is not JSON, or only a part of it"},
		{"no object", answer(200, "application/json", `["`+token+`"]`),
			`GET /v1/whoami: the answer is not an object with a member "data"`},
		{"no data", answer(200, "application/json", `{"id":"u1"}`),
			`GET /v1/whoami: the answer is not an object with a member "data"`},
		{"no id", answer(200, "application/json", `{"data":{"name":"Ada"}}`),
			"GET /v1/whoami: an object has no id"},
		{"null", answer(200, "application/json", `{"data":null}`),
			"GET /v1/whoami: an object has no id"},
		{"another type", answer(200, "application/json", `{"data":{"id":"u1","name":["`+token+`"]}}`),
			`GET /v1/whoami: the member "name" is not a string`},
		{"text that is not a time", answer(200, "application/json", `{"data":{"id":"u1","created_at":"`+token+`"}}`),
			"GET /v1/whoami: a member has a value that its type does not take"},
		{"no content", answer(204, "", ""),
			"GET /v1/whoami: the answer has no content"},
		{"another success", answer(202, "application/json", `{"data":{"id":"u1"}}`),
			"GET /v1/whoami: the document knows no success with the status 202"},
		{"too large", answer(200, "application/json", `{"data":"`+strings.Repeat("x", 1<<20)+`"}`),
			"GET /v1/whoami: the answer is larger than 1048576 bytes"},
		{"500 with the token", answer(500, "text/plain", "panic: Authorization: Bearer "+token),
			"GET /v1/whoami: status 500: server error"},
		{"500 with the token in the envelope", answer(500, "application/json",
			`{"error":{"code":"`+token+`","message":"Bearer `+escaped+"\\nx"+`"}}`),
			"GET /v1/whoami: status 500 [redacted]: Bearer [redacted] x"},
		{"a status that is not shown", answer(418, "text/plain", "teapot"),
			"GET /v1/whoami: status 418: the document does not name this status here; is the base address that of the API?"},
		{"404 of an endpoint that names no resource", answer(404, "text/html", "nginx"),
			"GET /v1/whoami: status 404: the document does not name this status here; is the base address that of the API?"},
		{"a long message", answer(400, "application/json", `{"error":{"message":"`+strings.Repeat("é", 1000)+`"}}`),
			"GET /v1/whoami: status 400: " + strings.Repeat("é", 250) + "..."},
		{"502 for ever", answer(502, "text/html", token),
			"GET /v1/whoami: status 502: the document does not name this status here; is the base address that of the API?"},
		{"a redirect elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.net/"+token, http.StatusTemporaryRedirect)
		}, "GET /v1/whoami: the API redirects; the client does not follow, because its token could go elsewhere"},
		{"a body that breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"data":{"id":"u1"`))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "GET /v1/whoami: the answer broke off"},
		{"a hang before the answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"GET /v1/whoami: no answer: context deadline exceeded"},
		{"a hang within the answer", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(`{"data":`))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "GET /v1/whoami: no answer: context deadline exceeded"},
		{"429 for ever", answer(429, "application/json", `{"error":{"code":"RATE_LIMITED","message":"slow down"}}`),
			"GET /v1/whoami: status 429 RATE_LIMITED: slow down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			against(t, tt.handler, func(t *testing.T, c *api.Client) {
				_, err := c.Whoami(t.Context())
				require.EqualError(t, err, tt.want)
				assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), token)
			})
		})
	}
}

func TestDetailsHideTheToken(t *testing.T) {
	body := fmt.Sprintf(`{"error":{"code":"VALIDATION_ERROR","message":"no","details":{"field":"%s","header":{"a":["%s"]}}}}`,
		token, strings.ReplaceAll(token, "o", `\u006f`))
	against(t, answer(400, "application/json", body), func(t *testing.T, c *api.Client) {
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
		answer(200, "application/json", `{"data":{"id":"u1"}}`)(w, r)
	}, func(t *testing.T, c *api.Client) {
		begun := time.Now()
		require.NoError(t, c.Do(t.Context(), "POST /api/v3/contact", nil))
		testkit.Must(c.Whoami(t.Context()))(t)
		assert.Zero(t, time.Since(begun), "two budgets")
		require.NoError(t, c.Do(t.Context(), "POST /api/v3/contact", nil))
		assert.Equal(t, time.Minute, time.Since(begun), "the same budget, full again after a minute")
	})
}

// TestNothingIsDoneTwice: a request that may have been carried out is not repeated.
func TestNothingIsDoneTwice(t *testing.T) {
	for name, fail := range map[string]http.HandlerFunc{
		"502":     answer(502, "text/plain", "x"),
		"breaks":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"answers": answer(200, "text/plain", "x"),
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			against(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				fail(w, r)
			}, func(t *testing.T, c *api.Client) {
				_, err := c.CreateChat(t.Context(), "x")
				require.Error(t, err)
				assert.Equal(t, 1, requests)
				if name == "breaks" {
					assert.ErrorContains(t, err, "the API may have done what was asked")
				}
			})
		})
	}
}

// TestForeignAddresses: the token goes to the client's origin and nowhere else.
func TestForeignAddresses(t *testing.T) {
	for _, address := range []string{
		"https://elsewhere.example.net/api/v3/workflows/runs/1",
		"http://platform.example.com/api/v3/workflows/runs/1",
		"https://platform.example.com:8443/api/v3/workflows/runs/1",
		"https://platform.example.com@elsewhere.example.net/",
		"https://user:pw@platform.example.com/api/v3/workflows/runs/1",
		"https://platform.example.com.elsewhere.example.net/",
		"//elsewhere.example.net/api/v3/workflows/runs/1",
		"file:///etc/passwd",
		"javascript:alert(1)",
	} {
		against(t, func(http.ResponseWriter, *http.Request) { t.Errorf("requested: %s", address) }, func(t *testing.T, c *api.Client) {
			err := c.Do(t.Context(), "GET /api/v3/workflows/runs/:runId", &api.Args{URL: address})
			assert.ErrorIs(t, err, api.ErrForeign, address)
			assert.NotContains(t, err.Error(), "elsewhere", "an error does not repeat the address")
		})
	}
	for _, address := range []string{
		"https://platform.example.com/api/v3/workflows/runs/1",
		"https://PLATFORM.example.com:443/api/v3/workflows/runs/1",
		"/api/v3/workflows/runs/1",
	} {
		var asked string
		against(t, func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Path
			answer(200, "application/json", "{}")(w, r)
		}, func(t *testing.T, c *api.Client) {
			require.NoError(t, c.Do(t.Context(), "GET /api/v3/workflows/runs/:runId", &api.Args{URL: address}))
			assert.Equal(t, "/api/v3/workflows/runs/1", asked)
		})
	}
}

func TestNew(t *testing.T) {
	for _, bad := range []string{"", "platform.example.com", "http://platform.example.com", "ftp://platform.example.com",
		"https://user:pw@platform.example.com", "https://platform.example.com?x=1", "https://platform.example.com#x", "https://",
		"http://10.0.0.1", "http://localhost.example.com", "://"} {
		_, err := api.New(bad, token, nil)
		require.Error(t, err, bad)
		assert.NotContains(t, err.Error(), "pw")
	}
	for _, good := range []string{"https://platform.example.com/", "https://platform.example.com/below",
		"http://localhost:8080", "http://127.0.0.1:1", "http://[::1]:1"} {
		testkit.Must(api.New(good, token, nil))(t, good)
	}
	for _, bad := range []string{"", "a b", "a\r\nX: y", "é"} {
		_, err := api.New(base, bad, nil)
		require.Error(t, err, "%q", bad)
	}
	c := testkit.Must(api.New(base, token, nil))(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.NotContains(t, fmt.Sprintf(verb, c), token)
		assert.NotContains(t, fmt.Sprintf(verb, *c), token)
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

// TestUploadOfUnknownSize sends what a reader has, to its end.
func TestUploadOfUnknownSize(t *testing.T) {
	var got string
	against(t, func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err == nil {
			text := make([]byte, 100)
			n, _ := file.Read(text)
			got = string(text[:n])
		}
		answer(201, "application/json", `{"data":{"id":"f1"}}`)(w, r)
	}, func(t *testing.T, c *api.Client) {
		testkit.Must(c.Upload(t.Context(), api.Upload{Filename: "a", Content: strings.NewReader("some bytes")}))(t)
		assert.Equal(t, "some bytes", got)
		_, err := c.Upload(t.Context(), api.Upload{Filename: "a", Content: failing{}})
		assert.ErrorContains(t, err, "the disk is gone")
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// pages is an API with a list that changes while it is read.
func pages(page func(offset, limit int) (ids []string, pagination string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var offset, limit int
		_, _ = fmt.Sscan(r.URL.Query().Get("offset"), &offset)
		_, _ = fmt.Sscan(r.URL.Query().Get("limit"), &limit)
		ids, pagination := page(offset, limit)
		items := []map[string]string{}
		for _, id := range ids {
			items = append(items, map[string]string{"id": id})
		}
		text, _ := json.Marshal(items)
		body := `{"data":` + string(text)
		if pagination != "" {
			body += `,"pagination":` + pagination
		}
		answer(200, "application/json", body+"}")(w, r)
	}
}

func paginated(total, offset int, more bool) string {
	return fmt.Sprintf(`{"total":%d,"limit":100,"offset":%d,"hasMore":%t}`, total, offset, more)
}

// TestHostilePages has lists that do not end, or whose items move.
func TestHostilePages(t *testing.T) {
	number := func(i int) string { return fmt.Sprint("id", i) }
	tests := []struct {
		name  string
		page  func(offset, limit int) ([]string, string)
		want  string // in the error
		items int    // before it
	}{
		{"the same page again", func(int, int) ([]string, string) { return []string{"a", "b"}, "" }, "items moved", 2},
		{"the same page again, as another offset", func(offset, _ int) ([]string, string) {
			return []string{"a", "b"}, paginated(100, offset, true)
		}, "items moved", 2},
		{"the offset is ignored", func(int, int) ([]string, string) {
			return []string{"a", "b"}, paginated(100, 0, true)
		}, "the API answers from offset 0 instead of 2", 2},
		{"an item moved to the next page", func(offset, _ int) ([]string, string) {
			if offset == 0 {
				return []string{"a", "b"}, paginated(4, 0, true)
			}
			return []string{"b", "c"}, paginated(4, offset, false)
		}, "items moved", 2},
		{"an item was removed", func(offset, _ int) ([]string, string) {
			if offset == 0 {
				return []string{"a", "b"}, paginated(4, 0, true)
			}
			return []string{"d"}, paginated(3, offset, false)
		}, "the list grew or shrank from 4 items to 3", 2},
		{"an item was added, for ever", func(offset, _ int) ([]string, string) {
			return []string{number(offset)}, paginated(offset+2, offset, true)
		}, "the list grew or shrank from 2 items to 3", 1},
		{"empty pages for ever", func(offset, _ int) ([]string, string) {
			return nil, paginated(10, offset, true)
		}, "an empty page says that there are more items", 0},
		{"more than all", func(offset, _ int) ([]string, string) {
			return []string{number(offset)}, paginated(1, offset, true)
		}, "the list has 1 items, but hasMore is true after 1", 0},
		{"less than all", func(offset, _ int) ([]string, string) {
			return []string{number(offset)}, paginated(5, offset, false)
		}, "the list has 5 items, but hasMore is false after 1", 0},
		{"endless pages without pagination", func(offset, _ int) ([]string, string) {
			return []string{number(offset)}, ""
		}, "the list does not end within 10000 pages", 10_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			against(t, pages(tt.page), func(t *testing.T, c *api.Client) {
				items := 0
				var failure error
				for _, err := range c.Chats(t.Context(), nil) {
					require.NoError(t, failure, "an error ends the sequence")
					if failure = err; err == nil {
						items++
					}
				}
				require.ErrorContains(t, failure, tt.want)
				assert.Equal(t, tt.items, items)
				assert.Equal(t, tt.want == "items moved" || strings.HasPrefix(tt.want, "the list grew"), errors.Is(failure, api.ErrMoved))
			})
		})
	}
}

func TestPages(t *testing.T) {
	var asked []string
	handler := pages(func(offset, limit int) ([]string, string) {
		asked = append(asked, fmt.Sprint(offset, "+", limit))
		switch offset {
		case 0:
			return []string{"a", "b"}, paginated(3, 0, true)
		case 2:
			return []string{"c"}, paginated(3, 2, false)
		}
		return nil, paginated(3, offset, false)
	})
	against(t, handler, func(t *testing.T, c *api.Client) {
		assert.Len(t, all(t, c.Chats(t.Context(), nil)), 3)
		assert.Equal(t, []string{"0+100", "2+100"}, asked, "the largest pages; no page that is known to be empty")
		for range c.Chats(t.Context(), nil) {
			break
		}
		assert.Len(t, asked, 3, "nobody wants the second page")
		assert.Empty(t, all(t, c.Chats(t.Context(), url.Values{"offset": {"7"}})), "an offset behind the end")
	})
	against(t, answer(200, "application/json", `{"data":{"id":"x"}}`), func(t *testing.T, c *api.Client) {
		for _, err := range c.Chats(t.Context(), nil) {
			assert.EqualError(t, err, "GET /v1/chats: the answer is not a list")
		}
	})
}

// TestPagesWithoutIDs: of items that the document does not show, only a page that
// comes again can be told.
func TestPagesWithoutIDs(t *testing.T) {
	against(t, answer(200, "application/json", `{"data":[{"name":"a tool"}]}`), func(t *testing.T, c *api.Client) {
		items := 0
		var failure error
		for _, err := range api.List[json.RawMessage](t.Context(), c, "GET /api/v2/assistant/tools", nil) {
			if failure = err; err == nil {
				items++
			}
		}
		require.ErrorIs(t, failure, api.ErrMoved)
		assert.Equal(t, 1, items)
	})
}

// TestWholeList: a list of which no parameters are shown is read in pages, or is one
// page if it answers the same to every offset.
func TestWholeList(t *testing.T) {
	against(t, answer(200, "application/json", `{"data":[{"id":"a"}]}`), func(t *testing.T, c *api.Client) {
		assert.Len(t, all(t, c.Dashboards(t.Context())), 1)
	})
	handler := pages(func(offset, _ int) ([]string, string) {
		return []string{fmt.Sprint("id", offset)}, paginated(2, offset, offset == 0)
	})
	against(t, handler, func(t *testing.T, c *api.Client) {
		assert.Len(t, all(t, c.Dashboards(t.Context())), 2)
	})
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprint("id", i)
	}
	against(t, pages(func(int, int) ([]string, string) { return ids, "" }), func(t *testing.T, c *api.Client) {
		var failure error
		for _, err := range c.Dashboards(t.Context()) {
			failure = err
		}
		require.ErrorIs(t, failure, api.ErrMoved, "a full page that comes again is not the whole list")
	})
}

// TestOnePage: an answer that says that there is more is not returned as if it were
// all, unless the caller asks for a page.
func TestOnePage(t *testing.T) {
	const history = "GET /api/v2/assistant/history/:chat_id"
	handler := pages(func(offset, _ int) ([]string, string) { return []string{"m1"}, paginated(2, offset, true) })
	against(t, handler, func(t *testing.T, c *api.Client) {
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
