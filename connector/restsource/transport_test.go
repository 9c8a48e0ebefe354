package restsource_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// answers answers with a status and headers, and without a body.
func answers(status int, headers ...string) testkit.Transport { return always(status, "", headers...) }

var (
	unknownHost = testkit.Fails(&net.DNSError{IsNotFound: true})
	breaks      = testkit.Fails(errors.New("connection reset"))
)

// get sends one request and closes the answer.
func get(ctx context.Context, transport *restsource.Transport, query string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example/"+query, nil)
	if err != nil {
		return 0, err
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

func seconds(s ...float64) []time.Duration {
	all := make([]time.Duration, len(s))
	for i := range s {
		all[i] = time.Duration(s[i] * float64(time.Second))
	}
	return all
}

// TestTransport checks when a request is sent again, in virtual time.
func TestTransport(t *testing.T) {
	type list = []testkit.Transport
	ok := answers(200)
	// The clock of a bubble begins in the year 2000.
	reset := func(after time.Duration) string {
		return fmt.Sprintf("X-RateLimit-Reset: %d", time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(after).Unix())
	}
	for _, c := range []struct {
		name, method string
		answers      list
		asked        []time.Duration
		status       int // 0: an error
		why          string
	}{
		{"good", "GET", list{ok}, seconds(0), 200, ""},
		{"not found", "GET", list{answers(404)}, seconds(0), 404, "another attempt changes nothing"},
		{"internal", "GET", list{answers(500), ok}, seconds(0), 500, "a 500 stays"},
		{"bad gateway", "GET", list{answers(502), answers(504), ok}, seconds(0, 0.5, 1.5), 200, ""},
		{"unavailable for ever", "GET", list{answers(503)}, seconds(0, 0.5, 1.5, 3.5, 7.5), 503, "five attempts"},
		{"unavailable for a while", "GET", list{answers(503, "Retry-After: 7"), ok}, seconds(0, 7), 200, ""},
		{"unavailable to HEAD", "HEAD", list{answers(503), ok}, seconds(0, 0.5), 200, "HEAD changes nothing"},
		{"unavailable without a method", "", list{answers(503), ok}, seconds(0, 0.5), 200, "the empty method is GET"},
		{"unavailable to a DELETE", "DELETE", list{answers(503), ok}, seconds(0), 503, "it may have been done"},
		{"unavailable to a POST", "POST", list{answers(503), ok}, seconds(0), 503, "it may have been done"},
		{"unavailable to a POST that reads", "POST reads", list{answers(502), answers(503), answers(504), ok}, seconds(0, 0.5, 1.5, 3.5), 200,
			"the caller says that it changes nothing"},
		{"broken POST that reads", "POST reads", list{breaks, ok}, seconds(0, 0.5), 200, "the caller says that it changes nothing"},
		{"broken for ever", "GET", list{breaks}, seconds(0, 0.5, 1.5, 3.5, 7.5), 0, ""},
		{"broken POST", "POST", list{breaks, ok}, seconds(0), 0, "it may have been done"},
		{"no answer of the resolver", "GET", list{testkit.Fails(&net.DNSError{IsTimeout: true}), ok}, seconds(0, 0.5), 200,
			"it may answer later"},
		{"a private address", "GET", list{testkit.Fails(&netguard.Error{Kind: "private"})}, seconds(0), 0, "it stays private"},
		{"no recording", "GET", list{testkit.Fails(&recording.Missing{})}, seconds(0), 0, "nobody records it meanwhile"},
		{"a wrong certificate", "GET", list{testkit.Fails(&tls.CertificateVerificationError{Err: io.EOF})}, seconds(0), 0, "it stays wrong"},
		{"no such host", "GET", list{unknownHost}, seconds(0), 0, "it will not appear"},
		{"limited", "GET", list{answers(429), ok}, seconds(0, 0.5), 200, ""},
		{"limited POST", "POST", list{answers(429, "Retry-After: 2"), ok}, seconds(0, 2), 200, "it has not been done"},
		{"limited until a date", "GET", list{answers(429, "Retry-After: Sat, 01 Jan 2000 00:00:09 GMT"), ok}, seconds(0, 9), 200, ""},
		{"limited until a date of another clock", "GET",
			list{answers(429, "Date: Sat, 01 Jan 2022 00:00:00 GMT", "Retry-After: Sat, 01 Jan 2022 00:00:05 GMT"), ok}, seconds(0, 5), 200, ""},
		{"limited for no time", "GET", list{answers(429, "Retry-After: 0")}, seconds(0, 0.5, 1.5, 3.5, 7.5), 429, "it does not hammer"},
		{"limited for no time, with a reset", "GET", list{answers(429, "Retry-After: 0", "RateLimit-Reset: 30"), ok}, seconds(0, 0.5), 200,
			"Retry-After is about this request, the reset about all"},
		{"limited for less than no time", "GET", list{answers(429, "Retry-After: -1", "RateLimit-Reset: 30"), ok}, seconds(0, 30), 200,
			"it says nothing, so the reset counts"},
		{"limited until a date that is over", "GET",
			list{answers(429, "Retry-After: Fri, 31 Dec 1999 23:00:00 GMT", "RateLimit-Reset: 30"), ok}, seconds(0, 0.5), 200, "as for no time"},
		{"limited until a reset that is over", "GET", list{answers(429, reset(-time.Hour)), ok}, seconds(0, 0.5), 200, "it does not hammer"},
		{"limited until the reset", "GET", list{answers(429, reset(11*time.Second)), ok}, seconds(0, 11), 200, ""},
		{"limited for a week", "GET", list{answers(429, "RateLimit-Reset: 604800"), ok}, seconds(0), 0, "seconds, and not a time in 1970"},
		{"limited until a time of long ago", "GET", list{answers(429, "Date: Sat, 31 Jan 1970 00:00:00 GMT", "X-RateLimit-Reset: 2592008"), ok},
			seconds(0, 8), 200, "a time, and not seconds: no budget lasts a month"},
		{"limited by names with more hyphens", "GET", list{answers(429, "X-Rate-Limit-Reset:  9 "), ok}, seconds(0, 9), 200, ""},
		{"limited until the reset, in milliseconds", "GET", list{answers(429, reset(11*time.Second)+"000"), ok}, seconds(0, 11), 200, ""},
		{"limited until the reset of another clock", "GET",
			list{answers(429, "Date: Sat, 01 Jan 2022 00:00:00 GMT", "X-RateLimit-Reset: 1640995206"), ok}, seconds(0, 6), 200, ""},
		{"limited until the reset, in seconds", "GET", list{answers(429, "RateLimit-Reset: 12"), ok}, seconds(0, 12), 200, ""},
		{"limited for longer than the deadline", "GET", list{answers(429, "Retry-After: 61"), ok}, seconds(0), 0, "waiting would be in vain"},
		{"limited for longer than a duration", "GET", list{answers(429, "Retry-After: 99999999999999999"), ok}, seconds(0), 0, ""},
		{"limited by a strange header", "GET", list{answers(429, "Retry-After: soon", "X-RateLimit-Reset: -5"), ok}, seconds(0, 0.5), 200, ""},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := following(c.answers...)
			method, _, reads := strings.Cut(c.method, " ")
			r, err := http.NewRequestWithContext(ctx, method, "https://api.example/", nil)
			if method == http.MethodPost {
				r, err = http.NewRequestWithContext(ctx, method, "https://api.example/", strings.NewReader("question"))
			}
			require.NoError(t, err)
			r.Method = method // the empty one too
			if reads {
				r.Header["Idempotency-Key"] = nil
			}
			res, err := (&restsource.Transport{Base: s}).RoundTrip(r)
			assert.Equal(t, c.asked, s.asked, c.why)
			for _, body := range s.bodies {
				assert.Equal(t, method == http.MethodPost, body == "question", "each attempt has the whole body")
			}
			if c.status == 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.status, res.StatusCode)
			_ = res.Body.Close()
		})
	}
}

// TestPace spreads requests over the time that a budget has to last.
func TestPace(t *testing.T) {
	budget := func(limit, remaining, reset int) testkit.Transport {
		return answers(200, fmt.Sprintf("X-RateLimit-Limit: %d", limit), fmt.Sprintf("X-RateLimit-Remaining: %d", remaining),
			fmt.Sprintf("X-RateLimit-Reset: %d", reset))
	}
	until := func(remaining, second int) testkit.Transport { // of the bubble
		return answers(200, fmt.Sprintf("X-RateLimit-Remaining: %d", remaining),
			fmt.Sprintf("X-RateLimit-Reset: %d", time.Date(2000, 1, 1, 0, 0, second, 0, time.UTC).Unix()))
	}
	at := func(remaining int) testkit.Transport { return until(remaining, 40) }
	type list = []testkit.Transport
	for _, c := range []struct {
		name    string
		answers list
		asked   []time.Duration
		failed  bool
		why     string
	}{
		{"plenty", list{budget(60, 59, 60), budget(60, 58, 60), budget(60, 57, 60), budget(60, 56, 60)}, seconds(0, 0, 0, 0, 0),
			false, "small reads do not wait"},
		{"little", list{budget(60, 4, 40), budget(60, 3, 40), budget(60, 2, 30), budget(60, 1, 20)}, seconds(0, 0, 10, 20, 30),
			false, "40 seconds for 4 requests"},
		{"little, in one header", list{answers(200, "RateLimit: limit=60, remaining=4, reset=40"), answers(200)}, seconds(0, 0, 10, 20, 30),
			false, "as the drafts up to the seventh have it"},
		{"little of the first of two budgets", list{answers(200, `RateLimit-Policy: "day";q=1000;w=86400, "burst";q=60;w=1`,
			`RateLimit: "burst";r=4;t=40, "day";r=900;t=40000`), answers(200)}, seconds(0, 0, 10, 20, 30), false, "their order means nothing"},
		{"two headers", list{answers(200, `RateLimit-Policy: "day";q=1000;w=86400`, `RateLimit-Policy: "burst";q=60;w=1`,
			`RateLimit: "day";r=900;t=40000`, `RateLimit: "burst";r=4;t=40`), answers(200)}, seconds(0, 0, 10, 20, 30), false, "they are one list"},
		{"one header without a policy", list{answers(200, `RateLimit: "burst";r=4;t=40`), answers(200)}, seconds(0, 0, 0, 0, 20),
			false, "the most that was left is the limit"},
		{"one header that cannot be read", list{answers(200, `RateLimit: "day";r=few;t=40, remaining, ;;=`), answers(200)},
			seconds(0, 0, 0, 0, 0), false, "it says nothing"},
		{"none", list{budget(60, 0, 17), budget(60, 59, 60)}, seconds(0, 17, 17, 17, 17), false, "it waits for the next budget"},
		{"none for too long", list{budget(60, 0, 300)}, seconds(0), true, "the deadline is in a minute"},
		{"answers in any order", list{at(2), at(9), at(1), at(0), at(9)}, seconds(0, 0, 0, 40, 40), false, "the smallest number is the newest"},
		{"an unknown limit", list{at(8), at(2), at(1), at(5)}, seconds(0, 0, 0, 20, 40), false, "the most that was left is the limit"},
		{"half", list{budget(60, 31, 60), budget(60, 30, 60), budget(60, 29, 58)}, seconds(0, 0, 0, 0, 2), false,
			"the requests are spread once less than half is left"},
		{"refused with much left", list{budget(60, 50, 300), answers(429, "Retry-After: 7"), budget(60, 49, 293)}, seconds(0, 0, 7, 7, 7, 7),
			false, "Retry-After holds, and not the reset of the budget"},
		{"a number without a reset", list{budget(60, 4, 40), answers(200, "X-RateLimit-Remaining: 0"), budget(60, 2, 30)},
			seconds(0, 0, 10, 20, 30), false, "it says nothing, so the numbers before it hold"},
		{"a budget of each second", list{budget(10, 0, 1), budget(10, 9, 1)}, seconds(0, 1, 1, 1, 1), false, "the second is over"},
		{"resets that were rounded", list{until(2, 40), until(9, 41)}, seconds(0, 0, 0, 41, 41), false, "a second apart is the same budget"},
		{"a later budget", list{until(2, 40), until(9, 42)}, seconds(0, 0, 0, 0, 0), false, "two seconds apart is another one"},
		{"a budget that ends sooner than it was said to", list{budget(60, 4, 59), budget(60, 4, 8), budget(60, 3, 8)},
			seconds(0, 0, 0, 2, 4), false, "no request waits for the end of a budget that is no more"},
		{"little for too long", list{budget(60, 4, 3000)}, seconds(0, 0, 0, 0, 0), false, "a request goes at once rather than too late"},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := following(c.answers...)
			transport := &restsource.Transport{Base: s}
			var failed error
			for range 5 {
				if _, failed = get(ctx, transport, ""); failed != nil {
					break
				}
			}
			assert.Equal(t, c.asked, s.asked, c.why)
			if assert.Equal(t, c.failed, wire.CodeOf(failed) == wire.CodeTimeout) && c.failed {
				assert.Equal(t, "restsource: the API takes no further request for 5m0s, and the deadline comes before that", failed.Error())
			}
		})
	}
}

// TestPaceLonger: whoever waits for the end of a refusal asks again whether another
// one has come meanwhile. The shorter one does not take the longer one back.
func TestPaceLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var mu sync.Mutex
		var asked []time.Duration
		transport := &restsource.Transport{Base: testkit.Transport(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			asked = append(asked, time.Since(begun))
			first := time.Since(begun) < 5*time.Second
			mu.Unlock()
			after := r.URL.Query().Get("after")
			switch {
			case !first:
				return reply(200, ""), nil
			case after == "12":
				time.Sleep(time.Second)
			case after == "25":
				time.Sleep(5 * time.Second)
			case after == "10":
				time.Sleep(6 * time.Second)
			}
			return reply(429, "", "Retry-After: "+after), nil
		})}
		var all sync.WaitGroup
		for _, after := range []string{"12", "25", "10"} { // refused at 1, 5 and 6, until 13, 30 and 16
			all.Go(func() {
				_, err := get(t.Context(), transport, "?after="+after)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		assert.Equal(t, seconds(0, 0, 0, 30, 30, 30), asked)
	})
}

// TestTransportCancelled: a request that is over asks nothing more, and fails with the
// cause.
func TestTransportCancelled(t *testing.T) {
	over := errors.New("the reader left")
	type list = []testkit.Transport
	for _, c := range []struct {
		name    string
		answers list
		after   time.Duration // until it is over
		asked   []time.Duration
	}{
		{"before", list{answers(200)}, 0, nil},
		{"while it waits for the budget", list{answers(429, "Retry-After: 9"), answers(200)}, time.Second, seconds(0)},
		{"while it waits for its turn", list{answers(200, "RateLimit: limit=60, remaining=4, reset=40")}, time.Second, seconds(0, 0)},
		{"while it waits for the server", list{answers(502)}, 2 * time.Second, seconds(0, 0.5, 1.5)},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			if c.after == 0 {
				cancel(over)
			}
			time.AfterFunc(c.after, func() { cancel(over) })
			s := following(c.answers...)
			transport := &restsource.Transport{Base: s}
			var err error
			for range 3 {
				if _, err = get(ctx, transport, ""); err != nil {
					break
				}
			}
			require.ErrorIs(t, err, over)
			assert.Equal(t, c.asked, s.asked)
		})
	}
}

// TestUnlimited: without a deadline, a request waits for minutes and not for hours.
func TestUnlimited(t *testing.T) {
	for after, waits := range map[string]bool{"600": true, "601": false} {
		synctest.Test(t, func(t *testing.T) {
			s := following(answers(429, "Retry-After: "+after), answers(200))
			_, err := get(t.Context(), &restsource.Transport{Base: s}, "")
			if !waits {
				require.Equal(t, wire.CodeTimeout, wire.CodeOf(err))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, seconds(0, 600), s.asked)
		})
	}
}

// unrepeatable is a body that is there once.
type unrepeatable struct{ io.Reader }

// TestOnce: a request whose body cannot be read again is sent once, whatever comes.
func TestOnce(t *testing.T) {
	for status, answer := range map[int]testkit.Transport{
		429: answers(429, "Retry-After: 1"), 503: answers(503), 0: breaks,
	} {
		s := following(answer, answers(200))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example/", unrepeatable{strings.NewReader("question")})
		require.NoError(t, err)
		res, err := (&restsource.Transport{Base: s}).RoundTrip(r)
		assert.Len(t, s.asked, 1)
		if status == 0 {
			require.ErrorContains(t, err, "connection reset")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, status, res.StatusCode)
		_ = res.Body.Close()
	}
}

// closing counts the bodies that are closed.
type closing struct {
	io.Reader
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

// TestBodiesAreClosed: an answer that is followed by another attempt keeps no
// connection, and no more than a little of it is read.
func TestBodiesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for status, attempts := range map[int]int{429: 5, 502: 5} {
			closed, asked, read := 0, 0, &io.LimitedReader{R: endless{}, N: 1 << 30}
			transport := &restsource.Transport{Base: testkit.Transport(func(*http.Request) (*http.Response, error) {
				asked++
				res := reply(status, "")
				res.Body = closing{read, &closed}
				return res, nil
			})}
			r := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example/", nil))(t)
			res := testkit.Must(transport.RoundTrip(r))(t)
			assert.Equal(t, attempts-1, closed, "all but the last")
			assert.Equal(t, attempts, asked)
			assert.Positive(t, int64(1<<30)-read.N, "what is left of a small answer is read, so that its connection can be used again")
			assert.Less(t, int64(1<<30)-read.N, int64(1<<20))
			_ = res.Body.Close()
			assert.Equal(t, attempts, closed)
		}
	})
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestOptions: the options of a source reach its Transport.
func TestOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for attempts, want := range map[int]int{0: 5, -1: 5, 1: 1, 2: 2} {
			asked := 0
			src := testkit.Must(restsource.New(restsource.API{Base: "https://shop.example", Check: "/me"}, shopTables(),
				&restsource.Options{Attempts: attempts, Transport: testkit.Transport(func(*http.Request) (*http.Response, error) {
					asked++
					return reply(503, ""), nil
				})}))(t)
			require.Error(t, src.Check(t.Context(), checkOf("token", "k")))
			assert.Equal(t, want, asked)
		}
		for size, want := range map[int]bool{32 << 20: true, 32<<20 + 1: false} {
			src := testkit.Must(restsource.New(restsource.API{Base: "https://shop.example", Check: "/me"}, shopTables(),
				&restsource.Options{Transport: always(200, strings.Repeat(" ", size))}))(t)
			assert.Equal(t, want, src.Check(t.Context(), checkOf("token", "k")) == nil, "32 MiB are the default")
		}
	})
}

// TestBodyCap counts what is read, and not what a header says.
func TestBodyCap(t *testing.T) {
	for length, whole := range map[int]bool{0: true, 9: true, 10: true, 11: false, 1000: false} {
		transport := &restsource.Transport{MaxBody: 10, Base: always(200, strings.Repeat("x", length))}
		r := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example/", nil))(t)
		res := testkit.Must(transport.RoundTrip(r))(t)
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if whole {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "the answer is larger than the connector takes")
		}
		assert.Len(t, body, min(length, 10))
	}
}
