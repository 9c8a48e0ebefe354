package ndjson_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestReaderPassesReadErrorsOn(t *testing.T) {
	reset := errors.New("connection reset")
	then := func(stream string) io.Reader {
		return io.MultiReader(strings.NewReader(stream), iotest.ErrReader(reset))
	}
	for _, c := range []struct {
		why    string
		stream io.Reader
		err    error
		line   int
	}{
		{"before anything", then(""), reset, 1},
		{"between lines", then(servedNone + oneRow), reset, 3},
		{"within a line", then(servedNone + oneRow + `{"rows":`), reset, 3},
		{"after the end: a stream whose close is not seen is not known to be whole", then(servedNone + end), reset, 3},
		{"after an end without newline", then(servedNone + `{"end":1}`), reset, 2},
		{"a reader that only ever answers nothing", readerFunc(func([]byte) (int, error) { return 0, nil }), io.ErrNoProgress, 1},
		{"a timeout", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(servedNone + end))), iotest.ErrTimeout, 1},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := ndjson.NewReader(c.stream)
			_, err := transcript(r)
			require.ErrorIs(t, err, c.err)
			var fault *ndjson.LineError
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, c.line, fault.Line)
			_, again := transcript(r)
			assert.Equal(t, err, again, "a broken stream stays broken")
		})
	}
	t.Run("after an error line, which says already that the answer failed", func(t *testing.T) {
		said := testkit.Must(transcript(ndjson.NewReader(then(failure))))(t)
		assert.Equal(t, []string{"error timeout: too slow"}, said)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReaderLineLength(t *testing.T) {
	line := func(size int) string {
		return `{"rows":[{"a":"` + strings.Repeat("x", size-around) + `"}]}` + "\n"
	}
	taken := 0
	endless := func(text string, b byte) io.Reader { // counts what is taken of the bytes behind the text
		taken = 0
		return io.MultiReader(strings.NewReader(text), readerFunc(func(p []byte) (int, error) {
			taken += len(p)
			return copy(p, bytes.Repeat([]byte{b}, len(p))), nil
		}))
	}
	t.Run("stream-6: 16 MiB with the newline", func(t *testing.T) {
		said := testkit.Must(transcript(ndjson.NewReader(strings.NewReader(servedNone + line(wire.MaxLineBytes) + end))))(t)
		require.Len(t, said, 2)
	})
	t.Run("stream-6: one byte more is refused", func(t *testing.T) {
		_, err := transcript(ndjson.NewReader(strings.NewReader(servedNone + line(wire.MaxLineBytes+1) + end)))
		require.ErrorContains(t, err, "line 2: longer than 16 MiB")
	})
	t.Run("stream-6: an endless line is refused when it passes the limit", func(t *testing.T) {
		begins := `{"rows":[{"a":"`
		_, err := transcript(ndjson.NewReader(endless(servedNone+begins, 'x')))
		require.ErrorContains(t, err, "line 2: longer than 16 MiB")
		assert.LessOrEqual(t, taken, wire.MaxLineBytes-len(begins), "no more than one line is buffered")
	})
	t.Run("stream-1: endless text after the end is refused at its first byte", func(t *testing.T) {
		_, err := transcript(ndjson.NewReader(endless(end, '\n')))
		require.ErrorContains(t, err, "unexpected data after the end or error line")
		assert.Less(t, taken, 1<<20)
	})
	t.Run("stream-6: 5,000 rows", func(t *testing.T) {
		stream := `{"rows":[` + strings.Repeat(`{"a":1},`, 4999) + `{"a":1}]}` + "\n" + end
		n := 0
		for _, err := range ndjson.NewReader(strings.NewReader(stream)).Rows() {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, 5000, n)
	})
}
