package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// showEvery is the time between two lines about tables that are being read.
const showEvery = 2 * time.Second

// exportLog prints how an export goes on: a line for each table that ends, and from time to
// time one for all that are being read. It may be used concurrently.
type exportLog struct {
	out    io.Writer
	tables int

	mu    sync.Mutex
	ended int
	now   []*tableStatus // being read, in the order in which they began
	shown time.Time
}

// tableStatus is one table of an exportLog that is being read.
type tableStatus struct {
	name  string
	count *int64 // of discovery; nil: not known
	from  int64  // rows that were there before
	rows  int64
	begun time.Time
}

// String returns the name, and how many rows there are of how many.
func (s *tableStatus) String() string {
	if s.count != nil && *s.count >= s.rows {
		return fmt.Sprintf("%q %s of %s rows", s.name, grouped(s.rows), grouped(*s.count))
	}
	return fmt.Sprintf("%q %s", s.name, counted(s.rows, "row", "rows"))
}

// skip prints that a table is already there.
func (l *exportLog) skip(t *wire.Table, p *progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended++
	fmt.Fprintf(l.out, "%q: complete, %s\n", t.Name, counted(p.Rows, "row", "rows"))
}

// begin adds a table of which there are so many rows.
func (l *exportLog) begin(t *wire.Table, rows int64) *tableStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &tableStatus{name: t.Name, count: t.RowCount, from: rows, rows: rows, begun: time.Now()}
	l.now = append(l.now, s)
	if l.shown.IsZero() {
		l.shown = time.Now()
	}
	return s
}

// end removes a table, perhaps after an error.
func (l *exportLog) end(s *tableStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = slices.DeleteFunc(l.now, func(one *tableStatus) bool { return one == s })
}

// note takes the rows that a table has now, and prints them if it is time, or if they are all.
func (l *exportLog) note(s *tableStatus, p *progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.rows = p.Rows
	if p.Done {
		l.ended++
		fmt.Fprintf(l.out, "%q: %s, %s bytes, %s rows/s\n", s.name, counted(p.Rows, "row", "rows"), grouped(p.Bytes),
			grouped(int64(float64(p.Rows-s.from)/max(time.Since(s.begun).Seconds(), 1e-3))))
		return
	}
	if time.Since(l.shown) < showEvery {
		return
	}
	l.shown = time.Now()
	var now []string
	for _, one := range l.now {
		now = append(now, one.String())
	}
	fmt.Fprintf(l.out, "%d of %d tables; reading %s\n", l.ended, l.tables, strings.Join(now, ", "))
}
