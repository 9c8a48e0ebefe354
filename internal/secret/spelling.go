package secret

import (
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// levels is how often a text may have been escaped, such as JSON within JSON within JSON.
const levels = 3

// escapes are the bytes that an escape begins with.
var escapes = [256]bool{'\\': true, '%': true, '&': true, '+': true, '\'': true, '"': true, '`': true}

// plain reports whether the first byte of a text stands for itself only. It may report false
// of a byte that does.
func plain(text string) bool {
	c := text[0]
	switch {
	case !escapes[c]:
		return true
	case c == '+' || c == '\\':
		return false
	case len(text) == 1:
		return true
	}
	switch next := text[1]; {
	case escapes[next]: // it may stand for anything
		return false
	case c == '%':
		return digits[next] == 16
	case c == '&':
		return !alphanumeric(next) && next != '#'
	}
	return true // a quote that is not doubled
}

func alphanumeric(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// letter is a character, or a byte, that was read from a text.
type letter struct {
	b    [utf8.UTFMax]byte
	n    int // bytes of it
	size int // bytes that spell it
}

func newLetter(r rune, size int) letter {
	l := letter{size: size}
	l.n = utf8.EncodeRune(l.b[:], r)
	return l
}

func newByte(c byte, size int) letter { return letter{b: [utf8.UTFMax]byte{c}, n: 1, size: size} }

// readLetter reads the first letter of a text that was escaped as often as level says, or
// less often.
func readLetter(text string, level int) letter {
	if level == 0 || plain(text) {
		return newByte(text[0], 1)
	}
	l := readLetter(text, level-1)
	if l.n != 1 {
		return l
	}
	rest := text[l.size:]
	var meant letter // its size is that of rest
	switch c := l.b[0]; c {
	case '\\':
		meant = afterBackslash(rest, level-1)
	case '%':
		if v, size := readDigits(rest, level-1, 16, 2); size > 0 {
			meant = newByte(byte(v), size)
		}
	case '&':
		meant = afterAmpersand(rest, level-1)
	case '\'', '"', '`': // doubled
		if size := again(rest, c, level-1); size > 0 {
			meant = newByte(c, size)
		}
	}
	if meant.size == 0 {
		return l
	}
	meant.size += l.size
	return meant
}

// readASCII reads the first letter of a text, and returns 0, 0 if it is not ASCII.
func readASCII(text string, level int) (c byte, size int) {
	if text == "" {
		return 0, 0
	}
	if l := readLetter(text, level); l.n == 1 && l.b[0] < utf8.RuneSelf {
		return l.b[0], l.size
	}
	return 0, 0
}

// again returns the size of the quote with which a doubled one goes on: of the same quote or, as in
// a shell's quotes, of a backslash and two more. It is 0 if the text does not begin with either.
func again(text string, quote byte, level int) int {
	for l := level; l >= 0 && quote == '\''; l-- {
		if c, n := readASCII(text, l); n > 0 && c == '\\' {
			for l := level; l >= 0; l-- {
				first, m := readASCII(text[n:], l)
				if second, k := readASCII(text[n+m:], l); m > 0 && k > 0 && first == quote && second == quote {
					return n + m + k
				}
			}
		}
	}
	for l := level; l >= 0; l-- {
		if c, n := readASCII(text, l); n > 0 && c == quote {
			return n
		}
	}
	return 0
}

// readDigits reads a number of so many digits. Its size is 0 if there are fewer.
func readDigits(text string, level int, base byte, count int) (value rune, size int) {
	for range count {
		c, n := readASCII(text[size:], level)
		if n == 0 || digits[c] >= base {
			return 0, 0
		}
		value, size = value*rune(base)+rune(digits[c]), size+n
	}
	return value, size
}

// digits are the values of hexadecimal digits, and 16 for other bytes.
var digits = func() (t [256]byte) {
	for c := range t {
		t[c] = 16
	}
	for i, c := range []byte("0123456789abcdef") {
		t[c] = byte(i)
	}
	copy(t['A':], t['a':'g'])
	return t
}()

// afterBackslash reads what follows a backslash in JSON, Go, SQL or a shell.
func afterBackslash(text string, level int) letter {
	c, size := readASCII(text, level)
	rest := text[size:]
	switch {
	case size == 0:
		return letter{}
	case c == 'x':
		if v, n := readDigits(rest, level, 16, 2); n > 0 {
			return newByte(byte(v), size+n)
		}
	case c == 'u':
		return utf16Letter(text, level)
	case c == 'U':
		if v, n := readDigits(rest, level, 16, 8); n > 0 {
			return newLetter(v, size+n)
		}
	case '0' <= c && c <= '3':
		if v, n := readDigits(text, level, 8, 3); n > 0 {
			return newByte(byte(v), n)
		}
	case strings.IndexByte("abtnvfr", c) >= 0:
		return newByte("\a\b\t\n\v\f\r"[strings.IndexByte("abtnvfr", c)], size)
	case ' ' <= c && c <= '~' && !alphanumeric(c):
		return newByte(c, size)
	}
	return letter{}
}

// utf16Letter reads the u and the digits of \u002B, and the second half of a pair.
func utf16Letter(text string, level int) letter {
	_, size := readASCII(text, level) // u
	r, n := readDigits(text[size:], level, 16, 4)
	if n == 0 {
		return letter{}
	}
	size += n
	if !utf16.IsSurrogate(r) {
		return newLetter(r, size)
	}
	for _, want := range []byte(`\u`) {
		c, n := readASCII(text[size:], level)
		if c != want {
			return letter{}
		}
		size += n
	}
	low, n := readDigits(text[size:], level, 16, 4)
	if r = utf16.DecodeRune(r, low); n == 0 || r == utf8.RuneError {
		return letter{}
	}
	return newLetter(r, size+n)
}

// maxEntity is the length of the longest name or number that is read after an ampersand.
const maxEntity = 10

// afterAmpersand reads the rest of an entity of HTML.
func afterAmpersand(text string, level int) letter {
	entity := make([]byte, 0, maxEntity+2)
	entity = append(entity, '&')
	for size := 0; len(entity) < cap(entity); {
		c, n := readASCII(text[size:], level)
		entity, size = append(entity, c), size+n
		switch {
		case c == ';':
			meant := html.UnescapeString(string(entity))
			if l := (letter{size: size}); len(meant) <= len(l.b) && meant != string(entity) {
				l.n = copy(l.b[:], meant)
				return l
			}
			return letter{}
		case !alphanumeric(c) && c != '#':
			return letter{}
		}
	}
	return letter{}
}

// reader reads the byte of index n of a text whose bytes are written as numbers or in base64. It
// returns the byte, where the next one begins and where the spelling ends, which is 0 if there
// is no byte at this place.
type reader func(text string, at, n int) (c byte, next, end int)

// base64Readers read base64 by which of three bytes in four digits the first is.
var base64Readers = [3]reader{
	func(text string, at, n int) (byte, int, int) { return readBase64(text, at, n, 0) },
	func(text string, at, n int) (byte, int, int) { return readBase64(text, at, n, 1) },
	func(text string, at, n int) (byte, int, int) { return readBase64(text, at, n, 2) },
}

// maxGap is how many characters may stand between two numbers.
const maxGap = 2

// skipGap returns where the next number of a list begins.
func skipGap(text string, at int) int {
	for end := at + maxGap; at < len(text) && at < end && strings.IndexByte(" ,:-", text[at]) >= 0; {
		at++
	}
	return at
}

// readHex reads 2b and 0x2b, with or without something between them, and 0xb.
func readHex(text string, at, n int) (byte, int, int) {
	if n > 0 {
		at = skipGap(text, at)
	}
	if strings.HasPrefix(text[at:], "0x") {
		at += len("0x")
		if at < len(text) && digits[text[at]] < 16 && (at+1 == len(text) || digits[text[at+1]] == 16) {
			return digits[text[at]], at + 1, at + 1
		}
	}
	if at+2 > len(text) || digits[text[at]] == 16 || digits[text[at+1]] == 16 {
		return 0, 0, 0
	}
	return digits[text[at]]<<4 | digits[text[at+1]], at + 2, at + 2
}

// readDecimal reads 43, with something between it and the one before.
func readDecimal(text string, at, n int) (byte, int, int) {
	start := at
	if n > 0 {
		start = skipGap(text, at)
	}
	v, end := 0, start
	for end < len(text) && digits[text[end]] < 10 && v < 256 {
		v = 10*v + int(digits[text[end]])
		end++
	}
	if end == start || v > 255 || n > 0 && start == at {
		return 0, 0, 0
	}
	return byte(v), end, end
}

// readBase64 reads a byte from the two digits that hold it. The one behind may hold bits of
// the next byte.
func readBase64(text string, at, n, phase int) (byte, int, int) {
	a, next := readSextet(text, at, n > 0)
	if next == 0 {
		return 0, 0, 0
	}
	b, end := readSextet(text, next, true)
	if end == 0 {
		return 0, 0, 0
	}
	switch (n + phase) % 3 {
	case 0:
		return a<<2 | b>>4, next, end
	case 1:
		return a<<4 | b>>2, next, end
	}
	return a<<6 | b, end, end
}

// readSextet reads a digit of base64, which may be escaped, and returns where it ends, or 0.
// Inside of what is encoded, a line may end before the digit.
func readSextet(text string, at int, inside bool) (v byte, end int) {
	for at < len(text) {
		if v := sextets[text[at]]; v < 64 {
			return v, at + 1
		} else if v == noSextet {
			return 0, 0
		}
		l := readLetter(text[at:], levels)
		at += l.size
		switch c := l.b[0]; {
		case l.n == 1 && sextets[c] < 64:
			return sextets[c], at
		case l.n != 1 || c != '\r' && c != '\n' || !inside:
			return 0, 0
		}
	}
	return 0, 0
}

// noSextet stands in sextets for a byte that is no part of base64.
const noSextet = 65

// sextets are the values of the digits of both alphabets of base64, and 64 for what may be an
// escape or the end of a line.
var sextets = func() (t [256]byte) {
	for c := range t {
		t[c] = noSextet
		if escapes[c] || c == '\r' || c == '\n' {
			t[c] = 64
		}
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = byte(i)
	}
	t['-'], t['_'] = t['+'], t['/']
	return t
}()
