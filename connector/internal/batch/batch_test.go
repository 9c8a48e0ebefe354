package batch_test

import (
	"errors"
	"runtime"
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

var (
	one     = wire.Int(1)
	kilo    = wire.Text(strings.Repeat("x", 3000)) // 15 of these are a batch of the usual size
	errOver = errors.New("over")
)

// source is the source's side of a handoff.
type source struct {
	*batch.Handoff
	b       *batch.Batcher
	rows    []int // of each batch that was written when it was full
	flushed []bool
	sizes   [][2]int // its KiB, and those of its buffer
	batches []*lines.Batch
	block   chan struct{}
	took    time.Duration
	err     error
}

func (s *source) write(b *lines.Batch, flush bool) error {
	if s.block != nil {
		<-s.block
	}
	time.Sleep(s.took)
	s.rows, s.flushed, s.batches = append(s.rows, b.Len()), append(s.flushed, flush), append(s.batches, b)
	s.sizes = append(s.sizes, [2]int{b.Size() >> 10, b.Cap() >> 10})
	return s.err
}

func (s *source) add(rows int, cell wire.Value) error {
	s.Lock()
	defer s.Unlock()
	for range rows {
		s.Offered()
		if err := s.b.Add([]wire.Value{cell}); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) begin(names ...string) error {
	s.Lock()
	defer s.Unlock()
	return s.b.Begin(wire.Served{Filters: true}, names, nil)
}

// locked calls f with the lock held, and reports whether the request's goroutine was woken.
func (s *source) locked(f func()) bool {
	s.Lock()
	f()
	s.Unlock()
	return s.woken()
}

func (s *source) woken() bool {
	select {
	case <-s.Wake():
		return true
	default:
		return false
	}
}

// next takes the turn for one look, as the request's goroutine does. A batch that is due is emptied then.
func (s *source) next(now, heartbeat time.Duration) (w batch.Work, rows int) {
	s.Acquire()
	defer s.Release(never)
	w = s.Next(now, heartbeat)
	if w.Batch != nil {
		rows = w.Batch.Len()
		s.Recycle()
		w.Batch = nil
	}
	return w, rows
}

// open returns a source that has not begun.
func open(timed bool, places batch.Large) *source {
	arrived := time.Now()
	s := &source{Handoff: batch.NewHandoff(func() time.Duration { return time.Since(arrived) }, timed, places)}
	s.b = batch.NewBatcher(s.Handoff, s.write)
	return s
}

// start returns a source that has begun.
func start(t *testing.T) *source {
	t.Helper()
	s := open(false, nil)
	require.NoError(t, s.begin("n"))
	return s
}

func TestBatchIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		due := func(now, heartbeat time.Duration, rows int, why string) {
			t.Helper()
			w, got := s.next(now, heartbeat)
			assert.Equal(t, rows, got, why)
			assert.Equal(t, batch.Work{}, w, why)
		}
		served, begun := s.Served()
		assert.Equal(t, wire.Served{Filters: true}, served)
		assert.True(t, begun)
		due(0, never, 0, "no row yet")
		require.NoError(t, s.add(2, one))
		time.Sleep(time.Second / 2)
		require.NoError(t, s.add(1, one))
		w, _ := s.next(0, never)
		assert.Equal(t, batch.Work{Due: time.Second}, w, "a row waits for a second")
		due(time.Second, never, 3, "then it is sent, and the others with it")
		require.NoError(t, s.add(2, one))
		due(time.Millisecond, time.Millisecond, 2, "rows take a heartbeat's place")

		require.NoError(t, s.add(1, one))
		assert.True(t, s.locked(s.Flush))
		due(0, never, 1, "a flush sends what is there")
		due(0, never, 0, "once")
		require.NoError(t, s.add(wire.MaxBatchRows+1, one))
		assert.Equal(t, []int{wire.MaxBatchRows}, s.rows, "a full batch is sent at once")
		s.woken()
		s.Return(nil)
		assert.True(t, s.woken())
		w, rows := s.next(0, never)
		assert.Equal(t, batch.Work{Complete: true}, w)
		assert.Equal(t, 1, rows, "the rest goes with the end")
	})
}

// TestOnlyTheFirstIsFlushed checks that the first batch is small and flushed, and
// that what the server holds back of a later one is flushed a second later.
func TestOnlyTheFirstIsFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		require.NoError(t, s.add(64, one))
		w, _ := s.next(time.Minute, never)
		assert.Equal(t, batch.Work{}, w, "the first was flushed")
		require.NoError(t, s.add(2*wire.MaxBatchRows, one))
		assert.Equal(t, []int{64, wire.MaxBatchRows, wire.MaxBatchRows}, s.rows)
		assert.Equal(t, []bool{true, false, false}, s.flushed)
		w, _ = s.next(0, never)
		assert.Equal(t, batch.Work{Due: time.Second}, w)
		s.Acquire()
		assert.Equal(t, batch.Work{Flush: true}, s.Next(time.Second, never))
		assert.Equal(t, batch.Work{}, s.Next(time.Minute, never), "once")
	})
}

// TestWakesOnlyWhenNeeded checks that a fast source does not wake the request's
// goroutine for each batch, and that rows which would wait too long do.
func TestWakesOnlyWhenNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.Acquire()
		s.Release(10 * time.Second)
		require.NoError(t, s.add(1, one))
		assert.True(t, s.woken(), "it would look after ten seconds, and the row may wait for one")
		require.NoError(t, s.add(64, one))
		assert.False(t, s.woken(), "it knows when to look")
		s.Acquire()
		s.Release(time.Second)
		require.NoError(t, s.add(20*wire.MaxBatchRows, one))
		assert.False(t, s.woken(), "it looks in time")

		s = start(t)
		s.Acquire()
		s.Next(0, never)
		require.NoError(t, s.add(1, one))
		s.Release(10 * time.Second)
		assert.True(t, s.woken(), "it does not know of a row that came after its look, and before it began to wait")
		assert.True(t, s.locked(func() { s.Flush(); s.Flush() }))
		assert.False(t, s.woken(), "one look is enough for both")
	})
}

// TestStopWhileBlocked checks that a source blocks on its write and is told then that it must stop.
func TestStopWhileBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.block = make(chan struct{})
		done := make(chan error, 1)
		go func() { done <- s.add(100*wire.MaxBatchRows, one) }()
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
		synctest.Wait()
		assert.True(t, s.Next(0, never).Blocked)
		s.Stop(errOver)
		assert.Equal(t, errOver, <-done)
		assert.Equal(t, []int{64}, s.rows, "the first batch is small, and the request's goroutine went first")
		s.Stop(errors.New("later"))
		assert.Equal(t, batch.Work{Refused: errOver}, s.Next(never, never), "the first reason stays")
	})
}

// TestOneWrites checks that a source adds no row to a batch that the request's
// goroutine writes, and does not write one itself meanwhile.
func TestOneWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		done := make(chan error, 1)
		s.Acquire()
		go func() { done <- s.add(64, one) }()
		synctest.Wait()
		assert.Empty(t, s.rows)
		s.Release(never)
		require.NoError(t, <-done)

		require.NoError(t, s.add(3, one))
		s.Acquire()
		w := s.Next(never, never)
		go func() { done <- s.add(1, one) }()
		synctest.Wait()
		assert.Equal(t, 3, w.Batch.Len())
		s.Recycle()
		require.NoError(t, <-done)

		huge := wire.Text(strings.Repeat("x", 300_000))
		go func() { done <- s.add(1, huge) }()
		synctest.Wait()
		w = s.Next(never, never)
		assert.Equal(t, 2, w.Batch.Len())
		s.Recycle()
		s.Release(never)
		require.NoError(t, <-done)
		assert.Equal(t, []int{64}, s.rows, "the request's goroutine has written what the source waited to write")

		require.NoError(t, s.add(1, one))
		s.Acquire()
		w = s.Next(never, never)
		assert.LessOrEqual(t, w.Batch.Cap(), 4<<10, "the huge buffer was given back")
		go func() { done <- s.add(1, one) }()
		synctest.Wait()
		s.Stop(errOver)
		assert.Equal(t, errOver, <-done)
		assert.Equal(t, 1, w.Batch.Len())
	})
}

// TestWriteFails checks that a failed write, or a panic of the server's writer, is not the source's fault.
func TestWriteFails(t *testing.T) {
	s := start(t)
	s.err = errors.New("the reader is gone")
	assert.Equal(t, s.err, s.add(64, one))
	w, rows := s.next(never, never)
	assert.Equal(t, batch.Work{Refused: s.err}, w)
	assert.Zero(t, rows)

	s = start(t)
	s.b = batch.NewBatcher(s.Handoff, func(*lines.Batch, bool) error { panic("boom") })
	require.NoError(t, s.begin("n"))
	require.Error(t, s.add(64, one))
	w, _ = s.next(0, never)
	assert.Equal(t, "boom", w.Panicked)
}

func TestRefusals(t *testing.T) {
	s := open(true, nil)
	assert.ErrorContains(t, s.begin("n", "n"), "the source began with columns that cannot be sent: ")
	s.Return(nil)
	w, _ := s.next(0, never)
	assert.Equal(t, batch.Work{Complete: true}, w, "there is no answer without columns")
	require.NoError(t, s.begin("n"))
	assert.ErrorContains(t, s.add(1, wire.Invalid("no value")), "the source emitted a row that cannot be sent: ")
	w, _ = s.next(0, never)
	assert.Positive(t, w.LastOffer, "it was offered")

	line := wire.Text(strings.Repeat("x", wire.MaxLineBytes-len(`{"rows":[{"n":""}]}`+"\n")))
	s = start(t)
	require.NoError(t, s.add(1, one))
	require.NoError(t, s.add(1, line))
	assert.Equal(t, []int{1, 1}, s.rows, "a row that alone fills a line gets one of its own")
	require.NoError(t, s.add(1, one))
	s.err = errOver
	assert.Equal(t, errOver, s.add(1, line))
	w, _ = s.next(0, never)
	assert.Zero(t, w.LastOffer, "nobody asks for it")
}

// TestBuffer checks that a stream holds one batch of the usual size, fills it again and
// again, and gives back the buffer of a huge row.
func TestBuffer(t *testing.T) {
	s := start(t)
	require.NoError(t, s.add(100, kilo))
	require.NoError(t, s.add(1, wire.Text(strings.Repeat("x", 3_000_000))))
	require.NoError(t, s.add(100, kilo))
	assert.Equal(t, [2]int{44, 48}, s.sizes[1])
	assert.Same(t, s.batches[1], s.batches[2])
	assert.Equal(t, [2]int{44, 48}, s.sizes[len(s.sizes)-1])
	edge := 44<<10 - len(`{"rows":[{"n":""}]}`+"\n")
	for _, c := range []struct{ bytes, sent int }{{edge - 1, 0}, {edge, 1}} {
		s = start(t)
		require.NoError(t, s.add(1, wire.Text(strings.Repeat("x", c.bytes))))
		assert.Len(t, s.rows, c.sent)
	}
	s = start(t)
	require.NoError(t, s.add(1, kilo))
	s.Acquire()
	small := s.Next(never, never).Batch
	s.Recycle()
	require.NoError(t, s.add(1, one))
	assert.Same(t, small, s.Next(never, never).Batch)
	assert.Less(t, small.Cap(), 8<<10)
}

// TestLarge checks which streams have large batches: those whose readers have taken
// many at once, as long as they do, and no more of them than there are places.
func TestLarge(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	assert.Equal(t, processors, cap(batch.NewLarge()))
	assert.Equal(t, processors, runtime.GOMAXPROCS(0))
	synctest.Test(t, func(t *testing.T) {
		places := make(batch.Large, 2)
		places <- struct{}{} // of a third stream
		stream := func() *source {
			s := open(false, places)
			require.NoError(t, s.begin("n"))
			return s
		}
		is := func(s *source, usual int, large bool) {
			t.Helper()
			require.NoError(t, s.add(15*usual, kilo))
			assert.Equal(t, large, s.Large())
		}
		first, second := stream(), stream()
		is(first, 31, false)
		is(first, 1, true)
		is(second, 40, false) // there is one place
		first.took = 100 * time.Millisecond
		require.NoError(t, first.add(81, kilo))
		assert.Equal(t, [2]int{238, 240}, first.sizes[len(first.sizes)-1])
		assert.True(t, first.Large(), "that is at once")
		<-places
		require.NoError(t, first.add(81, kilo))
		assert.Len(t, places, 1, "it has a place and takes no other")
		places <- struct{}{}
		first.took++
		require.NoError(t, first.add(81, kilo))
		assert.False(t, first.Large(), "its reader has become slow")
		is(second, 1, true)
		is(second, 13*15, true)
		second.Stop(errOver)
		first.took = 0
		is(first, 31, false)
		is(first, 1, true) // the place of a stream that ended is free
		third := stream()
		is(third, 40, false)
		third.took = time.Millisecond
		done := make(chan error, 1)
		go func() { done <- third.add(15, kilo) }()
		synctest.Wait()
		first.Stop(errOver)
		first.Stop(errors.New("again"))
		third.Stop(errOver)
		assert.Equal(t, errOver, <-done)
		assert.Len(t, places, 1, "a stream that is over takes no place")
	})
}

func TestEnoughHidesTheResult(t *testing.T) {
	s := start(t)
	require.NoError(t, s.add(1, one))
	s.woken()
	assert.True(t, s.locked(func() { s.Close(batch.ErrEnough) }))
	s.locked(func() { s.Refuse(errOver); s.Close(errOver) })
	assert.False(t, s.Refused(), "the first reason stays")
	s.Return(errors.New("whatever the source returns then"))
	work, rows := s.next(0, never)
	assert.Equal(t, batch.Work{Complete: true}, work)
	assert.Equal(t, 1, rows)

	s = start(t)
	require.NoError(t, s.add(1, one))
	s.Return(errOver)
	work, rows = s.next(never, never)
	assert.Equal(t, batch.Work{Returned: errOver, Complete: true}, work)
	assert.Zero(t, rows)
}
