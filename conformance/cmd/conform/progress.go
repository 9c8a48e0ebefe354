package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance"
)

// progress shows how far a run is: on a terminal by one line that is written over,
// otherwise by a line now and then. If every check is wanted, each has a line of its own.
type progress struct {
	mu     sync.Mutex
	out    io.Writer
	live   bool // a line that is written over
	each   bool // a line for each check that is done
	colour bool
	width  int
	last   time.Time // of the last line, if it is not written over
	done   int
	failed int
}

// often is how often a line is written where it cannot be written over.
const often = 30 * time.Second

func newProgress(out io.Writer, getenv func(string) string, each bool) *progress {
	p := &progress{out: out, each: each, live: terminal(out) && getenv("TERM") != "dumb", colour: colours(out, getenv),
		width: 80, last: time.Now()}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n >= 20 {
		p.width = n
	}
	return p
}

// event shows a step of the run. It shows ids and titles only: nothing of the
// connector's.
func (p *progress) event(e conformance.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Done != nil {
		p.count(e)
	}
	switch {
	case p.live:
		p.clear()
		fmt.Fprint(p.out, p.fit(p.line(e)+", "+e.ID+" "+e.Title))
	case !p.each && time.Since(p.last) >= often:
		p.last = time.Now()
		fmt.Fprintln(p.out, p.line(e)+", "+e.ID+" "+e.Title)
	}
}

// count counts a check that is done, and writes its line if it has one.
func (p *progress) count(e conformance.Event) {
	p.done = min(p.done+1, e.Planned) // what time cut short is judged again
	failed := e.Done.Verdict == conformance.Fail
	if failed {
		p.failed++
	}
	switch {
	case p.each:
		p.clear()
		fmt.Fprintf(p.out, "[%*d/%d] %-6s %-7s %s (%s)\n", digits(e.Planned), p.done, e.Planned,
			e.Done.Verdict, e.ID, e.Title, e.Done.Duration.Round(time.Millisecond))
	case failed && p.live:
		p.clear()
		fmt.Fprintln(p.out, p.red(p.fit("FAIL "+e.ID+"  "+e.Title)))
	}
}

// line returns how far the run is.
func (p *progress) line(e conformance.Event) string {
	line := fmt.Sprintf("[%*d/%d] ", digits(e.Planned), p.done, e.Planned)
	if p.failed > 0 {
		line += fmt.Sprintf("%d failed, ", p.failed)
	}
	return line + e.Spent()
}

// say writes a line among them.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintln(p.out, text)
}

// end takes the line away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.live {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p *progress) red(text string) string {
	if !p.colour {
		return text
	}
	return "\x1b[31m" + text + "\x1b[0m"
}

// fit cuts a line so that it does not wrap, which could not be written over.
func (p *progress) fit(line string) string {
	if chars := []rune(line); len(chars) >= p.width {
		return string(chars[:p.width-2]) + "…"
	}
	return line
}

func digits(n int) int { return len(strconv.Itoa(n)) }

// terminal reports whether a person is likely to read along. The null device is a
// character device too.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// colours reports whether text on w may be coloured.
func colours(w io.Writer, getenv func(string) string) bool {
	return terminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}
