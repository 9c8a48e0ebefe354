package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lineReader reads the lines of one stream.
type lineReader struct {
	session *Session
	stream  *Stream
	began   time.Time
	most    int    // rows to keep
	first   func() // is called after the first rows; may be nil
	rows    int
	bytes   int64
	kept    int64 // bytes held in memory
	line    int
	idle    int // lines without rows
	faults  map[string]*check.Finding
}

// breaks records a fault of the stream's form, by the check of the rule.
func (r *lineReader) breaks(id, format string, args ...any) {
	text := fmt.Sprintf("line %d: ", r.line) + fmt.Sprintf(format, args...)
	if r.faults == nil {
		r.faults = map[string]*check.Finding{}
	}
	if r.faults[id] == nil {
		r.faults[id] = check.Fail("%s", text)
	}
	if r.stream.Broken == nil {
		r.stream.Broken = check.Block(id, "%s", text)
	}
}

// read reads a stream to its end or to a fault after which nothing can be read.
func (r *lineReader) read(ctx context.Context, body io.Reader) {
	in := bufio.NewReaderSize(body, 64<<10)
	st := r.stream
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
		} else if before == 0 && r.first != nil {
			r.first()
		}
		switch {
		case r.bytes > maxStreamBytes:
			st.Over = true
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
			if !st.Ended && st.Fault == nil {
				r.breaks("P3.6g", "the stream closes with neither end nor error")
			}
			return
		case ctx.Err() != nil:
			// Given up by this side, which is no fault of the stream's form.
			st.Err = r.session.transport(ctx, err)
			return
		default:
			err = r.session.transport(ctx, err)
			if st.Ended || st.Fault != nil {
				r.breaks("P3.6e", "the connection breaks off after the last line: %v", err)
				return
			}
			r.breaks("P3.6g", "the stream breaks off: %v", err)
			return
		}
	}
}

var errLineTooLong = errors.New("line too long")

// next returns one line without the blanks around it. A blank line is empty.
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

// take reads one line. It returns false when the rest cannot be read.
func (r *lineReader) take(text []byte) bool {
	r.line++
	st := r.stream
	if f := r.session.watch.leak(text); f != nil {
		f.From(st.Request)
		r.session.Watched("P3.12", f)
	}
	if st.Ended || st.Fault != nil {
		r.breaks("P3.6e", "follows the line that ended the stream")
		return false
	}
	info := arrival{At: time.Since(r.began)}
	unknown := ""
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
			unknown = name
			_ = message.Skim(sc, 2) // in the line
		case info.Kind != "":
			r.breaks("P3.6b", "holds both %s and %s", info.Kind, name)
			return true
		case name == "rows":
			info.Kind = name
			if !r.takeRows(sc) || st.Over {
				st.Lines = append(st.Lines, info)
				return !st.Over
			}
		default:
			info.Kind = name
			_ = message.Skim(sc, 2)
		}
	}
	sc.End()
	switch {
	case sc.Err() != nil && (info.Kind == "rows" || bytes.HasPrefix(text, []byte(`{"rows"`))):
		r.breaks("P3.6f", "%v", sc.Err())
		return true
	case sc.Err() != nil:
		r.breaks("P3.6b", "%v: %s", sc.Err(), message.Excerpt(text, 80))
		return true
	case info.Kind == "":
		r.breaks("P3.6b", "is none of %s: %s", strings.Join(lineKinds, ", "), message.Excerpt(text, 80))
		return true
	}
	switch {
	case info.Kind != "rows":
		r.takeControl(info.Kind, text)
	case unknown != "":
		r.noteUnknown(terms.QuoteName(unknown))
	}
	if len(st.Lines) < maxLines {
		st.Lines = append(st.Lines, info)
	}
	return true
}

// lineKinds lists the kinds of lines.
var lineKinds = []string{"served", "rows", "ping", "end", "error"}

// maxLines limits the lines of one stream that are remembered, and those without
// rows that are read. A ping is due every 10 seconds.
const maxLines = 1 << 16

// noteUnknown records the place of a member that the protocol does not define.
func (r *lineReader) noteUnknown(place string) {
	if r.stream.unknownMember == "" {
		r.stream.unknownMember = fmt.Sprintf("member %s of a line", place)
	}
}

// takeControl reads a line without rows.
func (r *lineReader) takeControl(kind string, text []byte) {
	st := r.stream
	line, unknown, problem := message.Read(text, "line-"+kind)
	if unknown != "" {
		r.noteUnknown(unknown)
	}
	if problem != "" {
		r.breaks("P3.6b", "%s", problem)
	}
	members, _ := line[kind].(map[string]any)
	switch {
	case kind == "end":
		st.Ended = true // even if it is malformed
	case kind == "error" && problem != "":
		st.Fault = &wire.Error{Code: wire.CodeInternal, Message: "an error line that cannot be read"}
	case kind == "error":
		st.Fault = &wire.Error{Code: wire.Code(members["code"].(string)), Message: members["message"].(string)}
		if st.Fault.Code == wire.CodeInternal {
			r.session.Watched("P3.10c", internalMessage(st.Fault).From(st.Request))
		}
	case kind == "served":
		if st.Stated {
			r.breaks("P3.6b", "served for the second time")
		}
		if slices.ContainsFunc(st.Lines, func(l arrival) bool { return l.Kind == "rows" }) {
			r.breaks("P3.6b", "served after rows")
		}
		st.Stated = true
		is := func(flag string) bool { return problem == "" && members[flag].(bool) }
		st.Served = wire.Served{Filters: is("filters"), Sort: is("sort"), Window: is("window")}
	}
}

// takeRows reads the rows of a line. It returns false if one of them is no row.
func (r *lineReader) takeRows(sc *scan.Scanner) bool {
	st, count := r.stream, 0
	if sc.Peek() != '[' {
		r.breaks("P3.6f", "rows is not an array")
		return false
	}
	sc.Expect('[')
	for first := true; !sc.Skip(']'); first = false {
		if !first {
			sc.Expect(',')
		}
		row, problem := r.takeRow(sc)
		if problem != "" {
			r.breaks("P3.6f", "rows[%d]: %s", count, problem)
			return false
		}
		count++
		r.rows++
		if len(st.Table.Rows) >= r.most || r.kept > maxStreamBytes {
			st.Over = true
			return true
		}
		st.Table.Rows = append(st.Table.Rows, row)
	}
	if sc.Err() == nil && (count < 1 || count > wire.MaxBatchRows) {
		r.breaks("P3.6c", "holds %d rows; a batch is 1 to %d", count, wire.MaxBatchRows)
	}
	return true
}

// takeRow reads one row: an object of scalars without a duplicate member.
func (r *lineReader) takeRow(sc *scan.Scanner) (row []wire.Value, problem string) {
	columns := r.stream.Table.Columns
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
			return nil, sc.Err().Error()
		}
		if c := sc.Peek(); c == '{' || c == '[' {
			return nil, fmt.Sprintf("%s is an object or an array; a cell is a string, a number, a boolean or null", terms.QuoteName(name))
		}
		from := sc.Offset()
		v := sc.Scalar()
		if sc.Err() != nil {
			return nil, sc.Err().Error()
		}
		if v.Kind() == wire.KindFloat && math.Abs(v.Float64()) > terms.MaxSafeInteger {
			sc.Seek(from)
			_, exact, _ := sc.Exact()
			text, to := sc.Unread()
			v = r.session.numbers.read(v, exact, strings.TrimSpace(text[from:to]))
		}
		at := i
		if at >= len(columns) || columns[at].Name != name {
			at = r.stream.Table.Index(name)
		}
		if at < 0 {
			if others[name] {
				return nil, fmt.Sprintf("duplicate member %s", terms.QuoteName(name))
			}
			if others == nil {
				others = map[string]bool{}
			}
			others[name] = true
			r.stream.extraMember = name
			continue
		}
		if have[at] {
			return nil, fmt.Sprintf("duplicate member %s", terms.QuoteName(name))
		}
		have[at] = true
		v = v.Clone()
		row[at] = v
		r.kept += int64(len(v.Text()))
	}
	if sc.Err() != nil {
		return nil, sc.Err().Error()
	}
	return row, ""
}
