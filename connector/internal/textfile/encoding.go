package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

const utf8Name = "utf-8"

// marks are the byte-order marks that a file may begin with, the longest first, and
// what it then is.
var marks = []struct{ mark, encoding string }{
	{"\xff\xfe\x00\x00", "utf-32"}, {"\x00\x00\xfe\xff", "utf-32"},
	{"\xef\xbb\xbf", utf8Name}, {"\xff\xfe", "utf-16le"}, {"\xfe\xff", "utf-16be"},
}

// Undecodable is the error for text that is not in the encoding it is read in.
type Undecodable struct {
	Line    int    // from 1; 0: the text as a whole
	Problem string // and how to mend it
}

func (u *Undecodable) Error() string { return u.Problem }

// Decode returns the text of a file in UTF-8, without a byte-order mark, and says by
// which encoding it is read. A byte-order mark decides, whatever is stated, because no
// text begins with one by chance. Without one the stated encoding counts, and UTF-8 if
// none is. Text in UTF-8 passes as it is: whether it is valid is for the caller to see.
// Reading ends with an [*Undecodable] where the text is in another encoding.
func Decode(r io.Reader, stated string) (text io.Reader, encoding string, marked bool, err error) {
	r = &sticky{from: r}
	start := make([]byte, 4)
	n, err := io.ReadFull(r, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", false, err
	}
	start = start[:n]
	encoding = stated
	for _, m := range marks {
		if bytes.HasPrefix(start, []byte(m.mark)) {
			start, encoding, marked = start[len(m.mark):], m.encoding, true
			break
		}
	}
	r = io.MultiReader(bytes.NewReader(start), r)
	switch encoding {
	case "", utf8Name:
		return r, utf8Name, marked, nil
	case "utf-32":
		return nil, "", false, &Undecodable{0, "the text is UTF-32 by its byte-order mark; save the file as UTF-8"}
	case "utf-16":
		return nil, "", false, &Undecodable{0, "UTF-16 without a byte-order mark may be read in two ways; " +
			"state the encoding utf-16le, as Windows writes it, or utf-16be"}
	case "utf-16le":
		return &decoder{from: r, decode: utf16Decoder(0, 1)}, encoding, marked, nil
	case "utf-16be":
		return &decoder{from: r, decode: utf16Decoder(1, 0)}, encoding, marked, nil
	}
	page := codePages[encoding]
	if page == nil {
		return nil, "", false, fmt.Errorf("textfile: unknown encoding %q", encoding)
	}
	return &decoder{from: r, decode: page.decoder(encoding)}, encoding, marked, nil
}

// sticky repeats an error that came with the last bytes: who reads ahead would lose it.
type sticky struct {
	from io.Reader
	err  error
}

func (s *sticky) Read(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.from.Read(p)
	}
	return n, s.err
}

// decodeFunc appends the text of the bytes in UTF-8 and returns how many it took. It
// leaves the part of a character at the end, for which it needs more. It stops with a
// problem at what is no character.
type decodeFunc func(to, from []byte) (text []byte, taken int, problem string)

// decoder reads text of another encoding as UTF-8.
type decoder struct {
	from   io.Reader
	decode decodeFunc
	taken  [8 << 10]byte
	held   int    // bytes of taken that are not decoded
	text   []byte // decoded and not passed on
	line   int    // line ends so far
	buffer []byte // where text lies
	err    error  // behind the text
}

func (d *decoder) Read(p []byte) (int, error) {
	for len(d.text) == 0 && d.err == nil {
		d.fill()
	}
	if len(d.text) == 0 {
		return 0, d.err
	}
	n := copy(p, d.text)
	d.text = d.text[n:]
	return n, nil
}

// fill reads and decodes some bytes.
func (d *decoder) fill() {
	n, end := d.from.Read(d.taken[d.held:])
	d.held += n
	var taken int
	var problem string
	d.buffer, taken, problem = d.decode(d.buffer[:0], d.taken[:d.held])
	d.text = d.buffer
	d.line += bytes.Count(d.text, []byte{'\n'})
	d.held = copy(d.taken[:], d.taken[taken:d.held])
	if problem == "" && errors.Is(end, io.EOF) && d.held > 0 {
		problem = "ends in the middle of a character of UTF-16"
	}
	d.err = end
	if problem != "" {
		d.err = &Undecodable{d.line + 1, problem}
	}
}

// decoder returns the decoding of a code page.
func (p *codePage) decoder(name string) decodeFunc {
	return func(to, from []byte) ([]byte, int, string) {
		for i, b := range from {
			if b < utf8.RuneSelf {
				to = append(to, b)
				continue
			}
			c := p[b]
			if c == "" {
				return to, i, fmt.Sprintf("has the byte 0x%X, which is no character in %s; state the encoding that the file has", b, name)
			}
			to = append(to, c...)
		}
		return to, len(from), ""
	}
}

// utf16Decoder returns the decoding of UTF-16 whose units have the low and the high byte
// at these places.
func utf16Decoder(low, high int) decodeFunc {
	return func(to, from []byte) ([]byte, int, string) {
		unit := func(i int) rune { return rune(from[i+low]) | rune(from[i+high])<<8 }
		i := 0
		for ; i+2 <= len(from); i += 2 {
			r := unit(i)
			if !utf16.IsSurrogate(r) {
				to = utf8.AppendRune(to, r)
				continue
			}
			if i+4 > len(from) {
				break
			}
			if r = utf16.DecodeRune(r, unit(i+2)); r == utf8.RuneError {
				return to, i, "has half a character of UTF-16; state the encoding that the file has"
			}
			to = utf8.AppendRune(to, r)
			i += 2
		}
		return to, i, ""
	}
}
