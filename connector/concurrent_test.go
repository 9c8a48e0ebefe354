package connector_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestRowBesideRow checks the moment in which a second goroutine does harm: the first one
// is writing a batch to a slow reader and holds no lock. The row would get into the bytes
// that are being sent, or be lost with them.
func TestRowBesideRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := wire.Text(strings.Repeat("x", 1000))
		first, second := make(chan error, 1), make(chan error, 1)
		s := serve(t, emits(func(out *connector.Rows) error {
			w := out.Begin(number)
			go func() {
				for {
					if err := w.Row(long); err != nil {
						first <- err
						return
					}
				}
			}()
			time.Sleep(time.Second) // by then the first one is stopped by the reader
			second <- w.Row(long)
			return <-first
		}), nil)
		start := time.Now()
		res := testkit.Must(s.Client.Do(s.Request(context.Background(), "/query", ask("", hour))))(t)
		defer res.Body.Close()
		time.Sleep(2 * time.Second)
		lines := s.lines(start, res.Body)
		const cause = "the source called RowWriter.Row while another call of it was running"
		assert.ErrorContains(t, <-second, cause)
		assert.Contains(t, lines[len(lines)-1], broken)
		assert.Contains(t, s.log.String(), "cause="+cause)
		assert.Len(t, s.log.all(), 1)
		s.alive()
	})
}

// TestRowsOfSeveralGoroutines checks what a fan-out over the pages of an upstream does
// when its author forgets the mutex: an answer is whole, or it is none.
func TestRowsOfSeveralGoroutines(t *testing.T) {
	const writers, each, answers = 6, 2_000, 20
	broke := 0
	for range answers {
		s := serve(t, emits(func(out *connector.Rows) error {
			w := out.Begin([]wire.Column{{Name: "n", Type: wire.TypeNumber}, {Name: "twice", Type: wire.TypeNumber}})
			var all sync.WaitGroup
			for g := range int64(writers) {
				all.Go(func() {
					for i := range int64(each) {
						n := g*each + i
						if w.Row(wire.Int(n), wire.Int(2*n)) != nil {
							return // and the error is forgotten
						}
					}
				})
			}
			all.Wait()
			return nil
		}), nil)
		a := s.post("/query", query(`"and":[],"sort":[],"fields":["n","twice"]`))
		if !strings.HasSuffix(a.body, end+"\n") {
			broke++
			assert.Contains(t, s.log.String(), "RowWriter.Row while another call")
			continue
		}
		seen := map[int64]bool{}
		for line := range strings.Lines(a.body) {
			var batch struct{ Rows []struct{ N, Twice int64 } }
			require.NoError(t, json.Unmarshal([]byte(line), &batch))
			for _, row := range batch.Rows {
				assert.Equal(t, 2*row.N, row.Twice)
				seen[row.N] = true
			}
		}
		assert.Equal(t, writers*each, len(seen), "an answer that ends with end has every row")
	}
	t.Logf("%d of %d answers failed", broke, answers)
}

// TestRowsOfOneGoroutineAtATime checks that a mutex of the author's is enough.
func TestRowsOfOneGoroutineAtATime(t *testing.T) {
	const writers, each = 4, 500
	s := serve(t, emits(func(out *connector.Rows) error {
		w := out.Begin(number)
		var turn sync.Mutex
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range each {
					turn.Lock()
					assert.NoError(t, w.Row(wire.Int(1)))
					turn.Unlock()
				}
			})
		}
		all.Wait()
		return nil
	}), nil)
	a := s.post("/query", query(plain))
	assert.Equal(t, writers*each, strings.Count(a.body, `{"n":1}`))
	assert.True(t, strings.HasSuffix(a.body, end+"\n"))
	assert.Empty(t, s.log.all())
}
