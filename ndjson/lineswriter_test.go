package ndjson_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// writes records each Write by itself.
type writes struct{ lines []string }

func (w *writes) Write(p []byte) (int, error) {
	w.lines = append(w.lines, string(p))
	return len(p), nil
}

// batchOf is a batch of one-member rows {"a":cell}.
func batchOf(t testing.TB, cells ...wire.Value) *lines.Batch {
	t.Helper()
	layout, err := lines.NewLayout([]string{"a"}, nil)
	require.NoError(t, err)
	b := layout.NewBatch()
	for _, c := range cells {
		require.NoError(t, b.Append([]wire.Value{c}))
	}
	return b
}

func TestWriterGrammar(t *testing.T) {
	var (
		served = func(w *lines.Writer) error { return w.Served(wire.Served{Filters: true, Sort: true}) }
		rows   = func(w *lines.Writer) error { return w.Rows(batchOf(t, wire.Int(1), wire.Null())) }
		none   = func(w *lines.Writer) error { return w.Rows(batchOf(t)) }
		ping   = func(w *lines.Writer) error { return w.Ping() }
		end    = func(w *lines.Writer) error { return w.End() }
		fail   = func(w *lines.Writer) error {
			return w.Error(wire.Errorf(wire.CodeTimeout, "no row for %d seconds", 30))
		}
	)
	const (
		servedLine = `{"served":{"filters":true,"sort":true,"window":false}}` + "\n"
		rowsLine   = `{"rows":[{"a":1},{"a":null}]}` + "\n"
		pingLine   = `{"ping":1}` + "\n"
		endLine    = `{"end":1}` + "\n"
		failLine   = `{"error":{"code":"timeout","message":"no row for 30 seconds"}}` + "\n"
	)
	type call = func(*lines.Writer) error
	for _, c := range []struct {
		why   string
		calls []call
		lines []string // what is written
		order bool     // the last call is out of turn
		names string   // what its error says
	}{
		{"stream-1: the usual stream", []call{served, rows, ping, rows, end},
			[]string{servedLine, rowsLine, pingLine, rowsLine, endLine}, false, ""},
		{"stream-1: no rows is a complete answer", []call{served, end}, []string{servedLine, endLine}, false, ""},
		{"stream-1: pings may precede served", []call{ping, ping, served, end}, []string{pingLine, pingLine, servedLine, endLine}, false, ""},
		{"stream-1: an error ends a stream at any point", []call{served, rows, fail}, []string{servedLine, rowsLine, failLine}, false, ""},
		{"stream-1, stream-3: an error after nothing but a ping", []call{ping, fail}, []string{pingLine, failLine}, false, ""},
		{"stream-6: an empty batch is no line", []call{served, none, end}, []string{servedLine, endLine}, false, ""},
		{"stream-1: rows need served", []call{rows}, nil, true, "rows before served"},
		{"stream-1: so does an empty batch, which is a mistake of the caller as well", []call{none}, nil, true, "rows before served"},
		{"stream-1: a ping does not replace served", []call{ping, rows}, []string{pingLine}, true, "rows before served"},
		{"stream-1: so does the end", []call{end}, nil, true, "end before served"},
		{"stream-1: served is said once", []call{served, served}, []string{servedLine}, true, "served is written once"},
		{"stream-1: and not after rows", []call{served, rows, served}, []string{servedLine, rowsLine}, true, "served is written once"},
		{"stream-1: nothing follows an end: rows", []call{served, end, rows}, []string{servedLine, endLine}, true, "rows after end"},
		{"stream-1: nothing follows an end: an empty batch", []call{served, end, none}, []string{servedLine, endLine}, true, "rows after end"},
		{"stream-1: nothing follows an end: a ping", []call{served, end, ping}, []string{servedLine, endLine}, true, "ping after end"},
		{"stream-1: exactly one end", []call{served, end, end}, []string{servedLine, endLine}, true, "end after end"},
		{"stream-1: exactly one of end and error", []call{served, end, fail}, []string{servedLine, endLine}, true, "error after end"},
		{"stream-1: nothing follows an end: served", []call{served, end, served}, []string{servedLine, endLine}, true, "served after end"},
		{"stream-3: no end follows an error", []call{served, fail, end}, []string{servedLine, failLine}, true, "end after error"},
		{"stream-3: no second error", []call{served, fail, fail}, []string{servedLine, failLine}, true, "error after error"},
		{"stream-1: no ping after an error", []call{fail, ping}, []string{failLine}, true, "ping after error"},
		{"stream-1: no rows after an error", []call{served, fail, rows}, []string{servedLine, failLine}, true, "rows after error"},
	} {
		t.Run(c.why, func(t *testing.T) {
			var out writes
			w := lines.NewWriter(&out)
			for i, call := range c.calls {
				err := call(w)
				if c.order && i == len(c.calls)-1 {
					require.ErrorIs(t, err, lines.ErrOrder)
					assert.ErrorContains(t, err, c.names)
					continue
				}
				require.NoError(t, err)
			}
			assert.Equal(t, c.lines, out.lines, "each call is one Write of one whole line")
		})
	}
}

func TestWriterGoesOnAfterACallOutOfTurn(t *testing.T) {
	var out writes
	w := lines.NewWriter(&out)
	require.ErrorIs(t, w.End(), lines.ErrOrder)
	require.NoError(t, w.Served(wire.Served{}))
	require.ErrorIs(t, w.Served(wire.Served{}), lines.ErrOrder)
	require.NoError(t, w.End())
	assert.Equal(t, []string{`{"served":{"filters":false,"sort":false,"window":false}}` + "\n", `{"end":1}` + "\n"}, out.lines)
}

func TestWriterServed(t *testing.T) {
	for _, c := range []struct {
		why    string
		served wire.Served
		ok     bool
	}{
		{"stream-2: the zero value claims nothing", wire.Served{}, true},
		{"stream-2: filters alone", wire.Served{Filters: true}, true},
		{"stream-2: sort alone", wire.Served{Sort: true}, true},
		{"stream-2: everything", wire.Served{Filters: true, Sort: true, Window: true}, true},
		{"stream-2: a window without both loses rows", wire.Served{Window: true}, false},
		{"stream-2: a window over unsorted rows loses rows", wire.Served{Filters: true, Window: true}, false},
		{"stream-2: a window over unfiltered rows loses rows", wire.Served{Sort: true, Window: true}, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			var out writes
			w := lines.NewWriter(&out)
			err := w.Served(c.served)
			if !c.ok {
				require.ErrorContains(t, err, "served.window")
				assert.Empty(t, out.lines)
				return
			}
			require.NoError(t, err)
			require.NoError(t, w.End())
			r := ndjson.NewReader(strings.NewReader(strings.Join(out.lines, "")))
			for _, err := range r.Rows() {
				require.NoError(t, err)
			}
			got, present := r.Served()
			assert.True(t, present)
			assert.Equal(t, c.served, got)
		})
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

	var out writes
	w := lines.NewWriter(&out)
	require.Error(t, w.Error(nil), "an error line needs an error")
	require.ErrorContains(t, w.Error(wire.Errorf(wire.CodeInternal, "%s", strings.Repeat("x", wire.MaxLineBytes))), "16 MiB")
	assert.Empty(t, out.lines)
	require.NoError(t, w.Error(wire.Errorf(wire.CodeInternal, terms.InternalMessage)),
		"a refused message leaves the stream open for a shorter one")
}

func TestWriterFailedWriteIsSticky(t *testing.T) {
	broken := errors.New("broken pipe")
	t.Run("an error", func(t *testing.T) {
		calls := 0
		w := lines.NewWriter(writerFunc(func(p []byte) (int, error) {
			if calls++; calls == 2 {
				return 3, broken
			}
			return len(p), nil
		}))
		require.NoError(t, w.Served(wire.Served{}))
		first := w.Rows(batchOf(t, wire.Int(1)))
		require.ErrorIs(t, first, broken)
		for _, again := range []error{w.Ping(), w.Served(wire.Served{}), w.Rows(batchOf(t)), w.End(),
			w.Error(wire.Errorf(wire.CodeInternal, ""))} {
			assert.Equal(t, first, again)
		}
		assert.Equal(t, 2, calls, "nothing is written after a failure: half a line may be out")
	})
	t.Run("a short write without an error", func(t *testing.T) {
		w := lines.NewWriter(writerFunc(func(p []byte) (int, error) { return len(p) - 1, nil }))
		require.ErrorIs(t, w.Served(wire.Served{}), io.ErrShortWrite)
		require.ErrorIs(t, w.End(), io.ErrShortWrite)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriterAllocatesNothing(t *testing.T) {
	batch := batchOf(t, wire.Int(1), wire.Text("two"))
	w := lines.NewWriter(io.Discard)
	require.NoError(t, w.Served(wire.Served{}))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if w.Ping() != nil || w.Rows(batch) != nil {
			panic("a write failed")
		}
	}))
}
