package connector_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// narrow serves a source that takes so many requests at once.
func narrow(t *testing.T, most int, src connector.Source) *site {
	def := shop
	def.Limits.Concurrency = most
	def.Credentials = append(slices.Clone(shop.Credentials),
		wire.CredentialField{Key: "zone", Label: "Zone", Type: wire.CredentialText, Optional: true})
	log := &logbook{}
	return &site{connectortest.Start(t, def, src, &connector.Options{Logger: slog.New(log)}), t, log}
}

// queue is a source that notes which requests it is called for, each for a while.
type queue struct {
	testkit.Source
	mu           sync.Mutex
	atOnce, most int
	called       []string
}

func (q *queue) Check(ctx context.Context, req *wire.CheckRequest) error {
	q.mu.Lock()
	q.called = append(q.called, req.Credentials.Get("apiKey"))
	q.atOnce++
	q.most = max(q.most, q.atOnce)
	q.mu.Unlock()
	err := pause(ctx, 10*time.Second)
	q.mu.Lock()
	q.atOnce--
	q.mu.Unlock()
	return err
}

func checkOf(tenant string, timeout time.Duration) string {
	return fmt.Sprintf(`{"credentials":{"apiKey":%q},"timeoutMs":%d}`, tenant, timeout.Milliseconds())
}

// TestConcurrency checks that no more requests call the source than the definition
// states, and that the others wait, tenants in turn.
func TestConcurrency(t *testing.T) {
	for _, c := range []struct {
		most       int
		sent, want string
	}{
		{1, "a a a a b b c", "a a b c a b a"},
		{2, "a a a a b", "a a a b a"},
		{16, "a a a b b", "a a a b b"},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := &queue{}
			s := narrow(t, c.most, q)
			var sent sync.WaitGroup
			for one := range strings.FieldsSeq(c.sent) {
				sent.Go(func() {
					a := s.do(s.Request(context.Background(), "/check", checkOf("tenant "+one, hour)))
					assert.Equal(t, 200, a.status)
				})
				time.Sleep(time.Millisecond) // the order in which they arrive
			}
			sent.Wait()
			assert.Equal(t, c.want, strings.ReplaceAll(strings.Join(q.called, " "), "tenant ", ""))
			assert.LessOrEqual(t, q.most, c.most)
		})
	}
}

// TestConcurrencyWaitsWithinItsTime checks that a request that waits ends at its
// deadline, and that its place in the queue is gone.
func TestConcurrencyWaitsWithinItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		s := narrow(t, 1, q)
		var sent sync.WaitGroup
		send := func(ctx context.Context, name string, timeout time.Duration, want int) {
			sent.Go(func() {
				start := time.Now()
				res, err := s.Client.Do(s.Request(ctx, "/check", checkOf("tenant "+name, timeout)))
				if want == 0 {
					assert.Error(t, err, name)
					return
				}
				if a := read(t, res); assert.Equal(t, want, a.status, name) && want == 408 {
					a.refuses(t, 408, wire.CodeTimeout, "the request's time is over")
					assert.Equal(t, timeout, time.Since(start), name)
				}
			})
			time.Sleep(time.Millisecond)
		}
		leaving, leave := context.WithCancel(context.Background())
		send(context.Background(), "a", hour, 200)
		send(context.Background(), "b", 3*time.Second, 408)
		send(leaving, "c", hour, 0)
		send(context.Background(), "d", hour, 200)
		time.Sleep(time.Second)
		leave()
		sent.Wait()
		assert.Equal(t, []string{"tenant a", "tenant d"}, q.called)
		assert.Empty(t, s.log.all())
		send(context.Background(), "e", hour, 200)
		sent.Wait()
		assert.Equal(t, 1, q.most)
	})
}

// TestConcurrencyOfStreams checks that a stream that waits has a heartbeat, and
// that a call that hangs keeps nobody waiting for ever.
func TestConcurrencyOfStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called atomic.Int32
		s := narrow(t, 1, emits(func(out *connector.Rows) error {
			if w := out.Begin(number); called.Add(1) > 1 {
				return w.Row(wire.Int(1))
			}
			time.Sleep(time.Minute) // and ignores the context
			return nil
		}))
		var sent sync.WaitGroup
		sent.Go(func() {
			assert.Equal(t, []string{"10s " + all, "10s " + ping, "14s " + late}, s.stream(ask("", 14*time.Second)))
		})
		time.Sleep(time.Millisecond)
		sent.Go(func() {
			assert.Equal(t, []string{"10s " + ping, "14.999s " + all, "14.999s rows 1", "14.999s " + end}, s.stream(ask("", hour)))
		})
		sent.Wait()
		time.Sleep(hour)
	})
}

// TestConcurrencyInOrder checks that the requests of one tenant call the source in
// the order in which they came, and that one that leaves takes no other's place.
func TestConcurrencyInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var called []string
		s := narrow(t, 1, testkit.Source{OnCheck: func(ctx context.Context, _ *wire.CheckRequest) error {
			mu.Lock()
			defer mu.Unlock()
			called = append(called, connector.RequestID(ctx))
			time.Sleep(10 * time.Second)
			return nil
		}})
		var sent sync.WaitGroup
		for _, id := range []string{"1", "2", "3-leaves", "4", "5"} {
			timeout := hour
			if id == "3-leaves" {
				timeout = time.Second
			}
			sent.Go(func() {
				r := s.Request(context.Background(), "/check", checkOf("a", timeout))
				r.Header.Set("X-Request-ID", id)
				s.do(r)
			})
			time.Sleep(time.Millisecond)
		}
		sent.Wait()
		assert.Equal(t, []string{"1", "2", "4", "5"}, called)
	})
}

// TestConcurrencyOfTenants checks what makes two requests those of one tenant: all
// that they have as credentials, each value under its own name.
func TestConcurrencyOfTenants(t *testing.T) {
	const first, one = `{"apiKey":"first"}`, `{"apiKey":"a","region":"bc"}`
	for _, c := range []struct {
		why, other string
		turns      bool // the two take turns
	}{
		{"the same in another order", `{"region":"bc","apiKey":"a"}`, false},
		{"what the definition does not have is no credential", `{"apiKey":"a","region":"bc","more":"x"}`, false},
		{"another value", `{"apiKey":"a","region":"bd"}`, true},
		{"the values under each other's names", `{"apiKey":"bc","region":"a"}`, true},
		{"the same letters, split elsewhere", `{"apiKey":"ab","region":"c"}`, true},
		{"a name in a value", `{"apiKey":"aregionbc"}`, true},
		{"the same value under another name", `{"apiKey":"a","zone":"bc"}`, true},
		{"one value less", `{"apiKey":"a"}`, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			called := ""
			s := narrow(t, 1, testkit.Source{OnCheck: func(ctx context.Context, _ *wire.CheckRequest) error {
				mu.Lock()
				defer mu.Unlock()
				called += connector.RequestID(ctx)
				time.Sleep(10 * time.Second)
				return nil
			}})
			var sent sync.WaitGroup
			for i, credentials := range []string{first, one, one, c.other} {
				sent.Go(func() {
					r := s.Request(context.Background(), "/check", `{"credentials":`+credentials+`,"timeoutMs":3600000}`)
					r.Header.Set("X-Request-ID", itoa(i))
					s.do(r)
				})
				time.Sleep(time.Millisecond)
			}
			sent.Wait()
			if c.turns {
				assert.Equal(t, "0132", called, c.why)
			} else {
				assert.Equal(t, "0123", called, c.why)
			}
		})
	}
}

// TestConcurrencyAfterOneThatHangs checks that a call that was given up, and returns
// in the end, has given its place back once: one that began at once, and one that
// had waited.
func TestConcurrencyAfterOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called atomic.Int32
		q := &queue{}
		s := narrow(t, 1, testkit.Source{OnCheck: func(ctx context.Context, req *wire.CheckRequest) error {
			if called.Add(1) <= 2 {
				time.Sleep(time.Minute) // and ignores the context
				return nil
			}
			return q.Check(ctx, req)
		}})
		var sent sync.WaitGroup
		send := func(timeout time.Duration) {
			sent.Go(func() { s.do(s.Request(context.Background(), "/check", checkOf("a", timeout))) })
			time.Sleep(time.Millisecond)
		}
		send(5 * time.Second)
		send(20 * time.Second)
		sent.Wait()
		time.Sleep(hour)
		require.Equal(t, int32(2), called.Load())
		for range 4 {
			send(hour)
		}
		sent.Wait()
		assert.Equal(t, 1, q.most)
	})
}

// TestConcurrencyUnstated checks what holds where the definition states no number: the source
// is called for as many requests of one tenant as the document says, for each tenant apart, and
// for any number of requests without credentials.
func TestConcurrencyUnstated(t *testing.T) {
	for _, c := range []struct {
		tenants, requests, most int
		took                    time.Duration
	}{
		{1, 4, 4, 10 * time.Second},
		{1, 5, 4, 20 * time.Second},
		{1, 9, 4, 30 * time.Second},
		{9, 4, 36, 10 * time.Second},
		{9, 5, 36, 20 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := &queue{}
			s := serve(t, q, nil)
			for range 2 { // a tenant that comes again has all of its places
				start := time.Now()
				var sent sync.WaitGroup
				for n := range c.tenants * c.requests {
					sent.Go(func() {
						tenant := fmt.Sprint("tenant ", n%c.tenants)
						assert.Equal(t, 200, s.do(s.Request(context.Background(), "/check", checkOf(tenant, hour))).status)
					})
				}
				sent.Wait()
				assert.Equal(t, c.most, q.most, "%+v", c)
				assert.Equal(t, c.took, time.Since(start), "%+v", c)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		s := &site{connectortest.Start(t, connector.Definition{Slug: "open"}, q, nil), t, nil}
		var sent sync.WaitGroup
		for range 50 {
			sent.Go(func() {
				r := s.Request(context.Background(), "/check", `{"credentials":{},"timeoutMs":3600000}`)
				assert.Equal(t, 200, s.do(r).status)
			})
		}
		sent.Wait()
		assert.Equal(t, 50, q.most)
	})
}

// TestConcurrencyUnstatedForgets checks that a request which gives up, or hangs, gives back its
// place, and that the places of one tenant are no other's.
func TestConcurrencyUnstatedForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		var hang atomic.Bool
		hang.Store(true)
		s := serve(t, testkit.Source{OnCheck: func(ctx context.Context, req *wire.CheckRequest) error {
			if hang.Load() {
				time.Sleep(hour) // and ignores the context
				return nil
			}
			return q.Check(ctx, req)
		}}, nil)
		var sent sync.WaitGroup
		send := func(tenant string, timeout time.Duration, want int) {
			sent.Go(func() {
				a := s.do(s.Request(context.Background(), "/check", checkOf(tenant, timeout)))
				assert.Equal(t, want, a.status, tenant)
			})
		}
		for range 4 {
			send("a", 5*time.Second, 408) // they hang
		}
		time.Sleep(time.Second)
		hang.Store(false)
		send("a", 2*time.Second, 408) // waits for a place, and gives up
		send("b", hour, 200)
		sent.Wait()
		assert.Equal(t, []string{"b"}, q.called)
		time.Sleep(2 * time.Second) // the places of what hangs are given up
		for range 4 {
			send("a", hour, 200)
		}
		sent.Wait()
		assert.Equal(t, 4, q.most)
		time.Sleep(2 * hour)
	})
}

// TestConcurrencyAtTheLastMoment checks that the place of a request whose time ends
// in the moment in which it is let in is not lost.
func TestConcurrencyAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := narrow(t, 1, &queue{})
		for range 60 {
			var sent sync.WaitGroup
			for _, timeout := range []time.Duration{hour, 10*time.Second - time.Millisecond} {
				sent.Go(func() { s.do(s.Request(context.Background(), "/check", checkOf("a", timeout))) })
				time.Sleep(time.Millisecond)
			}
			sent.Wait()
		}
		s.alive()
	})
}
