package memo

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// A versionNumber is a basis that lasts as long as it stays the same.
type versionNumber struct {
	n       int
	trusted bool
}

func (v versionNumber) Same(now versionNumber) bool { return v.n == now.n }
func (v versionNumber) Settled() bool               { return v.trusted }

func TestMemo(t *testing.T) {
	good := versionNumber{1, true}
	testkit.Bubble(t, "one computation for all who wait, and for all who come later", func(t *testing.T) {
		m := Memo[string, versionNumber, int]{Slots: make(chan struct{}, 1)}
		var runs atomic.Int32
		results := make(chan int, 10)
		for range 10 {
			go func() {
				v, err := m.Get(t.Context(), "k", good, func() (int, error) {
					time.Sleep(time.Minute)
					return int(runs.Add(1)), nil
				})
				if err != nil {
					v = -1
				}
				results <- v
			}()
		}
		for range 10 {
			assert.Equal(t, 1, <-results)
		}
		assert.Equal(t, 1, testkit.Must(m.Get(t.Context(), "k", good, func() (int, error) { panic("not again") }))(t))
		another := func() (int, error) { return 7, nil }
		assert.Equal(t, 7, testkit.Must(m.Get(t.Context(), "k", versionNumber{2, true}, another))(t), "another version")
	})
	testkit.Bubble(t, "what is not settled is joined while it runs and computed again afterwards", func(t *testing.T) {
		m := Memo[string, versionNumber, int]{Slots: make(chan struct{}, 2)}
		runs := 0
		compute := func() (int, error) {
			time.Sleep(time.Minute)
			runs++
			return runs, nil
		}
		first := make(chan int)
		go func() {
			v, _ := m.Get(t.Context(), "k", versionNumber{1, false}, compute)
			first <- v
		}()
		synctest.Wait()
		assert.Equal(t, 1, testkit.Must(m.Get(t.Context(), "k", versionNumber{1, false}, compute))(t))
		assert.Equal(t, 1, <-first)
		assert.Equal(t, 2, testkit.Must(m.Get(t.Context(), "k", good, compute))(t))
		assert.Equal(t, 2, testkit.Must(m.Get(t.Context(), "k", good, compute))(t))
	})
	testkit.Bubble(t, "a computation outlives who asked for it, and serves the next", func(t *testing.T) {
		m := Memo[string, versionNumber, int]{Slots: make(chan struct{}, 1)}
		compute := func() (int, error) {
			time.Sleep(time.Hour)
			return 1, nil
		}
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.Get(hasty, "k", good, compute)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		start := time.Now()
		assert.Equal(t, 1, testkit.Must(m.Get(t.Context(), "k", good, compute))(t))
		assert.Equal(t, time.Hour-time.Second, time.Since(start))
	})
	t.Run("failures and panics are not remembered", func(t *testing.T) {
		m := Memo[string, versionNumber, int]{Slots: make(chan struct{}, 1)}
		broken := errors.New("broken")
		_, err := m.Get(t.Context(), "k", good, func() (int, error) { return 0, broken })
		require.ErrorIs(t, err, broken)
		_, err = m.Get(t.Context(), "k", good, func() (int, error) { panic("odd") })
		require.EqualError(t, err, "panic: odd")
		assert.Equal(t, 3, testkit.Must(m.Get(t.Context(), "k", good, func() (int, error) { return 3, nil }))(t))
	})
	t.Run("what is dropped is computed again, and nothing else", func(t *testing.T) {
		m := Memo[string, versionNumber, int]{Slots: make(chan struct{}, 1)}
		runs := 0
		for range 2 {
			for _, key := range []string{"a", "b", "gone"} {
				testkit.Must(m.Get(t.Context(), key, good, func() (int, error) { runs++; return runs, nil }))(t)
			}
			m.Drop(func(key string) bool { return key == "gone" })
			assert.Equal(t, 2, m.Len())
		}
		assert.Equal(t, 4, runs)
	})
	t.Run("a computation that does not return", func(t *testing.T) {
		m := Memo[string, versionNumber, int]{Slots: make(chan struct{}, 1)}
		_, err := m.Get(t.Context(), "k", good, func() (int, error) { runtime.Goexit(); return 0, nil })
		require.EqualError(t, err, "the computation did not return")
	})
	testkit.Bubble(t, "no more run at once than there are slots", func(t *testing.T) {
		m := Memo[int, versionNumber, int]{Slots: make(chan struct{}, 2)}
		var running, most atomic.Int32
		done := make(chan struct{})
		for k := range 6 {
			go func() {
				_, _ = m.Get(t.Context(), k, good, func() (int, error) {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(time.Second)
					running.Add(-1)
					return 0, nil
				})
				done <- struct{}{}
			}()
		}
		for range 6 {
			<-done
		}
		assert.Equal(t, int32(2), most.Load())
	})
}
