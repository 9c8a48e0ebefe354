package runs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxMessage is the largest message of a stream, in bytes.
const maxMessage = 1 << 20

var errTooLong = errors.New("a message of the stream is too long")

// reader reads the data of server-sent events, as the standard of HTML defines them:
// lines that end with LF, CR LF or CR, fields, and comments, which are heartbeats
// here.
type reader struct {
	in *bufio.Reader
	cr bool // the last byte was a CR: a LF after it ends no line
}

// newReader returns a reader that calls alive whenever bytes arrive.
func newReader(in io.Reader, alive func()) *reader {
	return &reader{in: bufio.NewReader(&watched{in, alive})}
}

type watched struct {
	in    io.Reader
	alive func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	if n > 0 {
		w.alive()
	}
	return n, err
}

// next returns the data of the next event. A message that the connection cut off is
// dropped, as the standard says.
func (r *reader) next() ([]byte, error) {
	var data []byte
	found := false
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if found {
				return data, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":")) // a comment has no name
		if string(name) != "data" {
			continue
		}
		if found {
			data = append(data, '\n')
		}
		if data = append(data, bytes.TrimPrefix(value, []byte(" "))...); len(data) > maxMessage {
			return nil, errTooLong
		}
		found = true
	}
}

// line returns the next line without its end.
func (r *reader) line() ([]byte, error) {
	var line []byte
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return nil, err
		}
		after := r.cr
		r.cr = b == '\r'
		switch {
		case b == '\n' && after:
		case b == '\n' || b == '\r':
			return line, nil
		case len(line) > maxMessage:
			return nil, errTooLong
		default:
			line = append(line, b)
		}
	}
}
