package textfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
)

// jsonRecords reads JSON objects, wherever lines end: one behind the other, or the
// elements of one list. The columns are those of ndjsonRecords.
type jsonRecords struct {
	*ndjsonRecords
	text   *lineCounter
	values *json.Decoder
	list   bool
}

// OpenJSON opens a file of JSON objects.
func OpenJSON(file string, r io.Reader, format Format, names []string) (Records, error) {
	decoded, notes, err := text(file, r, format)
	if err != nil {
		return nil, err
	}
	counter := &lineCounter{from: bufio.NewReader(decoded), left: MaxRecord}
	j := &jsonRecords{ndjsonRecords: newNDJSON(file, notes, names), text: counter, values: json.NewDecoder(counter)}
	for {
		b, err := counter.from.Peek(1)
		if err != nil || strings.IndexByte(" \t\r\n", b[0]) < 0 {
			j.list = string(b) == "["
			break
		}
		if b[0] == '\n' {
			counter.lines++
		}
		_, _ = counter.from.Discard(1)
	}
	if j.list {
		_, err = j.values.Token()
	}
	return j, err
}

// Next implements Records.
func (j *jsonRecords) Next() ([]textvalue.Raw, error) {
	if j.list && !j.values.More() {
		if _, err := j.values.Token(); err != nil {
			return nil, j.failure(err)
		}
		j.list = false
		switch _, err := j.values.Token(); {
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case err != nil:
			return nil, j.failure(err)
		}
		return nil, &Fault{j.file, j.text.lineAt(j.values.InputOffset()), "more text after the list of objects"}
	}
	j.text.left = MaxRecord
	var value json.RawMessage
	if err := j.values.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) && !j.list {
			return nil, io.EOF
		}
		return nil, j.failure(err)
	}
	j.at = j.text.lineAt(j.values.InputOffset() - int64(len(value)))
	if err := j.read(string(value)); err != nil {
		return nil, err
	}
	return j.cells, nil
}

// failure returns the fault that an error of the decoder is.
func (j *jsonRecords) failure(err error) error {
	var syntax *json.SyntaxError
	var wrong *Undecodable
	line := j.text.lineAt(j.values.InputOffset())
	switch {
	case errors.As(err, &wrong):
		return &Fault{j.file, wrong.Line, wrong.Problem}
	case errors.Is(err, errRecordTooLong):
		return &Fault{j.file, line, fmt.Sprintf("an object of more than %d MiB begins here", MaxRecord>>20)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Fault{j.file, line, "the file ends within an object or a list that begins here"}
	case errors.As(err, &syntax):
		return &Fault{j.file, line, "no JSON from here on: " + syntax.Error()}
	}
	return err
}

// lineCounter counts the lines of what is read through it, and fails if a value takes
// more than one record may have.
type lineCounter struct {
	from  *bufio.Reader
	left  int
	at    int64   // bytes read
	ends  []int64 // of lines, behind the last offset that was asked for
	lines int     // before it
}

func (l *lineCounter) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errRecordTooLong
	}
	n, err := l.from.Read(p[:min(len(p), l.left)])
	for i, b := range p[:n] {
		if b == '\n' {
			l.ends = append(l.ends, l.at+int64(i))
		}
	}
	l.at += int64(n)
	l.left -= n
	return n, err
}

// lineAt returns the line of an offset. Offsets must not decrease from call to call.
func (l *lineCounter) lineAt(offset int64) int {
	n := 0
	for n < len(l.ends) && l.ends[n] < offset {
		n++
	}
	l.lines += n
	l.ends = append(l.ends[:0], l.ends[n:]...)
	return l.lines + 1
}
