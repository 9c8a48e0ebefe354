package ndjson

import (
	"bytes"
	"fmt"
	"io"
	"unsafe"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// errLong reports a line longer than wire.MaxLineBytes.
var errLong = fmt.Errorf("longer than %d MiB, its newline included", wire.MaxLineBytes>>20)

const (
	firstBuffer = 16 << 10
	readSize    = 64 << 10 // at once, so that what is read is still in the cache when it is searched
	emptyReads  = 100      // in a row, before the reader below counts as broken
)

// input cuts what a reader delivers, in pieces of any size, into lines.
//
// A line is a string that shares the buffer, without a copy. That is sound
// because each byte of the buffer is written once: bytes that have been read
// never change, and when the buffer is full, the line goes on in a new one. input
// holds one buffer at most, that of the line being read.
type input struct {
	r       io.Reader
	buf     []byte
	start   int // of the line being read
	end     int // of what has been read
	scanned int // bytes from start on that hold no newline
	usual   int // a size that holds most lines of this stream
	err     error
}

// line returns the next line without its newline. At the end of the stream it
// returns the text after the last newline and io.EOF. Other errors are errLong
// and those of the reader below.
func (in *input) line() (string, error) {
	for {
		if i := bytes.IndexByte(in.buf[in.start+in.scanned:in.end], '\n'); i >= 0 {
			return in.take(in.scanned+i, 1), nil
		}
		in.scanned = in.end - in.start
		switch {
		case in.scanned >= wire.MaxLineBytes:
			return "", errLong
		case in.err == io.EOF:
			return in.take(in.scanned, 0), io.EOF
		case in.err != nil:
			return "", in.err
		}
		in.fill()
	}
}

// take returns the next n bytes and skips them and the delimiter.
func (in *input) take(n, delimiter int) string {
	line := unsafe.String(unsafe.SliceData(in.buf[in.start:]), n)
	in.start += n + delimiter
	in.scanned = 0
	in.usual = max(n, in.usual-in.usual/8)
	return line
}

// more reads on, and reports whether anything but a single blank line comes before
// the stream ends.
func (in *input) more() (bool, error) {
	for {
		switch string(in.buf[in.start:in.end]) {
		case "", "\n", "\r", "\r\n":
		default:
			return true, nil
		}
		switch in.err {
		case nil:
			in.fill()
		case io.EOF:
			return false, nil
		default:
			return false, in.err
		}
	}
}

// fill reads once more from the reader below. The line being read is shorter than
// the largest, so a buffer of that size has room.
func (in *input) fill() {
	if in.end == len(in.buf) {
		begun := in.buf[in.start:in.end]
		size := max(firstBuffer, 2*len(begun), in.usual+readSize)
		in.buf = make([]byte, min(size, wire.MaxLineBytes))
		in.start, in.end = 0, copy(in.buf, begun)
	}
	free := in.buf[in.end:]
	free = free[:min(len(free), readSize)]
	for range emptyReads {
		n, err := in.r.Read(free)
		in.end += n
		in.err = err
		if n > 0 || err != nil {
			return
		}
	}
	in.err = io.ErrNoProgress
}
