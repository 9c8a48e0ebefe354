package ndjson_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// writes records each Write by itself.
type writes struct{ lines []string }

func (w *writes) Write(p []byte) (int, error) {
	w.lines = append(w.lines, string(p))
	return len(p), nil
}

// TestWriterServed: a window over rows that are not filtered or not sorted would lose some [rule stream-2].
func TestWriterServed(t *testing.T) {
	for i := range 8 {
		served := wire.Served{Filters: i&1 != 0, Sort: i&2 != 0, Window: i&4 != 0}
		var out writes
		w := lines.NewWriter(&out)
		err := w.Served(served)
		if served.Window && (!served.Filters || !served.Sort) {
			require.ErrorContains(t, err, "served.window", "%+v", served)
			assert.Empty(t, out.lines)
			continue
		}
		require.NoError(t, err, "%+v", served)
		require.NoError(t, w.End())
		r := ndjson.NewReader(strings.NewReader(strings.Join(out.lines, "")))
		for _, err := range r.Rows() {
			require.NoError(t, err)
		}
		got, present := r.Served()
		assert.True(t, present)
		assert.Equal(t, served, got)
	}
}

func TestWriterErrorLine(t *testing.T) {
	for _, c := range []struct {
		why  string
		err  *wire.Error
		line string
	}{
		{"the text is escaped as JSON asks", wire.Errorf(wire.CodeBadRequest, "a \"b\"\n\x01 ü"),
			`{"error":{"code":"bad_request","message":"a \"b\"\n\u0001 ü"}}` + "\n"},
		{"a terminal line is worth more than a byte that is not UTF-8", wire.Errorf(wire.CodeBadRequest, "a\xffb"),
			`{"error":{"code":"bad_request","message":"a` + "\uFFFD" + `b"}}` + "\n"},
		{"codes are open: what an author made up goes out", wire.Errorf("quota", ""), `{"error":{"code":"quota","message":""}}` + "\n"},
	} {
		t.Run(c.why, func(t *testing.T) {
			var out writes
			require.NoError(t, lines.NewWriter(&out).Error(c.err))
			assert.Equal(t, []string{c.line}, out.lines)
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriterAllocatesNothing(t *testing.T) {
	batch := layoutOf(t, "a").NewBatch()
	require.NoError(t, batch.Append([]wire.Value{wire.Text("two")}))
	w := lines.NewWriter(io.Discard)
	require.NoError(t, w.Served(wire.Served{}))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if w.Ping() != nil || w.Rows(batch) != nil {
			panic("a write failed")
		}
	}))
}
