package connector_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// An actor plays a script: what a source or an Intercept does, as the files in testdata have it.
type actor struct {
	ctx   context.Context
	query *connector.Query
	out   *connector.Rows
	claim connector.Claim
	w     *connector.RowWriter
	n     int64
	next  action // of an Intercept
	err   error  // what next returned
	// What the calls answer that write no rows.
	size    *wire.Size
	count   int64
	groups  [][]wire.Value
	columns map[string]*wire.Cardinality
	link    *wire.LinkHitRate
}

type step func(*actor) error

var number = []wire.Column{{Name: "n", Type: wire.TypeNumber}}

// script reads verbs with their arguments, which semicolons separate. Nobody looks at the error of a verb
// behind "try". A verb that is unknown ends the test, and not the call that plays it.
func script(text string) step {
	lines := strings.Split(text, "; ")
	for _, line := range lines {
		if verb, _, _ := strings.Cut(strings.TrimPrefix(line, "try "), " "); verbs[verb] == nil {
			panic("no verb " + verb)
		}
	}
	return func(a *actor) error {
		for _, line := range lines {
			line, tried := strings.CutPrefix(line, "try ")
			verb, rest, _ := strings.Cut(line, " ")
			if err := verbs[verb](a, rest); err != nil && !tried {
				return err
			}
		}
		return a.err
	}
}

var verbs = map[string]func(a *actor, rest string) error{
	"":        func(*actor, string) error { return nil },
	"nothing": func(*actor, string) error { return nil },
	// begin has columns as package cells reads them, or n.
	"begin": func(a *actor, names string) error {
		columns, _ := cells.Table(inScript{}, unfold(cmp.Or(names, "n:number")))
		a.w = a.out.Begin(columns)
		return nil
	},
	"flush": func(a *actor, _ string) error { return a.w.Flush() },
	// claim has what is claimed of filters and sort, and whether the window is taken.
	"claim": func(a *actor, parts string) error {
		has := func(part string) bool { return strings.Contains(parts, part) }
		if a.claim = a.out.Claim(connector.Applied{Filters: has("filters"), Sort: has("sort")}); has("window") {
			_, _, _ = a.claim.TakeWindow()
		}
		return nil
	},
	"window": func(a *actor, want string) error {
		offset, limit, ok := a.claim.TakeWindow()
		return differs(want, fmt.Sprint(offset, limit, ok))
	},
	"request": func(a *actor, want string) error {
		q := a.query
		return differs(want, fmt.Sprint(len(q.Fields), q.TimeoutMS, q.Credentials.Get("apiKey") == secret))
	},
	"row": func(a *actor, text string) error { return a.w.Row(cells.Row(inScript{}, text)...) },
	// rows offers the next n integers, ones so many rows that are so short that a batch of 5,000 is one line.
	"rows": func(a *actor, n string) error {
		return repeat(n, func() error { a.n++; return a.w.Row(wire.Int(a.n)) })
	},
	"ones": func(a *actor, n string) error { return repeat(n, func() error { return a.w.Row(wire.Int(1)) }) },
	// wide offers rows of about so many bytes. Digits are cheap to make and to send.
	"wide": func(a *actor, sizes string) error {
		for n := range strings.FieldsSeq(sizes) {
			if err := a.w.Row(wire.Decimal(strings.Repeat("7", atoi(n)))); err != nil {
				return err
			}
		}
		return nil
	},
	// spin offers a row every millisecond, for ever.
	"spin": func(a *actor, _ string) error {
		for {
			if err := a.w.Row(wire.Int(1)); err != nil {
				return err
			}
			time.Sleep(time.Millisecond)
		}
	},
	// wait minds the context; sleep does not. swallow returns at the deadline as if it were done.
	"wait":    func(a *actor, d string) error { return pause(a.ctx, duration(d)) },
	"sleep":   func(_ *actor, d string) error { time.Sleep(duration(d)); return nil },
	"swallow": func(a *actor, _ string) error { <-a.ctx.Done(); return nil },

	"fail": func(_ *actor, text string) error {
		code, message, _ := strings.Cut(text, " ")
		if code == "" {
			return errors.New(canary)
		}
		return wire.Errorf(wire.Code(code), "%s", message)
	},
	"boom":    func(*actor, string) error { return errors.New("boom") },
	"panic":   func(*actor, string) error { panic("boom") },
	"exit":    func(*actor, string) error { runtime.Goexit(); return nil },
	"decline": func(*actor, string) error { return errors.Join(errors.New("why"), connector.ErrDecline) },

	// What the calls answer that write no rows. A group has cells; groups are so many of two cells each.
	"size": func(a *actor, rows string) error {
		a.size = &wire.Size{Rows: int64(atoi(rows)), Exact: true}
		return nil
	},
	"count": func(a *actor, n string) error { a.count = int64(atoi(n)); return nil },
	"group": func(a *actor, text string) error {
		a.groups = append(a.groups, cells.Row(inScript{}, text))
		return nil
	},
	"groups": func(a *actor, n string) error {
		a.groups = make([][]wire.Value, 0) // nil is no answer
		return repeat(n, func() error {
			a.n++
			a.groups = append(a.groups, []wire.Value{wire.Int(a.n), wire.Int(1)})
			return nil
		})
	},
	"cardinality": func(a *actor, text string) error {
		w := append(strings.Fields(text), "")
		if a.columns == nil {
			a.columns = map[string]*wire.Cardinality{}
		}
		if a.columns[w[0]] = nil; w[1] != "" {
			a.columns[w[0]] = &wire.Cardinality{NonNull: int64(atoi(w[1])), Distinct: int64(atoi(w[2]))}
		}
		return nil
	},
	"link": func(a *actor, text string) error {
		w := strings.Fields(text)
		a.link = &wire.LinkHitRate{FromNonNull: int64(atoi(w[0])), OrphanCount: int64(atoi(w[1])), OrphanRate: math.NaN()}
		for _, sample := range w[2:] {
			a.link.OrphanSamples = append(a.link.OrphanSamples, unfold(sample))
		}
		return nil
	},

	// What an Intercept does: it calls next, in another goroutine perhaps, for which it waits or not, and
	// goes on. Its error is that of next, unless it swallows or wraps it.
	"next": func(a *actor, _ string) error { a.err = a.next(a.ctx); return nil },
	"nextRecovered": func(a *actor, _ string) error {
		defer func() { _ = recover() }()
		return a.next(a.ctx)
	},
	"nextElsewhere": func(a *actor, _ string) error {
		var elsewhere sync.WaitGroup
		elsewhere.Go(func() { a.err = a.next(a.ctx) })
		elsewhere.Wait()
		return nil
	},
	"nextBeside": func(a *actor, _ string) error {
		started := make(chan struct{})
		go func() { close(started); _ = a.next(a.ctx) }()
		<-started
		synctest.Wait()
		return nil
	},
	"forget": func(a *actor, _ string) error { a.err = nil; return nil },
	"wrap":   func(a *actor, text string) error { return fmt.Errorf("%s: %w", text, a.err) },
}

func atoi(text string) int { return testkit.Must(strconv.Atoi(text))(inScript{}) }

func duration(text string) time.Duration { return testkit.Must(time.ParseDuration(text))(inScript{}) }

func repeat(n string, do func() error) error {
	for range atoi(n) {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// differs is an error unless the two are the same.
func differs(want, got string) error {
	if got != want {
		return fmt.Errorf("%s instead of %s", got, want)
	}
	return nil
}

// pause waits, or returns why the context has ended.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inScript is what a script reads cells for. A script that is malformed ends the program.
type inScript struct{ testing.TB }

func (inScript) Helper()                           {}
func (inScript) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// unfold replaces the two characters "\xff" by the byte.
func unfold(text string) string { return strings.ReplaceAll(text, `\xff`, "\xff") }

// act makes methods of a source play a part: Check, Discover, Query, QueryJoined, QuerySQL, Size, Count,
// Aggregate, Cardinality, LinkHitRate and Describe.
func act(s *connectors.Full, methods string, play step) {
	query := func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
		return play(&actor{ctx: ctx, query: req, out: out})
	}
	for method := range strings.FieldsSeq(methods) {
		switch method {
		case "Check":
			s.OnCheck = func(ctx context.Context, _ *wire.CheckRequest) error { return play(&actor{ctx: ctx}) }
		case "Discover":
			s.OnDiscover = call[*wire.DiscoveryRequest](play, func(*actor) *wire.Discovery { return nil })
		case "Query":
			s.OnQuery = query
		case "QueryJoined":
			s.Joiner = query
		case "QuerySQL":
			s.OnSQL = func(ctx context.Context, _ *wire.SQLRequest, out *connector.Rows) error { return query(ctx, nil, out) }
		case "Size":
			s.Sizer = call[*wire.SizeRequest](play, func(a *actor) *wire.Size { return a.size })
		case "Count":
			s.Counter = call[*wire.CountRequest](play, func(a *actor) int64 { return a.count })
		case "Aggregate":
			s.Aggregator = call[*wire.AggregateRequest](play, func(a *actor) [][]wire.Value { return a.groups })
		case "Cardinality":
			s.Measurer = call[*wire.CardinalityRequest](play, func(a *actor) map[string]*wire.Cardinality { return a.columns })
		case "LinkHitRate":
			s.Linker = call[*wire.LinkHitRateRequest](play, func(a *actor) *wire.LinkHitRate { return a.link })
		default:
			s.Describer = func(ctx context.Context, _ wire.Credentials, _ string) (*wire.Table, error) {
				return items(), play(&actor{ctx: ctx})
			}
		}
	}
}

// call returns a method that plays a part and answers what it has left.
func call[R, V any](play step, answer func(*actor) V) func(context.Context, R) (V, error) {
	return func(ctx context.Context, _ R) (V, error) {
		a := &actor{ctx: ctx}
		err := play(a)
		return answer(a), err
	}
}

// allCalls is each method but Check and Describe.
const allCalls = "Discover Query QueryJoined QuerySQL Size Count Aggregate Cardinality LinkHitRate"

// plays returns a source whose Query plays a script.
func plays(text string) connectors.Source {
	var s connectors.Full
	act(&s, "Query", script(text))
	return s.Source
}

// failing returns a source whose Check and Discover fail.
func failing(err error) connectors.Source {
	var s connectors.Full
	act(&s, "Check Discover", func(*actor) error { return err })
	return s.Source
}

var (
	kindWord    = regexp.MustCompile(`^(source|endpoints|described|full|aggregating|sql)\b ?`)
	methodsWord = regexp.MustCompile(`^([A-Z][A-Za-z ]*): `)
)

// played serves a source as a file describes it: its kind, by default one with every optional route, and the
// scripts of some methods, or one script of all but Check and Describe. A slash separates them, as in
// "described Count: decline / Query: begin; row 1". A script that begins with once must be played, and not twice.
// Intercept has a script too, and Omit has JSON.
func played(t testing.TB, words string, opts connector.Options) *site {
	t.Helper()
	s := connectors.Full{Speaker: connectors.Speaker{Name: "ansi"}}
	kind := kindWord.FindStringSubmatch(words)
	for part := range strings.SplitSeq(strings.TrimPrefix(words, append(kind, "")[0]), " / ") {
		methods, text := allCalls, part
		if m := methodsWord.FindStringSubmatch(part); m != nil {
			methods, text = m[1], part[len(m[0]):]
		}
		switch {
		case part == "":
		case methods == "Omit":
			require.NoError(t, json.Unmarshal([]byte(text), &opts.Omit))
		case methods == "Intercept":
			play := script(text)
			opts.Intercept = func(ctx context.Context, _ connector.Call, next action) error {
				return play(&actor{ctx: ctx, next: next})
			}
		default:
			text, once := strings.CutPrefix(text, "once; ")
			play, times := script(text), new(atomic.Int64)
			if once {
				t.Cleanup(func() { assert.EqualValues(t, 1, times.Load(), "times that the source was called") })
			}
			act(&s, methods, func(a *actor) error {
				times.Add(1)
				return play(a)
			})
		}
	}
	src := map[string]connector.Source{
		"": s.Endpoints, "endpoints": s.Endpoints, "source": s.Source, "described": s.Described, "full": s,
		"aggregating": struct {
			connectors.Source
			connectors.Aggregator
		}{s.Source, s.Aggregator},
		"sql": struct {
			connectors.Source
			connectors.Speaker
		}{s.Source, s.Speaker},
	}[append(kind, "", "")[1]]
	return serve(t, src, &opts)
}

var shorts = strings.NewReplacer("↵", "\n", "SECRET", secret, "CANARY", canary, "STATEMENT", `{"sql":"select 1","params":[]}`,
	"PLAIN", `{"table":"items","and":[],"sort":[],"fields":["n"]}`,
	"SORTED", `{"table":"items","and":[],"sort":[{"field":"n","dir":"asc"}],"fields":["n"],"limit":2}`,
	"HOP", `{"table":"items",`+hopQuery+`}`,
	"BARE", `{"table":"items",`+strings.Replace(hopQuery, `{"field":"name","as":"x"}`, "", 1)+`}`, "JOINS",
	`"joins":[{"fromTable":"items","toTable":"items","fromField":"id","toField":"id","fields":[{"field":"name","as":"b"}]}]`,
	"DEEP", strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))

// asked reads a request: a path, and how its body differs from the good one. That is a part and what
// stands for it, as in `"and":[] => "and":[1]`, other members in braces, more text behind + at the end, the body
// itself behind =, or half of the good one.
func asked(text string) (path, body string) {
	path, edits, _ := strings.Cut(shorts.Replace(text), " ")
	body, isOwn := strings.CutPrefix(edits, "=")
	if !isOwn {
		body = good(path)
	}
	switch old, new, swap := strings.Cut(edits, " => "); {
	case isOwn:
	case edits == "half":
		body = body[:len(body)/2]
	case swap:
		if strings.Count(body, old) != 1 {
			panic(old + " is not once in " + body)
		}
		body = strings.Replace(body, old, new, 1)
	case strings.HasPrefix(edits, "{"):
		body = edits[:len(edits)-1] + "," + tail
	case strings.HasPrefix(edits, "+"):
		body = body[:len(body)-1] + edits[1:]
	}
	return path, body
}

// is asserts an answer: a status alone, or with the body or the code and the message of a refusal. In the lines of
// a stream, words stand for lines of the protocol.
func (a answer) is(t testing.TB, want string) {
	t.Helper()
	status, text, _ := strings.Cut(shorts.Replace(want), " ")
	code, message, refusal := strings.Cut(text, ": ")
	switch {
	case want == "500":
		a.refuses(t, 500, wire.CodeInternal, "internal error")
	case want == "408":
		a.refuses(t, 408, wire.CodeTimeout, "the request's time is over")
	case refusal && !strings.ContainsAny(code, "{ "):
		a.refuses(t, atoi(status), wire.Code(code), message)
	default:
		assert.Equal(t, atoi(status), a.status, a.body)
		lines := strings.Split(text, " | ")
		for i, word := range lines {
			lines[i] = spell(word)
		}
		assert.Equal(t, strings.Join(lines, "\n"), strings.TrimSuffix(a.body, "\n"))
		assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
	}
	if a.status == 204 {
		assert.Empty(t, a.header.Get("Content-Type"))
	}
}

// answers plays a file, whose cells are why, the source (or both: with and without Describe), the request, the answer,
// and the only line of the log but for those of requests, if there is one. What ends in an asterisk is the beginning.
func answers(t *testing.T, file string) {
	t.Helper()
	for _, c := range testkit.Table(t, "testdata/"+file, 5) {
		sources := []string{c[1]}
		if words, both := strings.CutPrefix(c[1], "both"); both {
			sources = []string{"endpoints" + words, "described" + words}
		}
		for _, words := range sources {
			testkit.Bubble(t, c[0], func(t *testing.T) {
				s := played(t, words, connector.Options{})
				path, body := asked(c[2])
				a := s.post(path, body)
				synctest.Wait() // a request is logged when it is over
				a.is(t, c[3])
				s.keepsSecrets(a)
				want, open := strings.CutSuffix(shorts.Replace(c[4]), "*")
				got := strings.Replace(s.log.String(), " slug=shop route="+path, ":", 1)
				require.Len(t, s.log.all(), min(len(want), 1), got)
				if assert.True(t, strings.HasPrefix(got, want), "%s\nmust begin with\n%s", got, want) && !open {
					assert.Equal(t, want, got)
				}
				if strings.HasPrefix(want, "ERROR") {
					assert.Contains(t, s.log.each()[0], "fault=source")
				}
				if !strings.Contains(words, "Intercept: ") {
					s.alive()
				}
				time.Sleep(time.Minute) // for what outlives its request
			})
		}
	}
}

// spell returns the line of the protocol that a word stands for, or the word.
func spell(word string) string {
	lines := map[string]string{"served": all, "ping": ping, "end": end, "late": late, "idle": idle, "broken": broken}
	return cmp.Or(lines[word], word)
}

// seen returns the lines that a script's reader sees, each with its instant.
func seen(text string) []string {
	lines := strings.Split(text, " | ")
	for i, line := range lines {
		at, word, _ := strings.Cut(line, " ")
		lines[i] = at + " " + spell(word)
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
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, `{"rows":`) {
			text = fmt.Sprintf("rows %d", strings.Count(text, `{"n":`))
		}
		lines = append(lines, fmt.Sprintf("%v %s", time.Since(start), text))
	}
	// The strict reader checks the order of the lines.
	for _, err := range ndjson.NewReader(&whole).Rows() {
		if failure := (*wire.Error)(nil); !errors.As(err, &failure) {
			assert.NoError(s.t, err)
		}
	}
	return lines
}

const (
	all    = `{"served":{"filters":true,"sort":true,"window":true}}`
	ping   = `{"ping":1}`
	end    = `{"end":1}`
	late   = `{"error":{"code":"timeout","message":"the request's time is over"}}`
	idle   = `{"error":{"code":"timeout","message":"no row came within the request's idleTimeoutMs"}}`
	broken = `{"error":{"code":"internal","message":"internal error"}}`
)
