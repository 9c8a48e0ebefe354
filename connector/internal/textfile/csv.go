package textfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
)

// csvRecords reads separated values as RFC 4180 describes them: a header line, cells
// optionally quoted, and as many cells in every record as in the header. An empty
// cell, quoted or not, is null. Blank lines are skipped; in a file of one column they
// are refused, because they could be rows.
//
// Text that is not quoted holds no NUL byte, and no carriage return but before a line
// feed. Such a file is refused: its records would be read as something else, as those
// of a file whose lines end in CR alone [rule error-10].
type csvRecords struct {
	file   string
	csv    *csv.Reader
	text   *quotedLineEnds
	limit  *recordLimit
	header []string
	cells  []textvalue.Raw
	at     int // the line on which the record last read begins
	end    int // and the one on which its first cell ends

	skipped int      // lines before the header, which the csv reader has not seen
	notes   []string // about the format
	plain   bool     // in UTF-8, and nothing stands before the header
}

const (
	bom       = "\ufeff" // the byte order mark that spreadsheets put first
	csvBuffer = 32 << 10 // bytes of each of two buffers
)

// openCSV reads the header of a CSV file.
func openCSV(file string, r io.Reader, format Format, _ []string) (Records, error) {
	decoded, notes, err := text(file, r, format)
	if err != nil {
		return nil, err
	}
	limit := &recordLimit{from: decoded}
	limit.next()
	start, err := findSeparator(file, bufio.NewReaderSize(limit, csvBuffer), format.Separator)
	if err != nil {
		return nil, err
	}
	text := &quotedLineEnds{from: start.text}
	c := &csvRecords{
		file: file, csv: csv.NewReader(bufio.NewReaderSize(text, csvBuffer)), text: text, limit: limit,
		notes: append(notes, start.notes...), skipped: start.skipped,
	}
	c.csv.Comma = start.separator
	c.csv.ReuseRecord = true
	header, err := c.read()
	if err == io.EOF {
		return nil, &Fault{file, 0, "empty: the first line must name the columns"}
	}
	if err != nil {
		return nil, err
	}
	c.header = slices.Clone(header)
	c.cells = make([]textvalue.Raw, len(header))
	_, recoded := decoded.(*decoder)
	c.plain = !recoded && c.at == 1
	return c, c.checkHeader()
}

func (c *csvRecords) checkHeader() error {
	if len(c.header) > MaxColumns {
		return &Fault{c.file, c.at, fmt.Sprintf("more than %d columns", MaxColumns)}
	}
	seen := make(map[string]int, len(c.header))
	for i, name := range c.header {
		if strings.TrimSpace(name) == "" {
			return &Fault{c.file, c.at, fmt.Sprintf("column %d has no name; the first line must name every column", i+1)}
		}
		if first, ok := seen[name]; ok {
			return &Fault{c.file, c.at, fmt.Sprintf("columns %d and %d have the same name; rename one", first+1, i+1)}
		}
		seen[name] = i
	}
	return nil
}

func (c *csvRecords) Names() []string { return c.header }

func (c *csvRecords) Line() int { return c.at }

// Dialect returns the separator of a CSV file, and reports whether the file begins with
// its header, in UTF-8, so that another reader that knows the separator finds the same.
func Dialect(all Records) (separator rune, plain bool) {
	c, ok := all.(*csvRecords)
	if !ok {
		return 0, false
	}
	return c.csv.Comma, c.plain
}

func (c *csvRecords) Notes() []string { return c.notes }

func (c *csvRecords) Next() ([]textvalue.Raw, error) {
	end, offset := c.end, c.csv.InputOffset()
	record, err := c.read()
	if len(c.header) == 1 && (err == nil && c.at > end+1 || err == io.EOF && c.csv.InputOffset() > offset) {
		return nil, &Fault{c.file, end + 1,
			"blank: in a file of one column it could be a row without a value; write \"\" for such a row, or remove the line"}
	}
	if err != nil {
		return nil, err
	}
	for i, text := range record {
		kind := textvalue.Plain
		if text == "" {
			kind = textvalue.Absent
		}
		c.cells[i] = textvalue.Raw{Text: text, Kind: kind}
	}
	return c.cells, nil
}

// read returns the next record after checking that it is UTF-8.
func (c *csvRecords) read() ([]string, error) {
	c.limit.next()
	record, err := c.csv.Read()
	found := ""
	if err != nil {
		var s stray
		var wrong *Undecodable
		switch {
		case errors.As(err, &s):
			found = string(s)
		case errors.As(err, &wrong) && len(record) == 0: // in a first cell in quotes
			return nil, &Fault{c.file, wrong.Line, wrong.Problem}
		case errors.As(err, &wrong):
			found = wrong.Problem
		default:
			return nil, c.failure(err, len(record))
		}
	}
	line, _ := c.csv.FieldPos(0)
	c.at = c.skipped + line
	if c.text.doubtful {
		for i, text := range record {
			if !utf8.ValidString(text) {
				return nil, c.cellFault(i, "is not valid UTF-8; save the file as UTF-8, or state its encoding")
			}
		}
	}
	if found != "" {
		return nil, c.cellFault(len(record)-1, found)
	}
	c.end = c.at + strings.Count(record[0], "\n")
	return record, nil
}

// cellFault returns the fault of one cell of the record last read.
func (c *csvRecords) cellFault(i int, problem string) error {
	line, _ := c.csv.FieldPos(i)
	return &Fault{c.file, c.skipped + line, fmt.Sprintf("cell %d %s", i+1, problem)}
}

// failure turns an error of the csv package into a fault that says what to do.
// It returns errors that are not about the file's content, such as io.EOF, as
// they are.
func (c *csvRecords) failure(err error, cells int) error {
	var syntax *csv.ParseError
	switch {
	case errors.Is(err, errRecordTooLong):
		return &Fault{c.file, c.at + 1, fmt.Sprintf(
			"a record of more than %d MiB begins here or soon after; is a quote left open?", MaxRecord>>20)}
	case !errors.As(err, &syntax):
		return err
	case errors.Is(err, csv.ErrFieldCount):
		return &Fault{c.file, c.skipped + syntax.StartLine, fmt.Sprintf("%d cells where the header has %d", cells, len(c.header))}
	case errors.Is(err, csv.ErrBareQuote):
		return &Fault{c.file, c.skipped + syntax.Line, fmt.Sprintf(
			"byte %d: a quote inside a cell that is not quoted; quote the cell and double the quotes in it", syntax.Column)}
	}
	// csv.ErrQuote. The reader notices an open quote at the end of the file. The line on
	// which its record begins is where to look.
	return &Fault{c.file, c.skipped + syntax.StartLine,
		"a quoted cell is not closed, or its closing quote is not followed by a separator; double the quotes inside it"}
}

// quotedLineEnds keeps the line breaks CR LF inside quoted cells, and fails with a stray
// at a byte that stands only in quotes.
//
// encoding/csv changes each CR LF into LF, in quotes too. So this reader passes a
// second CR before such an LF, and the csv reader then drops only that one.
//
// Every quote opens or closes a quoted cell: an escaped quote inside of one is
// two quotes, which close and open it again. A file where this is not so is
// malformed, and the csv reader refuses it.
//
// It also checks that the text is UTF-8, because that is faster for many lines at once
// than for each cell.
type quotedLineEnds struct {
	from     *bufio.Reader
	quoted   bool // inside a quoted cell
	last     byte // the byte last passed; of use only inside a quoted cell
	doubtful bool // some of the text passed may not be UTF-8: check each cell
}

// A stray describes a cell that holds, outside of quotes, what belongs in quotes.
type stray string

const (
	strayCR  stray = "holds a carriage return without a line feed; end lines with LF or CR LF, or quote the cell"
	strayNUL stray = "holds a NUL byte, as UTF-16 and compressed files do; save the file as UTF-8 text, or state its encoding"
)

func (s stray) Error() string { return string(s) }

func (q *quotedLineEnds) Read(p []byte) (int, error) {
	ahead, err := q.from.Peek(2)
	switch {
	case len(ahead) == 0:
		return 0, err
	case q.quoted && q.last == '\r' && ahead[0] == '\n':
		p[0], q.last = '\r', 0
		return 1, nil
	case !q.quoted && ahead[0] == 0:
		return 0, strayNUL
	case !q.quoted && ahead[0] == '\r' && len(ahead) > 1 && ahead[1] != '\n': // the csv reader drops a CR at the end of the file
		return 0, strayCR
	}
	chunk := q.lines(len(p))
	n := len(chunk)
	if bytes.IndexByte(chunk, '\r') < 0 && bytes.IndexByte(chunk, 0) < 0 {
		q.quoted = q.quoted != (bytes.Count(chunk, []byte{'"'})%2 == 1)
	} else {
		n = q.pass(chunk)
	}
	q.last = chunk[n-1]
	q.doubtful = q.doubtful || !utf8.Valid(chunk[:n])
	copy(p, chunk[:n])
	return q.from.Discard(n)
}

// lines returns the whole lines that are buffered, of at most so many bytes. It reads on
// until it has one. It returns a part of a line only if the line is longer than the
// buffer, or nothing follows.
func (q *quotedLineEnds) lines(most int) []byte {
	for {
		text, _ := q.from.Peek(min(most, q.from.Buffered()))
		if end := bytes.LastIndexByte(text, '\n') + 1; end > 0 {
			return text[:end]
		}
		if more, err := q.from.Peek(len(text) + 1); err != nil || len(text) == most {
			return more[:len(text)]
		}
	}
}

// pass returns how many bytes of the text pass, and keeps track of the quotes in them.
func (q *quotedLineEnds) pass(text []byte) (n int) {
	for n == 0 || n < len(text) && text[n] == '"' {
		if text[n] == '"' {
			q.quoted = !q.quoted
		}
		n++
		if q.quoted {
			n += quotedText(text[n-1:])
		} else {
			n += openText(text[n:])
		}
	}
	return n
}

// quotedText returns how many bytes behind the first pass inside of quotes: those
// before the next quote, or before an LF behind a CR.
func quotedText(text []byte) int {
	end := bytes.IndexByte(text[1:], '"')
	if end < 0 {
		end = len(text) - 1
	}
	if i := bytes.Index(text[:1+end], []byte("\r\n")); i >= 0 {
		return i
	}
	return end
}

// openText returns how many bytes pass outside of quotes: those before the next
// quote or NUL, or before a CR that no LF is seen to follow.
func openText(text []byte) int {
	for _, b := range []byte{'"', 0} {
		if i := bytes.IndexByte(text, b); i >= 0 {
			text = text[:i]
		}
	}
	for n := 0; ; n++ {
		i := bytes.IndexByte(text[n:], '\r')
		if i < 0 {
			return len(text)
		}
		if n += i + 1; n == len(text) || text[n] != '\n' {
			return n - 1
		}
	}
}

var errRecordTooLong = errors.New("record too long")

// recordLimit fails a reader that takes more than one record may have. Without
// it an open quote would collect the rest of the file in memory.
type recordLimit struct {
	from io.Reader
	left int
}

// next grants the bytes of one more record. Call it before each.
func (l *recordLimit) next() { l.left = MaxRecord }

func (l *recordLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errRecordTooLong
	}
	n, err := l.from.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
