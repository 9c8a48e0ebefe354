package wire

import (
	"math"
	"strconv"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// AppendText appends the text the value has on the wire, without quotes and
// escapes: the text that includes and startswith search. Null appends nothing.
func (v Value) AppendText(dst []byte) []byte {
	switch v.kind {
	case KindBool:
		return strconv.AppendBool(dst, v.num == 1)
	case KindInt:
		return strconv.AppendInt(dst, int64(v.num), 10)
	case KindFloat:
		return appendFloat(dst, v.Float64())
	case KindText, KindDecimal:
		return append(dst, v.text...)
	case KindDate:
		return appendDate(dst, int64(v.num))
	case KindDatetime:
		return v.appendDatetime(dst)
	}
	return dst
}

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
			return strconv.AppendInt(dst, i, 10), nil
		}
		dst = append(dst, '"')
		return append(strconv.AppendInt(dst, i, 10), '"'), nil
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
	if f == 0 {
		return append(dst, '0')
	}
	if math.Abs(f) < 1e11 {
		// Nearly all numbers have few decimals. Where four reproduce f, their
		// digits are the shortest: two decimals of at most 15 digits are
		// never the same double.
		if n := math.Round(f * 1e4); n/1e4 == f {
			return appendTenThousandths(dst, int64(n))
		}
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// appendTenThousandths appends n/10000 in decimals, without zeros at the end.
func appendTenThousandths(dst []byte, n int64) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = strconv.AppendInt(dst, n/10_000, 10)
	rest := int(n % 10_000)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.', 0, 0, 0, 0)
	putPair(dst[len(dst)-4:], rest/100)
	putPair(dst[len(dst)-2:], rest%100)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// putPair writes n, which is below 100, in two digits.
func putPair(dst []byte, n int) {
	_ = dst[1]
	dst[0] = pairs[2*n]
	dst[1] = pairs[2*n+1]
}

const pairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// appendDigits appends n in width digits.
func appendDigits(dst []byte, n, width int) []byte {
	at := len(dst)
	dst = append(dst, "000000000"[:width]...)
	for i := at + width - 1; n > 0 && i >= at; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

// appendDate appends the date of a number of seconds since 1970, in the
// proleptic Gregorian calendar. It computes it from days since 0000-03-01 as
// Hinnant's civil_from_days does, at a third of the cost of time.Time: dates are
// in every row.
func appendDate(dst []byte, sec int64) []byte {
	days := sec / 86400
	if sec%86400 < 0 {
		days--
	}
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day := doy - (153*mp+2)/5 + 1
	month := mp + 3
	year := yoe + era*400
	if month > 12 {
		month -= 12
		year++
	}
	dst = append(dst, "0000-00-00"...)
	out := dst[len(dst)-10:]
	putPair(out, int(year)/100)
	putPair(out[2:], int(year)%100)
	putPair(out[5:], int(month))
	putPair(out[8:], int(day))
	return dst
}

func (v Value) appendDatetime(dst []byte) []byte {
	sec := int64(v.num)
	dst = appendDate(dst, sec)
	rest := int(sec % 86400)
	if rest < 0 {
		rest += 86400
	}
	dst = append(dst, "T00:00:00"...)
	out := dst[len(dst)-8:]
	putPair(out, rest/3600)
	putPair(out[3:], rest/60%60)
	putPair(out[6:], rest%60)
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
	switch prec {
	case 3:
		dst = appendDigits(append(dst, '.'), nano/1_000_000, 3)
	case 6:
		dst = appendDigits(append(dst, '.'), nano/1000, 6)
	case 9:
		dst = appendDigits(append(dst, '.'), nano, 9)
	}
	return append(dst, 'Z')
}
