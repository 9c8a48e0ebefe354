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

// progress shows how far a run is: on a terminal by one line that is written
// over, otherwise by a line for each check that is done.
type progress struct {
	mu     sync.Mutex
	out    io.Writer
	live   bool // a line that is written over
	colour bool
	width  int
	done   int
	failed int
}

func newProgress(out io.Writer, getenv func(string) string) *progress {
	p := &progress{out: out, live: terminal(out) && getenv("TERM") != "dumb", colour: colours(out, getenv), width: 80}
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
		p.done++
		if e.Done.Verdict == conformance.Fail {
			p.failed++
		}
		if !p.live {
			fmt.Fprintf(p.out, "[%*d/%d] %-6s %-7s %s (%s)\n", digits(e.Planned), p.done, e.Planned,
				e.Done.Verdict, e.ID, e.Title, e.Done.Duration.Round(time.Millisecond))
			return
		}
		if e.Done.Verdict == conformance.Fail {
			p.clear()
			fmt.Fprintln(p.out, p.red(p.fit("FAIL "+e.ID+"  "+e.Title)))
		}
	}
	if !p.live {
		return
	}
	line := fmt.Sprintf("[%*d/%d] ", digits(e.Planned), p.done, e.Planned)
	if p.failed > 0 {
		line += fmt.Sprintf("%d failed, ", p.failed)
	}
	p.clear()
	fmt.Fprint(p.out, p.fit(line+e.ID+"  "+e.Title))
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
