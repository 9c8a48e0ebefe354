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

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// narrow is the shop, whose source takes so many requests at once.
func narrow(most int) connector.Definition {
	def := shop
	def.Limits.Concurrency = most
	def.Credentials = append(slices.Clone(shop.Credentials),
		wire.CredentialField{Key: "zone", Label: "Zone", Type: wire.CredentialText, Optional: true})
	return def
}

// queue is a source that notes which requests it is called for, each for a while.
type queue struct {
	connectors.Source
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

// crowd sends waves of requests to /check, each wave when the last is answered, or pauses where a wave is a
// duration. The requests of a wave arrive a millisecond apart. Each is an id, whose first letter is the tenant unless
// =CREDENTIALS follow. One with :TIMEOUT is answered 408 then, and the client of one with -TIME hangs up.
func (s *site) crowd(waves string) {
	s.t.Helper()
	for wave := range strings.SplitSeq(waves, " | ") {
		if pause, err := time.ParseDuration(wave); err == nil {
			time.Sleep(pause)
			continue
		}
		var sent sync.WaitGroup
		for word := range strings.FieldsSeq(wave) {
			name, credentials, _ := strings.Cut(word, "=")
			name, leaves, _ := strings.Cut(name, "-")
			name, timeout, times := strings.Cut(name, ":")
			credentials = cmp.Or(credentials, fmt.Sprintf(`{"apiKey":%q}`, name[:1]))
			limit := duration(cmp.Or(timeout, "1h"))
			sent.Go(func() {
				start := time.Now()
				ctx, leave := context.WithTimeout(context.Background(), duration(cmp.Or(leaves, "2h")))
				defer leave()
				r := s.Request(ctx, "/check", fmt.Sprintf(`{"credentials":%s,"timeoutMs":%d}`, credentials, limit.Milliseconds()))
				r.Header.Set("X-Request-ID", name)
				res, err := s.Client.Do(r)
				if leaves != "" {
					assert.Error(s.t, err, name)
				} else if a := read(s.t, res); times {
					a.refuses(s.t, 408, wire.CodeTimeout, "the request's time is over")
					assert.Equal(s.t, limit, time.Since(start), name)
				} else {
					assert.Equal(s.t, 200, a.status, name)
				}
			})
			time.Sleep(time.Millisecond)
		}
		sent.Wait()
	}
}

// TestConcurrency checks that no more requests call the source than the definition states, or of each tenant where it
// states no number, and that the others wait, tenants in turn.
func TestConcurrency(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/slots.tsv", 7) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			def, hangs := connector.Definition{Slug: "open"}, atoi(c[2])
			if c[1] == "0" {
				def = shop
			} else if c[1] != "open" {
				def = narrow(atoi(c[1]))
			}
			q := &queue{hangs: hangs}
			s := serveAs(t, def, q, nil)
			start := time.Now()
			s.crowd(c[3])
			if c[4] != "" {
				assert.Equal(t, c[4], strings.Join(q.called, " "))
			}
			assert.Equal(t, c[5], itoa(q.most))
			if c[6] != "" {
				assert.Equal(t, duration(c[6]), time.Since(start).Truncate(time.Second))
			}
			if hangs == 0 {
				assert.Empty(t, s.log.all())
			}
			assert.Zero(t, q.hangs)
		})
	}
}

// TestConcurrencyOfStreams checks that a stream that waits has a heartbeat, and
// that a call that hangs keeps nobody waiting for ever.
func TestConcurrencyOfStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called atomic.Int32
		s := serveAs(t, narrow(1), emits(func(out *connector.Rows) error {
			if w := out.Begin(number); called.Add(1) > 1 {
				return w.Row(wire.Int(1))
			}
			time.Sleep(time.Minute) // and ignores the context
			return nil
		}), nil)
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

// TestConcurrencyAtTheLastMoment checks that the place of a request whose time ends
// in the moment in which it is let in is not lost.
func TestConcurrencyAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveAs(t, narrow(1), &queue{}, nil)
		for range 60 {
			var first sync.WaitGroup
			first.Go(func() { s.crowd("a") })
			time.Sleep(time.Millisecond)
			s.post(asked("/check 60000 => 9999"))
			first.Wait()
		}
		s.alive()
	})
}
