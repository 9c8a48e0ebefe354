package jsontext

import (
	"math"
	"strconv"
)

// Kind is the kind of a [Scalar].
type Kind uint8

// The kinds of scalars.
const (
	Null Kind = iota
	Bool
	Int   // a number that is an integer within ±MaxSafeInteger
	Float // any other number
	String
)

// MaxSafeInteger is the largest integer up to which all are exact doubles.
const MaxSafeInteger = 1<<53 - 1

// Scalar is a JSON value that is neither an object nor an array.
type Scalar struct {
	Text string // of a String
	Bits uint64 // 1 for true, the int64 of an Int, the IEEE 754 bits of a Float
	Kind Kind
}

// IsTrue reports whether the scalar is the boolean true.
func (s Scalar) IsTrue() bool { return s.Kind == Bool && s.Bits == 1 }

// Scalar reads a string, a number, a boolean or null, and fails on an object or
// an array. It reads a number as a double, as the platform does, and fails for
// one beyond the doubles.
func (s *Scanner) Scalar() Scalar {
	switch s.Peek() {
	case '"':
		s.pos++
		return Scalar{Kind: String, Text: s.restOfString()}
	case 't':
		if s.Literal("true"); s.err == nil {
			return Scalar{Kind: Bool, Bits: 1}
		}
		return Scalar{Kind: Bool}
	case 'f':
		s.Literal("false")
		return Scalar{Kind: Bool}
	case 'n':
		s.Literal("null")
		return Scalar{}
	case '{', '[':
		s.Fail("expected a string, a number, true, false or null")
		return Scalar{}
	}
	if v, ok := s.plainNumber(); ok {
		return v
	}
	raw := s.Number()
	if s.err != nil {
		return Scalar{}
	}
	v, ok := parseNumber(raw)
	if !ok {
		s.pos -= len(raw)
		s.limit(TooLarge)
	}
	return v
}

// TooLarge is the problem of a number that no double is as large as.
const TooLarge = "a number too large for a double"

// Exact reads a number as [Scanner.Scalar] does, and reports whether it has the digits of its
// double, which are the shortest that are read as that double. What has others, such as
// 9007199254740993, would become another number. ok is false for one beyond the doubles.
func (s *Scanner) Exact() (v Scalar, exact, ok bool) {
	s.Peek()
	if v, ok := s.plainNumber(); ok {
		return v, true, true
	}
	raw := s.Number()
	if s.err != nil {
		return Scalar{}, true, true
	}
	if v, ok = parseNumber(raw); !ok {
		return Scalar{}, false, false
	}
	f := math.Float64frombits(v.Bits)
	if v.Kind == Int {
		f = float64(int64(v.Bits))
	}
	var short [32]byte
	negative, digits, zeros := plain(string(strconv.AppendFloat(short[:0], f, 'e', -1, 64)))
	ownNegative, ownDigits, ownZeros := plain(raw)
	return v, negative == ownNegative && digits == ownDigits && zeros == ownZeros, true
}

// Number reads a number and returns it as it is written.
func (s *Scanner) Number() string {
	s.Peek()
	text, start := s.text, s.pos
	i := start
	if i < len(text) && text[i] == '-' {
		i++
	}
	whole := i
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	ok := i == whole+1 || i > whole && text[whole] != '0'
	if ok && i < len(text) && text[i] == '.' {
		i++
		fraction := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		ok = i > fraction
	}
	if ok && i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		ok = i > exponent
	}
	if !ok {
		if i >= len(text) {
			s.Fail("unexpected end")
		} else {
			s.Fail("expected a value")
		}
		return ""
	}
	s.pos = i
	return text[start:i]
}

// plainNumber reads a number of at most 15 digits without an exponent, as
// nearly all are; it consumes nothing of any other. Such digits are an exact
// double, and so are the powers of ten up to 10^22, so that one division
// rounds correctly.
func (s *Scanner) plainNumber() (Scalar, bool) {
	const most = 15
	text, i := s.text, s.pos
	negative := i < len(text) && text[i] == '-'
	if negative {
		i++
	}
	var n int64
	start, point := i, -1
	var c byte
	for ; i < len(text); i++ {
		if c = text[i]; c-'0' <= 9 {
			n = n*10 + int64(c-'0')
		} else if c == '.' && point < 0 {
			point = i
		} else {
			break
		}
	}
	digits, whole := i-start, i-start
	if point >= 0 {
		digits--
		whole = point - start
	}
	if whole == 0 || digits > most || whole > 1 && text[start] == '0' || i < len(text) && c|0x20 == 'e' {
		return Scalar{}, false
	}
	if negative {
		n = -n
	}
	if point < 0 {
		s.pos = i
		return integer(n), true
	}
	if digits == whole {
		return Scalar{}, false // nothing after the point
	}
	f := float64(n) / powersOfTen[digits-whole]
	s.pos = i
	if t := int64(f); float64(t) == f {
		return integer(t), true
	}
	return Scalar{Kind: Float, Bits: math.Float64bits(f)}, true
}

var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

func integer(n int64) Scalar { return Scalar{Kind: Int, Bits: uint64(n)} }

// parseNumber returns the value of a JSON number, and whether it is a double.
func parseNumber(raw string) (Scalar, bool) {
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return Scalar{}, false
	}
	if math.Abs(f) <= MaxSafeInteger && f == math.Trunc(f) {
		return integer(int64(f)), true
	}
	return Scalar{Kind: Float, Bits: math.Float64bits(f)}, true
}
