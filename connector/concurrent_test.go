package connector_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

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
