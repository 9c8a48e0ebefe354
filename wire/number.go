package wire

import (
	"math"
	"strconv"
)

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
			s.fail("unexpected end")
		} else {
			s.fail("expected a value")
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
func (s *Scanner) plainNumber() (Value, bool) {
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
		return Null(), false
	}
	if negative {
		n = -n
	}
	if point < 0 {
		s.pos = i
		return Int(n), true
	}
	if digits == whole {
		return Null(), false // nothing after the point
	}
	f := float64(n) / powersOfTen[digits-whole]
	s.pos = i
	if t := int64(f); float64(t) == f {
		return Int(t), true
	}
	return Value{tag: tag{kind: KindFloat}, num: math.Float64bits(f)}, true
}

var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// numberValue is the value of a JSON number.
func numberValue(raw string) (Value, bool) {
	if len(raw) <= 16 {
		digits, negative := raw, raw[0] == '-'
		if negative {
			digits = raw[1:]
		}
		var n int64
		for _, c := range []byte(digits) {
			if c-'0' > 9 {
				n = -1
				break
			}
			n = n*10 + int64(c-'0')
		}
		if n >= 0 && n <= MaxSafeInteger {
			if negative {
				n = -n
			}
			return Int(n), true
		}
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return Null(), false
	}
	if math.Abs(f) <= MaxSafeInteger && f == math.Trunc(f) {
		return Int(int64(f)), true
	}
	return Float(f), true
}
