package ndjson_test

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
)

// Whatever happens to a stream on its way, the reader never takes for
// complete what is not.

// wholeStreams have every kind of line and every kind of cell.
var wholeStreams = []string{
	ping + `{"served":{"filters":true,"sort":false,"window":false}}` + "\n" +
		`{"rows":[{"id":1,"name":"A\"b\\","note":"Straße 😀","total":"10.250","ok":true,"x":null},{"id":2,` +
		`"name":"","note":"\u00fc\ud83d\ude00\n","total":"-7","ok":false,"x":0.5}]}` +
		"\n" +
		ping + `{"rows":[{"id":-3,"name":"c","note":null,"total":null,"ok":true,"x":1e-7},{"id":4},{}]}` + "\n" + end,
	servedNone + `{ "rows" : [ { "a" : 1 , "b" : "x" }, { "a" : 2, "b" : "y" } ] }` + "\r\n" + failure,
	end,
	failure,
}

// requireSameVerdict reads a damaged stream and holds the verdict against the
// oracle's. It reports whether the stream is complete.
func requireSameVerdict(t *testing.T, what string, stream string, reader io.Reader) bool {
	t.Helper()
	want, complete := oracle(stream)
	got, err := transcript(ndjson.NewReader(reader))
	if complete != (err == nil) {
		t.Fatalf("%s: complete is %v, but the reader says %v:\n%q", what, complete, err, stream)
	}
	if complete && !slices.Equal(got, want) {
		t.Fatalf("%s: read as\n%q instead of\n%q", what, got, want)
	}
	return complete
}

func TestDamageCutAnywhere(t *testing.T) {
	trials := 0
	for _, stream := range wholeStreams {
		require.True(t, requireSameVerdict(t, "uncut", stream, strings.NewReader(stream)))
		for at := range len(stream) {
			cut := stream[:at]
			// Only the newline of the last line may be missing: its object is
			// whole, and nothing was to follow.
			whole := at == len(stream)-1
			for how, reader := range deliveries(cut) {
				_, err := transcript(ndjson.NewReader(reader))
				trials++
				if whole {
					require.NoError(t, err, "%s, cut at %d", how, at)
					continue
				}
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s, cut at %d", how, at)
			}
		}
	}
	t.Logf("%d cuts", trials)
}

func TestDamageEveryBit(t *testing.T) {
	trials, complete, bitStep := 0, 0, 1
	if testrun.Race {
		bitStep = 5
	}
	for _, stream := range wholeStreams {
		b := []byte(stream)
		for i := range b {
			for bit := i % bitStep; bit < 8; bit += bitStep {
				b[i] ^= 1 << bit
				trials++
				if requireSameVerdict(t, "a bit flipped", string(b), strings.NewReader(string(b))) {
					complete++
				}
				b[i] ^= 1 << bit
			}
		}
	}
	// Flips within a cell or a name make another stream that is as good.
	t.Logf("%d flips, %d of them another complete stream", trials, complete)
	assert.Less(t, complete, trials/2)
}

// A stream that stalls has delivered what it delivered: rows must not wait for
// the line after them.
func TestRowsAreYieldedBeforeMoreIsRead(t *testing.T) {
	pieces := []string{servedNone, oneRow[:5], oneRow[5:], ping + oneRow, "", end}
	next := 0
	r := ndjson.NewReader(readerFunc(func(p []byte) (int, error) {
		if next == len(pieces) {
			return 0, io.EOF
		}
		next++
		return copy(p, pieces[next-1]), nil
	}))
	var readWhen []int
	for _, err := range r.Rows() {
		require.NoError(t, err)
		readWhen = append(readWhen, next)
	}
	assert.Equal(t, []int{3, 4}, readWhen, "pieces read when each row came")
}

// Memory is bounded by a line: nothing of earlier lines stays reachable, in
// whatever order lines of different widths come.
func TestReaderLetsGoOfLines(t *testing.T) {
	const lines, size = 40, 256 << 10
	text := strings.Repeat("x", size)
	row := func(width int) string {
		var b strings.Builder
		b.WriteString("{")
		for i := range width {
			b.WriteString(`"` + strings.Repeat("n", i+1) + `":"y",`)
		}
		return b.String() + `"text":"` + text + `"}`
	}
	for _, c := range []struct {
		why  string
		line func(i int) string
	}{
		{"rows of ever fewer members", func(i int) string { return `{"rows":[` + row(lines-i) + "]}\n" }},
		{"ever fewer rows", func(i int) string {
			return `{"rows":[` + strings.Repeat(`{"a":"z"},`, lines-i) + `{"a":"` + text + `"}]}` + "\n"
		}},
		{"names of their own in every line", func(i int) string {
			return `{"rows":[{"` + strings.Repeat("m", i+1) + `":"` + text + `","b":"` + strings.Repeat("z", i) + `"}]}` + "\n"
		}},
		{"long names of their own in every line", func(i int) string {
			return `{"rows":[{"` + strings.Repeat("m", i+1) + text + `":1},{}]}` + "\n"
		}},
		{"long names in ever fewer rows", func(i int) string {
			return `{"rows":[` + strings.Repeat(`{},`, lines-i) + `{"` + strings.Repeat("m", i+1) + text + `":1}]}` + "\n"
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			stream, sender := io.Pipe()
			go func() {
				for i := range lines {
					_, _ = io.WriteString(sender, c.line(i))
				}
				_, _ = io.WriteString(sender, end)
				_ = sender.Close()
			}()
			r := ndjson.NewReader(stream)
			before := heap()
			for _, err := range r.Rows() {
				require.NoError(t, err)
			}
			after := heap()
			assert.Less(t, after-before, int64(7*size), "of %d KiB read, at most a few lines are held", lines*size>>10)
			runtime.KeepAlive(r)
		})
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestReaderAllocatesPerLineNotPerRow(t *testing.T) {
	const lines, rows = 50, 500
	line := `{"rows":[` + strings.Repeat(`{"id":1,"name":"Amelia","total":"10.25","active":true,"x":null},`, rows-1) +
		`{"id":1,"name":"Amelia","total":"10.25","active":true,"x":null}]}` + "\n"
	stream := servedNone + strings.Repeat(line, lines) + end
	spaced := strings.NewReplacer(",", ", ", ":", ": ").Replace(stream)
	for what, text := range map[string]string{"compact": stream, "with blanks": spaced} {
		allocs := testing.AllocsPerRun(5, func() {
			n := 0
			for row, err := range ndjson.NewReader(strings.NewReader(text)).Rows() {
				if err != nil || len(row.Values()) != 5 {
					panic("a row was misread")
				}
				n++
			}
			if n != lines*rows {
				panic("rows were lost")
			}
		})
		assert.Less(t, allocs, float64(2*lines), what)
	}
}
