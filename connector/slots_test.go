package connector_test

import (
	"cmp"
	"context"
	"fmt"
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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// narrow serves a source that takes so many requests at once.
func narrow(t *testing.T, most int, src connector.Source) *site {
	def := shop
	def.Limits.Concurrency = most
	def.Credentials = append(slices.Clone(shop.Credentials),
		wire.CredentialField{Key: "zone", Label: "Zone", Type: wire.CredentialText, Optional: true})
	return serveAs(t, def, src, nil)
}

// queue is a source that notes which requests it is called for, each for a while.
type queue struct {
	testkit.Source
	mu           sync.Mutex
	hangs        int // so many calls take a minute first, whatever their context says, and are not noted
	atOnce, most int
	called       []string
}

func (q *queue) Check(ctx context.Context, _ *wire.CheckRequest) error {
	q.mu.Lock()
	if q.hangs > 0 {
		q.hangs--
		q.mu.Unlock()
		time.Sleep(time.Minute)
		return nil
	}
	q.called = append(q.called, connector.RequestID(ctx))
	q.atOnce++
	q.most = max(q.most, q.atOnce)
	q.mu.Unlock()
	err := pause(ctx, 10*time.Second)
	q.mu.Lock()
	q.atOnce--
	q.mu.Unlock()
	return err
}

// A visit is a request to /check.
type visit struct {
	name        string        // the id of the request
	credentials string        // by default a tenant's of this name
	timeout     time.Duration // by default an hour
	leaves      time.Duration // when the client hangs up, if ever
	want        int           // the status, by default 200
}

// arrive sends requests one after another, a millisecond apart. The function that it
// returns waits for all of the answers.
func (s *site) arrive(visits ...visit) (wait func()) {
	s.t.Helper()
	var sent sync.WaitGroup
	for _, v := range visits {
		credentials := cmp.Or(v.credentials, fmt.Sprintf(`{"apiKey":%q}`, v.name))
		timeout := cmp.Or(v.timeout, hour)
		sent.Go(func() {
			start := time.Now()
			ctx, leave := context.WithTimeout(context.Background(), cmp.Or(v.leaves, 2*hour))
			defer leave()
			r := s.Request(ctx, "/check", fmt.Sprintf(`{"credentials":%s,"timeoutMs":%d}`, credentials, timeout.Milliseconds()))
			r.Header.Set("X-Request-ID", v.name)
			res, err := s.Client.Do(r)
			if v.leaves > 0 {
				assert.Error(s.t, err, v.name)
				return
			}
			if a := read(s.t, res); v.want == 408 {
				a.refuses(s.t, 408, wire.CodeTimeout, "the request's time is over")
				assert.Equal(s.t, timeout, time.Since(start), v.name)
			} else {
				assert.Equal(s.t, 200, a.status, v.name)
			}
		})
		time.Sleep(time.Millisecond)
	}
	return sent.Wait
}

// of returns visits with these names.
func of(names ...string) (visits []visit) {
	for _, name := range names {
		visits = append(visits, visit{name: name})
	}
	return visits
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
			narrow(t, c.most, q).arrive(of(strings.Fields(c.sent)...)...)()
			assert.Equal(t, c.want, strings.Join(q.called, " "))
			assert.LessOrEqual(t, q.most, c.most)
		})
	}
}

// TestConcurrencyWaitsWithinItsTime checks that a request that waits ends at its
// deadline, that its place in the queue is gone, and that the others keep theirs.
func TestConcurrencyWaitsWithinItsTime(t *testing.T) {
	for _, one := range []string{"", `{"apiKey":"one tenant"}`} {
		synctest.Test(t, func(t *testing.T) {
			q := &queue{}
			s := narrow(t, 1, q)
			visits := of("a", "b", "c", "d", "e")
			visits[1].timeout, visits[1].want = 3*time.Second, 408
			visits[2].leaves = time.Second
			for i := range visits {
				visits[i].credentials = one
			}
			s.arrive(visits...)()
			assert.Equal(t, []string{"a", "d", "e"}, q.called)
			assert.Empty(t, s.log.all())
			s.arrive(of("f", "f")...)()
			assert.Equal(t, 1, q.most)
		})
	}
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

// TestConcurrencyOfTenants checks what makes two requests those of one tenant: all
// that they have as credentials, each value under its own name.
func TestConcurrencyOfTenants(t *testing.T) {
	const first, one = `{"apiKey":"first"}`, `{"apiKey":"a","region":"bc"}`
	for _, c := range testkit.Table(t, "testdata/tenants.tsv", 3) {
		synctest.Test(t, func(t *testing.T) {
			q := &queue{}
			visits := of("0", "1", "2", "3")
			for i, credentials := range []string{first, one, one, c[1]} {
				visits[i].credentials = credentials
			}
			narrow(t, 1, q).arrive(visits...)()
			assert.Equal(t, c[2], strings.Join(q.called, ""), c[0])
		})
	}
}

// TestConcurrencyAfterOneThatHangs checks that a call that was given up, and returns
// in the end, has given its place back once: one that began at once, and one that
// had waited.
func TestConcurrencyAfterOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{hangs: 2}
		s := narrow(t, 1, q)
		s.arrive(visit{name: "a", timeout: 5 * time.Second, want: 408}, visit{name: "a", timeout: 20 * time.Second, want: 408})()
		time.Sleep(hour)
		synctest.Wait()
		require.Zero(t, q.hangs)
		s.arrive(of("a", "a", "a", "a")...)()
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
			var visits []visit
			for n := range c.tenants * c.requests {
				visits = append(visits, visit{name: itoa(n % c.tenants)})
			}
			for range 2 { // a tenant that comes again has all of its places
				start := time.Now()
				s.arrive(visits...)()
				assert.Equal(t, c.most, q.most, "%+v", c)
				assert.Equal(t, c.took, time.Since(start).Truncate(time.Second), "%+v", c)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		s := serveAs(t, connector.Definition{Slug: "open"}, q, nil)
		s.arrive(slices.Repeat([]visit{{name: "a", credentials: "{}"}}, 50)...)()
		assert.Equal(t, 50, q.most)
	})
}

// TestConcurrencyUnstatedForgets checks that a request which gives up, or hangs, gives back its
// place, and that the places of one tenant are no other's.
func TestConcurrencyUnstatedForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{hangs: 4}
		s := serve(t, q, nil)
		hung := s.arrive(slices.Repeat([]visit{{name: "a", timeout: 5 * time.Second, want: 408}}, 4)...)
		s.arrive(visit{name: "a", timeout: 2 * time.Second, want: 408}, visit{name: "b"})() // the first waits for a place, and gives up
		hung()
		assert.Equal(t, []string{"b"}, q.called)
		s.arrive(of("a", "a", "a", "a")...)() // the places of what hangs are given up by now
		assert.Equal(t, 4, q.most)
		time.Sleep(hour)
	})
}

// TestConcurrencyAtTheLastMoment checks that the place of a request whose time ends
// in the moment in which it is let in is not lost.
func TestConcurrencyAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := narrow(t, 1, &queue{})
		for range 60 {
			answered := s.arrive(visit{name: "a"})
			s.post("/check", edit(t, "/check", "60000", itoa(9999)))
			answered()
		}
		s.alive()
	})
}
