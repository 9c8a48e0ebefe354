package batch_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const never = 1000 * time.Hour

// source is the source's side of a handoff.
type source struct {
	*batch.Handoff
	b       *batch.Batcher
	written []int  // the rows of each batch that was written when it was full
	flushed []bool // whether it was to be flushed
	block   chan struct{}
	err     error
}

func (s *source) write(b *lines.Batch, flush bool) error {
	if s.block != nil {
		<-s.block
	}
	s.written, s.flushed = append(s.written, b.Len()), append(s.flushed, flush)
	return s.err
}

func (s *source) add(rows int, cell wire.Value) error {
	s.Lock()
	defer s.Unlock()
	for range rows {
		if err := s.b.Add([]wire.Value{cell}); err != nil {
			return err
		}
	}
	return nil
}

// next takes the turn for one look, as the request's goroutine does, and writes
// what is due.
func (s *source) next(now, heartbeat time.Duration) batch.Work {
	s.Acquire()
	defer s.Release(never)
	w := s.Next(now, heartbeat)
	return w
}

// rows returns the number of rows that are due.
func (s *source) rows(now, heartbeat time.Duration) int {
	w := s.next(now, heartbeat)
	if w.Batch == nil {
		return 0
	}
	defer s.Recycle()
	return w.Batch.Len()
}

// start returns a source that has begun.
func start(t *testing.T) *source {
	t.Helper()
	arrived := time.Now()
	s := &source{Handoff: batch.NewHandoff(func() time.Duration { return time.Since(arrived) }, true, nil)}
	s.b = batch.NewBatcher(s.Handoff, s.write)
	s.Lock()
	defer s.Unlock()
	require.NoError(t, s.b.Begin(wire.Served{Filters: true}, []string{"n"}, []int{0}))
	return s
}

func TestBatchIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		one := wire.Int(1)
		served, begun := s.Served()
		assert.Equal(t, wire.Served{Filters: true}, served)
		assert.True(t, begun)
		assert.Equal(t, batch.Work{}, s.next(0, never), "no row yet")

		require.NoError(t, s.add(3, one))
		assert.Equal(t, batch.Work{Due: time.Second}, s.next(0, never), "a row waits for a second")
		assert.Equal(t, 3, s.rows(time.Second, never), "then it is sent")

		require.NoError(t, s.add(2, one))
		assert.Equal(t, 2, s.rows(time.Millisecond, time.Millisecond), "rows take a heartbeat's place")

		require.NoError(t, s.add(1, one))
		s.Lock()
		s.Flush()
		s.Unlock()
		assert.Equal(t, 1, s.rows(0, never), "a flush sends what is there")
		assert.False(t, s.next(0, never).Flush, "once")

		require.NoError(t, s.add(wire.MaxBatchRows+1, one))
		assert.Equal(t, []int{wire.MaxBatchRows}, s.written, "a full batch is sent at once")
		assert.Nil(t, s.next(0, never).Batch)
		s.Return(nil)
		assert.Equal(t, 1, s.rows(0, never), "the rest goes with the end")
		assert.True(t, s.next(0, never).Complete)
	})
}

// TestOnlyTheFirstIsFlushed checks that the first batch is small and flushed, and
// that what the server holds back of a later one is flushed a second later.
func TestOnlyTheFirstIsFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		require.NoError(t, s.add(64, wire.Int(1)))
		assert.Equal(t, batch.Work{}, s.next(time.Minute, never), "the first was flushed")
		require.NoError(t, s.add(2*wire.MaxBatchRows, wire.Int(1)))
		assert.Equal(t, []int{64, wire.MaxBatchRows, wire.MaxBatchRows}, s.written)
		assert.Equal(t, []bool{true, false, false}, s.flushed)
		assert.Equal(t, batch.Work{Due: time.Second}, s.next(0, never))
		assert.True(t, s.next(time.Second, never).Flush)
		assert.Equal(t, batch.Work{}, s.next(time.Minute, never), "once")
	})
}

// TestWakesOnlyWhenNeeded checks that a fast source does not wake the request's
// goroutine for each batch, and that rows which would wait too long do.
func TestWakesOnlyWhenNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		woken := func() bool {
			select {
			case <-s.Wake():
				return true
			default:
				return false
			}
		}
		s.Acquire()
		s.Release(10 * time.Second)
		require.NoError(t, s.add(1, wire.Int(1)))
		assert.True(t, woken(), "it would look after ten seconds, and the row may wait for one")
		s.Acquire()
		s.Release(time.Second)
		require.NoError(t, s.add(20*wire.MaxBatchRows, wire.Int(1)))
		assert.False(t, woken(), "it looks in time")

		s = start(t)
		s.Acquire()
		s.Next(0, never)
		require.NoError(t, s.add(1, wire.Int(1)))
		s.Release(10 * time.Second)
		assert.True(t, woken(), "it does not know of a row that came after its look, and before it began to wait")
	})
}

// TestStopWhileBlocked checks that a source blocks on its write and is told then
// that it must stop, and that it adds no row to a batch that is being written.
func TestStopWhileBlocked(t *testing.T) {
	over := errors.New("over")
	t.Run("the source writes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := start(t)
			s.block = make(chan struct{})
			done := make(chan error, 1)
			go func() { done <- s.add(100*wire.MaxBatchRows, wire.Int(1)) }()
			synctest.Wait()
			acquired := make(chan struct{})
			go func() { s.Acquire(); close(acquired) }()
			synctest.Wait()
			select {
			case <-acquired:
				t.Fatal("two have the turn")
			default:
			}
			close(s.block)
			<-acquired
			assert.Equal(t, []int{64}, s.written, "the first batch is small, and the request's goroutine goes first")
			synctest.Wait()
			assert.True(t, s.Next(0, never).Blocked)
			s.Stop(over)
			assert.Equal(t, over, <-done)
			s.Stop(errors.New("later"))
			assert.Equal(t, over, s.Next(0, never).Refused, "the first reason stays")
		})
	})
	t.Run("the request's goroutine writes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := start(t)
			require.NoError(t, s.add(3, wire.Int(1)))
			s.Acquire()
			w := s.Next(time.Second, never)
			done := make(chan error, 1)
			go func() { done <- s.add(1, wire.Int(1)) }()
			synctest.Wait()
			assert.Equal(t, 3, w.Batch.Len())
			s.Recycle()
			s.Release(never)
			require.NoError(t, <-done)
			assert.Equal(t, 1, s.rows(never, never))
		})
	})
}

func TestWriteFails(t *testing.T) {
	s := start(t)
	s.err = errors.New("the reader is gone")
	assert.Equal(t, s.err, s.add(64, wire.Int(1)))
	assert.Equal(t, s.err, s.next(0, never).Refused)
}

// TestWriterPanics checks that the request's goroutine learns of a panic of the
// server's writer, which is not the source's fault, and can take the turn.
func TestWriterPanics(t *testing.T) {
	s := start(t)
	s.block = make(chan struct{})
	close(s.block)
	s.b = batch.NewBatcher(s.Handoff, func(*lines.Batch, bool) error { panic("boom") })
	s.Lock()
	require.NoError(t, s.b.Begin(wire.Served{}, []string{"n"}, []int{0}))
	s.Unlock()
	require.Error(t, s.add(64, wire.Int(1)))
	assert.Equal(t, "boom", s.next(0, never).Panicked)
}

// TestBufferStaysSmall checks that a stream holds one batch of the usual size, and
// gives back the buffer of a huge row.
func TestBufferStaysSmall(t *testing.T) {
	s := start(t)
	var sizes []int
	s.b = batch.NewBatcher(s.Handoff, func(b *lines.Batch, _ bool) error { sizes = append(sizes, b.Cap()); return nil })
	s.Lock()
	require.NoError(t, s.b.Begin(wire.Served{}, []string{"n"}, []int{0}))
	s.Unlock()
	require.NoError(t, s.add(100, wire.Text(strings.Repeat("x", 3000))))
	require.NoError(t, s.add(1, wire.Text(strings.Repeat("x", 3_000_000))))
	require.NoError(t, s.add(100, wire.Text(strings.Repeat("x", 3000))))
	assert.LessOrEqual(t, sizes[1], 48<<10)
	assert.LessOrEqual(t, sizes[len(sizes)-1], 48<<10)
}

// TestLarge checks which streams have large batches: those whose readers have taken
// many at once, as long as they do, and no more of them than there are places.
func TestLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := make(batch.Large, 1)
		var took time.Duration // by each write
		stream := func() (s *source, sizes func() []int) {
			var written []int
			arrived := time.Now()
			s = &source{Handoff: batch.NewHandoff(func() time.Duration { return time.Since(arrived) }, false, places)}
			s.b = batch.NewBatcher(s.Handoff, func(b *lines.Batch, _ bool) error {
				time.Sleep(took)
				written = append(written, b.Size()>>10, b.Cap()>>10)
				return nil
			})
			s.Lock()
			require.NoError(t, s.b.Begin(wire.Served{}, []string{"n"}, []int{0}))
			s.Unlock()
			require.NoError(t, s.add(33*15, wire.Text(strings.Repeat("x", 3000)))) // 15 rows are a batch of the usual size
			return s, func() (last []int) {
				require.NoError(t, s.add(200, wire.Text(strings.Repeat("x", 3000))))
				return written[len(written)-2:]
			}
		}
		usual, large := []int{44, 48}, []int{238, 240}
		first, sizes := stream()
		assert.Equal(t, large, sizes())
		assert.True(t, first.Large())
		second, others := stream()
		assert.Equal(t, usual, others(), "there is one place")
		assert.False(t, second.Large())

		took = 101 * time.Millisecond
		assert.Equal(t, usual, sizes(), "the reader of the first has become slow")
		took = 0
		assert.Equal(t, large, others(), "so the second has the place")
		for range 5 {
			assert.Equal(t, usual, sizes())
		}
		second.Stop(errors.New("over"))
		assert.Equal(t, large, sizes(), "the place of a stream that ended is free")
		first.Stop(errors.New("over"))
		first.Stop(errors.New("again"))
		assert.Empty(t, places)
	})
}

func TestEnoughHidesTheResult(t *testing.T) {
	s := start(t)
	require.NoError(t, s.add(1, wire.Int(1)))
	s.Lock()
	s.Close(batch.ErrEnough)
	s.Unlock()
	s.Return(errors.New("whatever the source returns then"))
	work := s.next(0, never)
	assert.NoError(t, work.Returned)
	assert.Equal(t, 1, work.Batch.Len())
	assert.True(t, work.Complete)

	s = start(t)
	failed := errors.New("failed")
	s.Return(failed)
	assert.Equal(t, failed, s.next(0, never).Returned)
}
