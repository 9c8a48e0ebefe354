package connector_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// told is what a case expects of an observation, in few words.
func told(o connector.RequestStats) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %d %s %s %s", o.Route, o.Table, o.Status, o.Code, o.Fault, o.End)), " ")
}

// TestObserveSaysHowItEnded checks route, table, status, code, fault and the end of the stream.
func TestObserveSaysHowItEnded(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/ends.tsv", 4) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			s := played(t, c[1], connector.Options{})
			path, body := asked(c[2])
			a := s.post(path, body)
			o := s.log.last(t)
			assert.Equal(t, c[3], told(o))
			assert.Equal(t, "shop", o.Slug)
			assert.Equal(t, "POST", o.Method)
			assert.Equal(t, a.status, o.Status)
			assert.Equal(t, int64(len(a.body)), o.BytesSent, "bytes of the answer")
			if o.Code != wire.CodeNotFound {
				assert.Equal(t, int64(len(body)), o.BytesRead, "bytes of the request")
			}
			assert.NotContains(t, fmt.Sprintf("%+v", o), canary)
			require.Len(t, s.log.each(), 1, "one line for each request")
			assert.NotContains(t, s.log.each()[0], canary)
			assert.NotContains(t, s.log.each()[0], secret)
		})
	}
}

// TestObserveRefusals checks what is refused before the body is read, and the document.
func TestObserveRefusals(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/early.tsv", 5) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			s := serve(t, connectors.Source{}, nil)
			r := s.Request(t.Context(), c[2], good("/check"))
			r.Method = c[1]
			r.Header.Set("Authorization", "Bearer "+strings.Replace(c[3], "TOKEN", connectortest.Token, 1))
			s.do(r)
			o := s.log.last(t)
			assert.Equal(t, c[4], told(o))
			assert.Equal(t, strings.TrimPrefix(c[1], "CANARY"), o.Method)
			assert.Len(t, s.log.each(), 1)
		})
	}
}

// parts names what is true of a request's filters, sort and window.
func parts(s wire.Served) string {
	var list []string
	for i, part := range []bool{s.Filters, s.Sort, s.Window} {
		if part {
			list = append(list, []string{"filters", "sort", "window"}[i])
		}
	}
	return cmp.Or(strings.Join(list, ","), "nothing")
}

// TestObserveQuery checks what a query asked, what the source claimed, and the rows and times.
func TestObserveQuery(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/observed.tsv", 5) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			s := played(t, c[2], connector.Options{})
			lines := s.stream(ask(c[1], hour))
			o := s.log.last(t)
			assert.Equal(t, "end", o.End, lines)
			assert.Equal(t, c[3], strings.Join([]string{parts(o.Asked), parts(o.Claimed), parts(o.Served)}, " "))
			assert.Equal(t, c[4], fmt.Sprint(o.RowsRead, o.RowsSent, o.FirstRow, o.Duration))
		})
	}
	testkit.Bubble(t, "a count by reading", func(t *testing.T) {
		s := played(t, "Count: decline", connector.Options{})
		s.post(asked(`/count "and":[] => "and":[{"field":"id","op":"gt","value":1}]`))
		o := s.log.last(t)
		assert.Equal(t, "/count items 200", told(o))
		assert.Equal(t, []wire.Served{{Filters: true}, {}}, []wire.Served{o.Asked, o.Claimed})
		assert.Equal(t, []int64{3, 0}, []int64{o.RowsRead, o.RowsSent})
	})
}

// TestObserveLeaving checks whose fault it is that there was no last line, and how long the request took.
func TestObserveLeaving(t *testing.T) {
	const open = "source begin; rows 1; flush; wait 1000h"
	observed := func(name, words, want string, leave func(t *testing.T, s *site)) {
		testkit.Bubble(t, name, func(t *testing.T) {
			s := played(t, words, connector.Options{})
			leave(t, s)
			o := s.log.last(t)
			assert.Equal(t, want, told(o)+" "+o.Duration.String())
		})
	}
	observed("the reader leaves", open, "/query items 200 reader cut 3s", func(t *testing.T, s *site) {
		conn := s.open("/query", ask("", hour))
		time.Sleep(3 * time.Second)
		require.NoError(t, conn.Close())
	})
	observed("it leaves while nothing is written", open, "/query items 200 timeout reader cut 3s", func(t *testing.T, s *site) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		res := testkit.Must(s.Client.Do(s.Request(ctx, "/query", ask("", hour))))(t)
		defer res.Body.Close()
		testkit.Must(io.ReadFull(res.Body, make([]byte, len(all)+1)))(t)
		time.Sleep(3 * time.Second)
		leave()
		synctest.Wait()
	})
	observed("it has left before the answer", "source", "/check 408 timeout reader 0s", func(t *testing.T, s *site) {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		s.Handler.ServeHTTP(httptest.NewRecorder(), request(ctx, "/check", good("/check")))
	})
	observed("it takes nothing of an answer that is no stream", "described Aggregate: groups 1000", "/aggregate items 200 reader 20s",
		func(t *testing.T, s *site) {
			long := strings.Repeat("long ", 50)
			s.open(asked(`/aggregate "groupBy":[] => "groupBy":[{"field":"id","as":"` + long + `"}]`))
			time.Sleep(10 * time.Minute)
		})
	observed("it takes nothing", "source begin; rows 1000000", "/query items 200 reader cut 20s", func(_ *testing.T, s *site) {
		s.open("/query", ask("", hour))
		time.Sleep(time.Minute)
	})
	observed("the server stops", open, "/query items 200 timeout host error 1s", func(t *testing.T, s *site) {
		h := startServed(t, s.Handler, nil)
		answered := h.send("/query", ask("", hour))
		h.stop()
		<-answered
		assert.NoError(t, <-h.stopped)
	})
}

// TestObservePanics checks that a host's own hook cannot spoil an answer.
func TestObservePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, connectors.Source{}, &connector.Options{Observe: func(context.Context, connector.RequestStats) { panic("boom") }})
		s.alive()
		synctest.Wait()
		require.Len(t, s.log.all(), 1)
		assert.Contains(t, s.log.String(), "ERROR Options.Observe panicked slug=shop route=/check cause=boom")
	})
}

// TestRequestLine checks the line that every request has.
func TestRequestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := played(t, "Query: claim sort; begin; wait 1s; rows 5 / Count: decline", connector.Options{})
		r := s.Request(t.Context(), "/query", ask(`"or":[[{"field":"n","op":"gt","value":2}]],"limit":2,`+
			`"sort":[{"field":"n","dir":"asc"}],`, hour))
		r.Header.Set("X-Request-ID", "req-1")
		a := s.do(r)
		s.post("/check", "{")
		none := s.post("/query", ask(`"or":[[{"field":"n","op":"gt","value":9}]],`, hour))
		counted := s.post(asked("/count"))
		synctest.Wait()
		lines := s.log.each()
		require.Len(t, lines, 4)
		assert.Equal(t, fmt.Sprintf("INFO request slug=shop route=/query request=req-1 table=items status=200 end=end "+
			"asked=filters,sort,window claimed=sort rowsRead=4 rowsSent=2 firstRow=1s bytes=%d duration=1s", len(a.body)), lines[0])
		assert.Regexp(t, `^INFO request slug=shop route=/check request=[a-z2-7]{26} status=400 code=bad_request fault=caller `+
			`bytes=\d+ duration=0s$`, lines[1])
		assert.Contains(t, lines[2], fmt.Sprintf(" end=end asked=filters rowsRead=5 rowsSent=0 bytes=%d duration=1s", len(none.body)))
		assert.Contains(t, lines[3], fmt.Sprintf(" table=items status=200 rowsRead=5 rowsSent=0 bytes=%d duration=1s",
			len(counted.body)))

		empty := serve(t, plays("begin"), nil)
		body := empty.post("/query", ask(`"sort":[{"field":"n","dir":"asc"}],`, hour)).body
		synctest.Wait()
		assert.Contains(t, empty.log.each()[0],
			fmt.Sprintf(" table=items status=200 end=end asked=sort rowsRead=0 rowsSent=0 bytes=%d duration=0s", len(body)),
			"a stream says so when no row came")
	})
}

// TestRequestID checks which ids are taken, and where they come out.
func TestRequestID(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	spelled := strings.NewReplacer("TRACE", trace, "UPPER", strings.ToUpper(trace), "LONGEST", strings.Repeat("a", 128),
		"TOKEN", connectortest.Token)
	for _, c := range testkit.Table(t, "testdata/requestids.tsv", 4) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			var ids []string
			require.NoError(t, json.Unmarshal([]byte(spelled.Replace(c[1])), &ids))
			var inside string
			s := serve(t, connectors.Source{OnCheck: func(ctx context.Context, _ *wire.CheckRequest) error {
				inside = connector.RequestID(ctx)
				return errors.New("boom")
			}}, nil)
			r := s.Request(t.Context(), "/check", good("/check"))
			r.Header["X-Request-Id"] = ids
			r.Header["Traceparent"] = strings.Fields(spelled.Replace(c[2]))
			echoed := s.do(r).header.Get("X-Request-ID")
			if want := spelled.Replace(c[3]); want != "" {
				assert.Equal(t, want, echoed)
			} else {
				assert.Regexp(t, "^[a-z2-7]{26}$", echoed)
			}
			assert.Equal(t, echoed, inside, "in the source's context")
			assert.Equal(t, echoed, s.log.last(t).RequestID)
			assert.Contains(t, s.log.each()[0], "request="+echoed+" ")
		})
	}
	assert.Empty(t, connector.RequestID(t.Context()), "outside of a request")
}

// TestRequestIDIsACredential checks that a caller who sends a credential as the id does not bring it into the log.
func TestRequestIDIsACredential(t *testing.T) {
	var seen []connector.RequestStats
	var log strings.Builder
	h := newHandler(plays("boom"), &connector.Options{
		Observe: func(_ context.Context, o connector.RequestStats) { seen = append(seen, o) },
		Logger:  slog.New(slog.NewTextHandler(&log, nil)),
	})
	r := request(t.Context(), "/query", strings.Replace(good("/query"), `"items"`, `"`+secret+`"`, 1))
	r.Header.Set("X-Request-ID", secret)
	h.ServeHTTP(httptest.NewRecorder(), r)
	require.Len(t, seen, 1)
	assert.Equal(t, "[redacted]", seen[0].RequestID)
	assert.NotContains(t, fmt.Sprintf("%+v", seen), secret)
	assert.NotContains(t, log.String(), secret)
	assert.Contains(t, log.String(), `msg="internal error" slug=shop route=/query request=[redacted] table=[redacted] `)
	assert.Contains(t, log.String(), "msg=request slug=shop route=/query request=[redacted] status=500 ")
}

// TestNoLineBelowInfo checks that a logger of warnings gets no requests.
func TestNoLineBelowInfo(t *testing.T) {
	var log strings.Builder
	get(t, newHandler(connectors.Source{}, &connector.Options{
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}))
	assert.Empty(t, log.String())
}
