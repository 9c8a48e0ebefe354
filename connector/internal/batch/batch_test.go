package batch_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const never = 1000 * time.Hour

// start returns a handoff whose source has begun, and a function that adds rows.
func start(t *testing.T) (*batch.Handoff, func(rows int) error) {
	t.Helper()
	arrived := time.Now()
	h := batch.NewHandoff(func() time.Duration { return time.Since(arrived) }, true)
	b := batch.NewBatcher(h)
	h.Lock()
	defer h.Unlock()
	require.NoError(t, b.Begin(wire.Served{Filters: true}, []string{"n"}, []int{0}))
	return h, func(rows int) error {
		h.Lock()
		defer h.Unlock()
		for range rows {
			if err := b.Add([]wire.Value{wire.Int(1)}); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestBatchIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, add := start(t)
		served, begun := h.Served()
		assert.Equal(t, wire.Served{Filters: true}, served)
		assert.True(t, begun)
		assert.Equal(t, batch.Work{}, h.Next(0, never), "no row yet")

		require.NoError(t, add(3))
		assert.Equal(t, batch.Work{Due: time.Second}, h.Next(0, never), "a row waits for a second")
		assert.Equal(t, 3, h.Next(time.Second, never).Batch.Len(), "then it is sent")

		require.NoError(t, add(2))
		assert.Equal(t, 2, h.Next(time.Millisecond, time.Millisecond).Batch.Len(), "rows take a heartbeat's place")

		require.NoError(t, add(1))
		h.Lock()
		h.Flush()
		h.Unlock()
		assert.Equal(t, 1, h.Next(0, never).Batch.Len(), "a flush sends what is there")
		assert.False(t, h.Next(0, never).Flush, "once")

		require.NoError(t, add(wire.MaxBatchRows+1))
		assert.Equal(t, wire.MaxBatchRows, h.Next(0, never).Batch.Len(), "a full batch is sent at once")
		assert.Nil(t, h.Next(0, never).Batch)
		h.Return(nil)
		assert.Equal(t, 1, h.Next(0, never).Batch.Len(), "the rest goes with the end")
		assert.True(t, h.Next(0, never).Complete)
	})
}

// TestStopWhileBlocked checks that a batcher blocks while two batches wait, goes
// on when one is taken, and returns the error of Stop.
func TestStopWhileBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, add := start(t)
		done := make(chan error, 1)
		go func() { done <- add(100 * wire.MaxBatchRows) }()
		synctest.Wait()
		work := h.Next(0, never)
		assert.True(t, work.Blocked)
		assert.Equal(t, 64, work.Batch.Len(), "the first batch is small")
		h.Recycle(work.Batch)
		synctest.Wait()
		assert.Equal(t, wire.MaxBatchRows, h.Next(0, never).Batch.Len())
		synctest.Wait()

		over := errors.New("over")
		h.Stop(over)
		assert.Equal(t, over, <-done)
		h.Stop(errors.New("later"))
		assert.Equal(t, over, h.Next(0, never).Refused, "the first reason stays")
	})
}

func TestEnoughHidesTheResult(t *testing.T) {
	h, add := start(t)
	require.NoError(t, add(1))
	h.Lock()
	h.Close(batch.ErrEnough)
	h.Unlock()
	h.Return(errors.New("whatever the source returns then"))
	work := h.Next(0, never)
	assert.NoError(t, work.Returned)
	assert.Equal(t, 1, work.Batch.Len())
	assert.True(t, work.Complete)

	h, _ = start(t)
	failed := errors.New("failed")
	h.Return(failed)
	assert.Equal(t, failed, h.Next(0, never).Returned)
}
