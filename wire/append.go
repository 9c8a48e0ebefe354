package wire

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// AppendJSON appends the value as the protocol spells it. It fails for
// what cannot cross the wire: text that is not UTF-8, a NaN, a malformed decimal.
func (v Value) AppendJSON(dst []byte) ([]byte, error) {
	switch v.kind {
	case KindNull:
		return append(dst, "null"...), nil
	case KindBool:
		return strconv.AppendBool(dst, v.num == 1), nil
	case KindInt:
		i := int64(v.num)
		if i >= -terms.MaxSafeInteger && i <= terms.MaxSafeInteger {
			return appendInt(dst, i), nil
		}
		dst = append(dst, '"')
		return append(appendInt(dst, i), '"'), nil
	case KindFloat:
		f := v.Float64()
		if floatIsNumber(f) {
			return appendFloat(dst, f), nil
		}
		dst = append(dst, '"')
		return append(appendFloat(dst, f), '"'), nil
	case KindText:
		dst, err := jsontext.AppendString(dst, v.text)
		if err != nil {
			return dst, errUTF8
		}
		return dst, nil
	case KindDecimal:
		dst = append(dst, '"')
		dst = append(dst, v.text...)
		return append(dst, '"'), nil
	case KindDate:
		dst = append(dst, '"')
		return append(appendDate(dst, int64(v.num)), '"'), nil
	case KindDatetime:
		dst = append(dst, '"')
		return append(v.appendDatetime(dst), '"'), nil
	}
	return dst, valueError(v.text)
}

// floatIsNumber reports whether f crosses as a JSON number [rule cell-1]: it is
// not beyond 2^53-1, and not so small that its shortest spelling has an
// exponent. JavaScript, and so the platform, writes exponents below 1e-6.
func floatIsNumber(f float64) bool {
	abs := math.Abs(f)
	return abs <= terms.MaxSafeInteger && (abs >= 1e-6 || abs == 0)
}

// appendFloat appends the shortest digits that read back as f, without an
// exponent. Minus zero is zero.
func appendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs < 1e11 {
		// Nearly all numbers have few decimals. Where four reproduce f, their
		// digits are the shortest: two decimals of at most 15 digits are
		// never the same double.
		if n := uint64(abs*1e4 + 0.5); float64(n)/1e4 == abs {
			if f < 0 {
				dst = append(dst, '-')
			}
			dst = appendUint(dst, n/1e4)
			if n %= 1e4; n == 0 {
				return dst
			}
			decimals := eightDigits(n) >> 32
			zeros := bits.LeadingZeros32(uint32(decimals)) / 8 // at the end
			dst = binary.LittleEndian.AppendUint64(dst, '.'|(decimals|zeroDigits)<<8)
			return dst[:len(dst)-3-zeros]
		}
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// appendInt appends i in decimal digits.
func appendInt(dst []byte, i int64) []byte {
	if i < 0 {
		return appendUint(append(dst, '-'), -uint64(i))
	}
	return appendUint(dst, uint64(i))
}

// appendUint appends n in decimal digits.
func appendUint(dst []byte, n uint64) []byte {
	if n >= 1e8 {
		dst = appendUint(dst, n/1e8)
		return binary.LittleEndian.AppendUint64(dst, eightDigits(n%1e8)|zeroDigits)
	}
	w := eightDigits(n)
	zeros := bits.TrailingZeros64(w|1<<56) &^ 7 // bits of leading zeros; the last digit stays
	dst = binary.LittleEndian.AppendUint64(dst, (w|zeroDigits)>>(zeros&63))
	return dst[:len(dst)-zeros/8]
}

// zeroDigits makes the text of what eightDigits returns.
const zeroDigits = 0x3030303030303030

// eightDigits returns the eight digits of n, which is below 10^8: a byte each, from 0
// to 9, the first one lowest. It splits n in halves three times, all parts at once.
// The factors are reciprocals, 10486/2^20 of 100 and 103/2^10 of 10, precise enough
// for parts of four and of two digits.
func eightDigits(n uint64) uint64 {
	w := n/1e4 | n%1e4<<32
	w = w<<16 - (100<<16-1)*(w*10486>>20&0x0000007f_0000007f)
	return w<<8 - (10<<8-1)*(w*103>>10&0x000f000f_000f000f)
}

// appendDate appends the date of a number of seconds since 1970.
func appendDate(dst []byte, sec int64) []byte {
	year, month, day := time.Unix(sec, 0).UTC().Date()
	w := eightDigits(uint64(year*10_000+int(month)*100+day)) | zeroDigits
	dst = binary.LittleEndian.AppendUint64(dst, w&0xffffffff|'-'<<32|w>>32&0xffff<<40|'-'<<56)
	return append(dst, byte(w>>48), byte(w>>56))
}

func (v Value) appendDatetime(dst []byte) []byte {
	dst = appendDate(dst, int64(v.num))
	seconds := uint64(int64(v.num)-firstSecond) % 86400 // of the day
	minutes := seconds / 60
	w := eightDigits(minutes/60*10_000+minutes%60*100+seconds%60) | zeroDigits // 00HHMMSS
	dst = binary.LittleEndian.AppendUint64(dst, 'T'|w>>16&0xffff<<8|':'<<24|w>>32&0xffff<<32|':'<<48|w>>48<<56)
	dst = append(dst, byte(w>>56))
	nano, prec := int(v.nano), int(v.prec)
	if prec == shortest {
		switch {
		case nano == 0:
			prec = 0
		case nano%int(time.Millisecond) == 0:
			prec = 3
		case nano%int(time.Microsecond) == 0:
			prec = 6
		default:
			prec = 9
		}
	}
	if prec > 0 {
		dst = appendUint(dst, uint64(1_000_000_000+nano)) // its first digit gives way to the point
		dst[len(dst)-10] = '.'
		dst = dst[:len(dst)-9+prec]
	}
	return append(dst, 'Z')
}
