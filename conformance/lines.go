package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lineReader reads the lines of one stream.
type lineReader struct {
	s      *session
	st     *stream
	began  time.Time
	most   int
	rows   int
	bytes  int64
	kept   int64
	line   int
	idle   int // lines without rows
	faults map[string]*finding
}

// breaks notes a fault of the stream's form.
func (r *lineReader) breaks(id, format string, args ...any) {
	text := fmt.Sprintf("line %d: ", r.line) + fmt.Sprintf(format, args...)
	if r.faults == nil {
		r.faults = map[string]*finding{}
	}
	if r.faults[id] == nil {
		r.faults[id] = &finding{detail: text}
	}
	if r.st.broken == "" {
		r.st.broken, r.st.why = id, text
	}
}

func (r *lineReader) read(ctx context.Context, body io.Reader) {
	in := bufio.NewReaderSize(body, 64<<10)
	st := r.st
	for {
		line, err := r.next(in)
		if errors.Is(err, io.EOF) && len(line) > 0 && !json.Valid(line) {
			r.line++
			r.breaks("P3.6g", "the stream closes in the middle of it")
			return
		}
		before := r.rows
		if len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) && !r.take(line) {
			return
		}
		if r.rows == before {
			r.idle++
		}
		switch {
		case r.bytes > maxStreamBytes:
			st.over = true
			return
		case r.idle > maxLines:
			r.breaks("P3.6g", "the stream goes on without rows and without an end")
			return
		case err == nil:
		case errors.Is(err, errLineTooLong):
			r.line++
			r.breaks("P3.6d", "is longer than 16 MiB")
			return
		case errors.Is(err, io.EOF):
			if !st.ended && st.fault == nil {
				r.breaks("P3.6g", "the stream closes with neither end nor error")
			}
			return
		case ctx.Err() != nil:
			// Given up by this side, which is no fault of the stream's form.
			st.err = r.s.transport(ctx, err)
			return
		default:
			err = r.s.transport(ctx, err)
			if st.ended || st.fault != nil {
				r.breaks("P3.6e", "the connection breaks off after the last line: %v", err)
				return
			}
			r.breaks("P3.6g", "the stream breaks off: %v", err)
			return
		}
	}
}

var errLineTooLong = errors.New("line too long")

// next is one line without the blanks around it; a blank line is empty.
func (r *lineReader) next(in *bufio.Reader) ([]byte, error) {
	var whole []byte
	for {
		part, err := in.ReadSlice('\n')
		r.bytes += int64(len(part))
		if len(whole)+len(part) > wire.MaxLineBytes {
			return nil, errLineTooLong
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			whole = append(whole, part...)
			continue
		case whole == nil:
			whole = bytes.Clone(part)
		default:
			whole = append(whole, part...)
		}
		return bytes.TrimSpace(whole), err
	}
}

// take reads one line; false stops the reading.
func (r *lineReader) take(text []byte) bool {
	r.line++
	st := r.st
	if f := r.s.watch.leak(text); f != nil {
		f.request = st.request
		r.s.watch.hold("P3.12", f)
	}
	if st.ended || st.fault != nil {
		r.breaks("P3.6e", "follows the line that ended the stream")
		return false
	}
	info := lineInfo{at: time.Since(r.began)}
	foreign := ""
	sc := scan.New(text)
	sc.Expect('{')
	for first := true; sc.Err() == nil && !sc.Skip('}'); first = false {
		if !first {
			sc.Expect(',')
		}
		name := sc.String()
		sc.Expect(':')
		switch {
		case sc.Err() != nil:
		case !slices.Contains(lineKinds, name):
			foreign = name
			_ = skim(sc, 1)
		case info.kind != "":
			r.breaks("P3.6b", "holds both %s and %s", info.kind, name)
			return true
		default:
			info.kind = name
			var sound bool
			if info.rows, sound = r.takeMember(name, sc); !sound || st.over {
				st.lines = append(st.lines, info)
				return !st.over
			}
		}
	}
	sc.End()
	switch {
	case sc.Err() != nil && (info.kind == "rows" || bytes.HasPrefix(text, []byte(`{"rows"`))):
		r.breaks("P3.6f", "%s", syntax(sc))
		return true
	case sc.Err() != nil:
		r.breaks("P3.6b", "%s: %s", syntax(sc), excerpt(text, 80))
		return true
	case info.kind == "":
		r.breaks("P3.6b", "is none of %s: %s", strings.Join(lineKinds, ", "), excerpt(text, 80))
		return true
	}
	if foreign != "" {
		r.unknown("of a line", foreign)
	}
	if len(st.lines) < maxLines {
		st.lines = append(st.lines, info)
	}
	return true
}

// lineKinds are the kinds of lines.
var lineKinds = []string{"served", "rows", "ping", "end", "error"}

// maxLines bounds the lines of one stream that are remembered, and those without
// rows that are read: a ping is due every 10 seconds.
const maxLines = 1 << 16

// unknown notes a member that the protocol does not name.
func (r *lineReader) unknown(of, name string) {
	if r.st.member == "" {
		r.st.member = fmt.Sprintf("member %s %s", wire.QuoteName(name), of)
	}
}

// takeMember reads the member that makes a line what it is; it tells the rows,
// and whether the line can be read further.
func (r *lineReader) takeMember(kind string, sc *scan.Scanner) (rows int, sound bool) {
	st := r.st
	switch kind {
	case "rows":
		return r.takeRows(sc)
	case "served":
		if st.stated {
			r.breaks("P3.6b", "served for the second time")
		}
		if slices.ContainsFunc(st.lines, func(l lineInfo) bool { return l.kind == "rows" }) {
			r.breaks("P3.6b", "served after rows")
		}
		st.stated = true
		flags := r.takeObject("served", sc, []string{"filters", "sort", "window"}, wire.KindBool)
		if flags == nil {
			return 0, false
		}
		st.served = wire.Served{Filters: flags[0].IsTrue(), Sort: flags[1].IsTrue(), Window: flags[2].IsTrue()}
	case "error":
		texts := r.takeObject("error", sc, []string{"code", "message"}, wire.KindText)
		if texts == nil {
			// It was meant to be the end all the same.
			st.fault = &wire.Error{Code: wire.CodeInternal, Message: "an error line that cannot be read"}
			return 0, false
		}
		st.fault = &wire.Error{Code: wire.Code(texts[0].Text()), Message: texts[1].Text()}
		if st.fault.Code == wire.CodeInternal {
			r.s.watch.hold("P3.10c", internalProblem(st.fault, st.request))
		}
	default: // ping, end
		if c := sc.Peek(); c == '{' || c == '[' {
			r.breaks("P3.6b", "%s is not 1", kind)
			return 0, false
		}
		if v := sc.Scalar(); sc.Err() == nil && (v.Kind() != wire.KindInt || v.String() != "1") {
			r.breaks("P3.6b", "%s is not 1", kind)
		}
		st.ended = st.ended || kind == "end"
	}
	return 0, true
}

// takeObject reads an object of the scalars named, each of the kind; nil when it
// is not one.
func (r *lineReader) takeObject(what string, sc *scan.Scanner, names []string, kind wire.Kind) []wire.Value {
	if sc.Peek() != '{' {
		r.breaks("P3.6b", "%s is not an object", what)
		return nil
	}
	sc.Expect('{')
	values := make([]wire.Value, len(names))
	have := make([]bool, len(names))
	for first := true; sc.Err() == nil && !sc.Skip('}'); first = false {
		if !first {
			sc.Expect(',')
		}
		name := sc.String()
		sc.Expect(':')
		at := slices.Index(names, name)
		if sc.Err() == nil && at < 0 {
			r.unknown("of "+what, name)
			_ = skim(sc, 2)
			continue
		}
		if c := sc.Peek(); sc.Err() == nil && (c == '{' || c == '[' || have[at]) {
			r.breaks("P3.6b", "%s.%s is an object or an array, or stands twice", what, name)
			return nil
		}
		if v := sc.Scalar(); sc.Err() == nil {
			if v.Kind() != kind {
				r.breaks("P3.6b", "%s.%s is %s; want a %s", what, name, excerpt([]byte(v.String()), 40), map[wire.Kind]string{wire.KindBool: "boolean", wire.KindText: "string"}[kind])
				return nil
			}
			values[at], have[at] = v.Clone(), true
		}
	}
	if sc.Err() != nil {
		r.breaks("P3.6b", "%s", syntax(sc))
		return nil
	}
	if at := slices.Index(have, false); at >= 0 {
		r.breaks("P3.6b", "%s has no member %s", what, names[at])
		return nil
	}
	return values
}

// takeRows reads the rows of a line.
func (r *lineReader) takeRows(sc *scan.Scanner) (count int, sound bool) {
	st := r.st
	if sc.Peek() != '[' {
		r.breaks("P3.6f", "rows is not an array")
		return 0, false
	}
	sc.Expect('[')
	for first := true; !sc.Skip(']'); first = false {
		if !first {
			sc.Expect(',')
		}
		row, problem := r.takeRow(sc)
		if problem != "" {
			r.breaks("P3.6f", "rows[%d]: %s", count, problem)
			return count, false
		}
		count++
		r.rows++
		if len(st.table.Rows) >= r.most || r.kept > maxStreamBytes {
			st.over = true
			return count, true
		}
		st.table.Rows = append(st.table.Rows, row)
	}
	if sc.Err() == nil && (count < 1 || count > wire.MaxBatchRows) {
		r.breaks("P3.6c", "holds %d rows; a batch is 1 to %d", count, wire.MaxBatchRows)
	}
	return count, true
}

// takeRow reads one row: an object of scalars, no member twice.
func (r *lineReader) takeRow(sc *scan.Scanner) (row []wire.Value, problem string) {
	columns := r.st.table.Columns
	if sc.Err() == nil && sc.Peek() != '{' {
		return nil, "is not an object"
	}
	sc.Expect('{')
	row = make([]wire.Value, len(columns))
	r.kept += int64(64 + 32*len(columns))
	have := make([]bool, len(columns))
	var others map[string]bool
	for i := 0; !sc.Skip('}'); i++ {
		if i > 0 {
			sc.Expect(',')
		}
		name := sc.String()
		sc.Expect(':')
		if sc.Err() != nil {
			return nil, syntax(sc)
		}
		if c := sc.Peek(); c == '{' || c == '[' {
			return nil, fmt.Sprintf("%s is an object or an array; a cell is a string, a number, a boolean or null", wire.QuoteName(name))
		}
		v := sc.Scalar()
		if sc.Err() != nil {
			return nil, syntax(sc)
		}
		at := i
		if at >= len(columns) || columns[at].Name != name {
			at = r.st.table.Index(name)
		}
		if at < 0 {
			if others[name] {
				return nil, fmt.Sprintf("%s stands twice", wire.QuoteName(name))
			}
			if others == nil {
				others = map[string]bool{}
			}
			others[name] = true
			r.st.extra = name
			continue
		}
		if have[at] {
			return nil, fmt.Sprintf("%s stands twice", wire.QuoteName(name))
		}
		have[at] = true
		v = v.Clone()
		row[at] = v
		r.kept += int64(len(v.Text()))
	}
	if sc.Err() != nil {
		return nil, syntax(sc)
	}
	return row, ""
}
