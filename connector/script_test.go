package connector_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The streams below are scripts: what the source does, step by step, and what
// the reader sees, line by line, with the instant of the bubble's clock.

type actor struct {
	ctx context.Context
	out *connector.Rows
	w   *connector.RowWriter
	n   int64
}

type step func(*actor) error

var number = []wire.Column{{Name: "n", Type: wire.TypeNumber}}

func begin(a *actor) error {
	a.w = a.out.Begin(number)
	return nil
}

func flush(a *actor) error { return a.w.Flush() }

// claim claims what it names of filters, sort and window.
func claim(parts string) step {
	return func(a *actor) error {
		has := func(part string) bool { return strings.Contains(parts, part) }
		c := a.out.Claim(connector.Applied{Filters: has("filters"), Sort: has("sort")})
		if has("window") {
			_, _, _ = c.TakeWindow()
		}
		return nil
	}
}

// rows offers the next n integers.
func rows(n int) step {
	return func(a *actor) error {
		for range n {
			a.n++
			if err := a.w.Row(wire.Int(a.n)); err != nil {
				return err
			}
		}
		return nil
	}
}

// ones offers rows that are so short that a batch of 5,000 is one line.
func ones(n ...int) step {
	return func(a *actor) error {
		for range n[0] {
			if err := a.w.Row(wire.Int(1)); err != nil {
				return err
			}
		}
		return nil
	}
}

// wide offers rows of about so many bytes. Digits are cheap to make and to send.
func wide(bytes ...int) step {
	return func(a *actor) error {
		for _, n := range bytes {
			if err := a.w.Row(wire.Decimal(strings.Repeat("7", n))); err != nil {
				return err
			}
		}
		return nil
	}
}

// wait minds the context; sleep does not.
func wait(d time.Duration) step { return func(a *actor) error { return pause(a.ctx, d) } }

// pause waits, or returns why the context has ended.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func sleep(d time.Duration) step { return func(*actor) error { time.Sleep(d); return nil } }
func fail(err error) step        { return func(*actor) error { return err } }

// spin offers a row every millisecond, for ever.
func spin(a *actor) error {
	for {
		if err := a.w.Row(wire.Int(1)); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// swallow returns at the deadline without an error, as if it were done.
func swallow(a *actor) error {
	<-a.ctx.Done()
	return nil
}

const forever = 1000 * time.Hour

func script(steps ...step) testkit.Source {
	return testkit.Source{OnQuery: func(ctx context.Context, _ *connector.Query, out *connector.Rows) error {
		a := &actor{ctx: ctx, out: out}
		for _, s := range steps {
			if err := s(a); err != nil {
				return err
			}
		}
		return nil
	}}
}

// steps reads a script as the files in testdata have it: verbs with their arguments, separated by semicolons.
func steps(t *testing.T, text string) (list []step) {
	t.Helper()
	failing := fail(errors.New(canary))
	alone := map[string]step{"begin": begin, "flush": flush, "spin": spin, "swallow": swallow, "fail": failing}
	counted := map[string]func(...int) step{"rows": func(n ...int) step { return rows(n[0]) }, "ones": ones, "wide": wide}
	timed := map[string]func(time.Duration) step{"wait": wait, "sleep": sleep}
	for text := range strings.SplitSeq(text, "; ") {
		verb, rest, more := strings.Cut(text, " ")
		if one := alone[verb]; one != nil && !more {
			list = append(list, one)
		} else if counted := counted[verb]; counted != nil {
			var numbers []int
			for word := range strings.FieldsSeq(rest) {
				numbers = append(numbers, testkit.Must(strconv.Atoi(word))(t, text))
			}
			list = append(list, counted(numbers...))
		} else if verb == "claim" {
			list = append(list, claim(rest))
		} else if timed := timed[verb]; timed != nil {
			list = append(list, timed(testkit.Must(time.ParseDuration(rest))(t, text)))
		} else {
			code, message, _ := strings.Cut(rest, " ")
			require.Equal(t, "fail", verb, text)
			list = append(list, fail(wire.Errorf(wire.Code(code), "%s", message)))
		}
	}
	return list
}

// seen returns the lines that a script's reader sees, in which a word stands for a line of the protocol.
func seen(text string) []string {
	lines := strings.Split(text, " | ")
	for i, line := range lines {
		at, word, _ := strings.Cut(line, " ")
		full := map[string]string{"served": all, "ping": ping, "end": end, "late": late, "idle": idle, "broken": broken}[word]
		if full != "" {
			lines[i] = at + " " + full
		}
	}
	return lines
}

// ask returns the body of a query for n, with more members and a timeout.
func ask(more string, timeout time.Duration) string {
	if !strings.Contains(more, `"sort"`) {
		more += `"sort":[],`
	}
	return fmt.Sprintf(`{"table":"items","and":[],"fields":["n"],%s"credentials":{"apiKey":%q},"timeoutMs":%d}`, more,
		secret, timeout.Milliseconds())
}

// stream sends a query and returns the lines that come, each with its instant:
// a rows line as its number of rows, a refusal as its status.
func (s *site) stream(body string) []string {
	s.t.Helper()
	start := time.Now()
	res := testkit.Must(s.Client.Do(s.Request(context.Background(), "/query", body)))(s.t)
	defer res.Body.Close()
	if res.StatusCode != 200 {
		a := read(s.t, res)
		a.hasRefusalHeaders(s.t)
		var e wire.ErrorAnswer
		require.NoError(s.t, wire.Decode([]byte(a.body), &e))
		return []string{fmt.Sprintf("%v %d %s: %s", time.Since(start), a.status, e.Error.Code, e.Error.Message)}
	}
	assert.Equal(s.t, "application/x-ndjson", res.Header.Get("Content-Type"))
	assert.Equal(s.t, "no-store", res.Header.Get("Cache-Control"))
	assert.Equal(s.t, "no", res.Header.Get("X-Accel-Buffering"))
	assert.Equal(s.t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	return s.lines(start, res.Body)
}

func (s *site) lines(start time.Time, body io.Reader) (lines []string) {
	s.t.Helper()
	var whole bytes.Buffer
	in := bufio.NewReader(body)
	for {
		line, err := in.ReadBytes('\n')
		whole.Write(line)
		if err != nil {
			if err != io.EOF {
				lines = append(lines, fmt.Sprintf("%v cut off", time.Since(start)))
				return lines
			}
			assert.Empty(s.t, line, "the stream ends in the middle of a line")
			break
		}
		lines = append(lines, fmt.Sprintf("%v %s", time.Since(start), summary(line)))
	}
	// The strict reader checks the order of the lines.
	for _, err := range ndjson.NewReader(&whole).Rows() {
		if failure := (*wire.Error)(nil); !errors.As(err, &failure) {
			assert.NoError(s.t, err)
		}
	}
	return lines
}

func summary(line []byte) string {
	if !bytes.HasPrefix(line, []byte(`{"rows":`)) {
		return strings.TrimSpace(string(line))
	}
	if len(line) > 1<<20 {
		return fmt.Sprintf("rows %d", bytes.Count(line, []byte(`{"n":`)))
	}
	var rows struct{ Rows []json.RawMessage }
	if err := json.Unmarshal(line, &rows); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("rows %d", len(rows.Rows))
}

const (
	all    = `{"served":{"filters":true,"sort":true,"window":true}}`
	ping   = `{"ping":1}`
	end    = `{"end":1}`
	late   = `{"error":{"code":"timeout","message":"the request's time is over"}}`
	idle   = `{"error":{"code":"timeout","message":"no row came within the request's idleTimeoutMs"}}`
	broken = `{"error":{"code":"internal","message":"internal error"}}`
)
