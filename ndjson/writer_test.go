package ndjson_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestWriter(t *testing.T) {
	var out writes
	w := ndjson.NewWriter(&out)
	require.NoError(t, w.Ping())
	require.NoError(t, w.Begin(wire.Served{Filters: true}, "a", "b"))
	require.NoError(t, w.Row(wire.Int(1), wire.Text("x")))
	require.NoError(t, w.Row(wire.Int(2)))
	require.NoError(t, w.Flush())
	require.NoError(t, w.Flush(), "nothing to write")
	require.NoError(t, w.Ping())
	require.NoError(t, w.Row())
	require.NoError(t, w.End())
	assert.Equal(t, []string{
		"{\"ping\":1}\n",
		`{"served":{"filters":true,"sort":false,"window":false}}` + "\n",
		`{"rows":[{"a":1,"b":"x"},{"a":2,"b":null}]}` + "\n",
		"{\"ping\":1}\n",
		`{"rows":[{"a":null,"b":null}]}` + "\n",
		"{\"end\":1}\n",
	}, out.lines)
}

// A full line is written by itself, and the row that did not fit begins the next.
func TestWriterCutsLines(t *testing.T) {
	var out writes
	w := ndjson.NewWriter(&out)
	require.NoError(t, w.Begin(wire.Served{}))
	for range 2*wire.MaxBatchRows + 1 {
		require.NoError(t, w.Row())
	}
	require.NoError(t, w.End())
	require.Len(t, out.lines, 5)
	rows := 0
	for _, err := range ndjson.NewReader(strings.NewReader(strings.Join(out.lines, ""))).Rows() {
		require.NoError(t, err)
		rows++
	}
	assert.Equal(t, 2*wire.MaxBatchRows+1, rows)
}

func TestWriterOutOfOrder(t *testing.T) {
	calls := map[string]func(w *ndjson.Writer) error{
		"begin": func(w *ndjson.Writer) error { return w.Begin(wire.Served{}, "a") },
		"row":   func(w *ndjson.Writer) error { return w.Row(wire.Int(1)) },
		"fail":  func(w *ndjson.Writer) error { return w.Error(wire.Errorf(wire.CodeTimeout, "late")) },
		"flush": (*ndjson.Writer).Flush, "end": (*ndjson.Writer).End, "ping": (*ndjson.Writer).Ping,
	}
	for _, c := range testkit.Table(t, "testdata/order.tsv", 3) {
		var out bytes.Buffer
		w := ndjson.NewWriter(&out)
		names := strings.Fields(c[0])
		for _, name := range names[:len(names)-1] {
			require.NoError(t, calls[name](w), c[2])
		}
		before := out.String()
		err := calls[names[len(names)-1]](w)
		require.ErrorIs(t, err, lines.ErrOrder, c[2])
		assert.ErrorContains(t, err, c[1], c[2])
		assert.Equal(t, before, out.String(), "%s: nothing is written", c[2])
	}
}

func TestWriterRefuses(t *testing.T) {
	var out bytes.Buffer
	w := ndjson.NewWriter(&out)
	assert.ErrorContains(t, w.Begin(wire.Served{}, "a", "a"), `duplicate column "a"`)
	assert.ErrorContains(t, w.Begin(wire.Served{Window: true}, "a"), "served.window")
	require.NoError(t, w.Begin(wire.Served{}, "a"), "after a refusal the stream can go on")
	assert.ErrorContains(t, w.Row(wire.Float(math.NaN())), "NaN")
	assert.ErrorIs(t, w.Row(wire.Text(strings.Repeat("x", wire.MaxLineBytes))), lines.ErrRowTooLarge)
	require.NoError(t, w.Row(wire.Int(1)))
	require.Error(t, w.Error(nil), "an error line needs an error")
	require.ErrorContains(t, w.Error(wire.Errorf(wire.CodeInternal, "%s", strings.Repeat("x", wire.MaxLineBytes))), "16 MiB")
	require.NoError(t, w.Row(wire.Int(2)), "an error line that is refused ends nothing")
	require.NoError(t, w.Error(wire.Errorf(wire.CodeInternal, terms.InternalMessage)))
	assert.Equal(t, `{"served":{"filters":false,"sort":false,"window":false}}`+"\n"+
		`{"error":{"code":"internal","message":"internal error"}}`+"\n", out.String(), "collected rows are dropped")
}

// Once a write failed, every later call returns its error, as does the call that wrote, and
// nothing more is written: half a line may be out.
func TestWriterStaysBroken(t *testing.T) {
	broken := errors.New("broken pipe")
	failures := map[error]func(p []byte) (int, error){
		broken:           func([]byte) (int, error) { return 3, broken },
		io.ErrShortWrite: func(p []byte) (int, error) { return len(p) - 1, nil },
	}
	calls := map[string]func(*ndjson.Writer) error{
		"a flush": (*ndjson.Writer).Flush,
		"an end":  (*ndjson.Writer).End,
		"a row beyond a full line": func(w *ndjson.Writer) (err error) {
			for i := 0; i < wire.MaxBatchRows && err == nil; i++ {
				err = w.Row(wire.Int(1))
			}
			return err
		},
	}
	for want, fails := range failures {
		for why, call := range calls {
			count := 0
			w := ndjson.NewWriter(writerFunc(func(p []byte) (int, error) {
				if count++; count > 1 {
					return fails(p)
				}
				return len(p), nil
			}))
			require.NoError(t, w.Begin(wire.Served{}, "a"))
			require.NoError(t, w.Row(wire.Int(1)))
			first := call(w)
			require.ErrorIs(t, first, want, why)
			for _, again := range []error{w.Row(wire.Int(2)), w.Flush(), w.Ping(), w.Begin(wire.Served{}), w.End(), w.Error(&wire.Error{})} {
				assert.Equal(t, first, again, why)
			}
			assert.Equal(t, 2, count, why)
		}
	}
}

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
