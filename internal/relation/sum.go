package relation

import (
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A limb of a sum holds nine decimal digits.
const (
	limbBase   = 1_000_000_000
	limbDigits = 9
)

// carryEvery is the number of additions after which limbs are carried. A limb
// grows by less than limbBase each time, so an int64 holds 2^33 of them.
const carryEvery = 1 << 32

// Sum adds decimal numbers exactly. Its limbs are aligned at the decimal point,
// so it never rescales an addend; they are signed and carried only at the end,
// so no addition ripples through the digits. An addition costs as much as reading
// the addend's digits, whatever came before. A decimal.Decimal or a big.Int
// would rescale or carry the whole total each time, and a hostile column would
// cost quadratic work.
//
// The zero Sum is 0.
type Sum struct {
	whole    []int64 // whole[0] is the units, whole[1] the 10^9s, and so on
	fraction []int64 // fraction[0] is the first nine digits behind the dot
	scale    int     // most digits behind the dot of any addend
	added    int64   // since the limbs were carried
	scratch  []byte
}

// Add adds a number and reports whether v is one. The scale of the total is the
// largest of its addends.
func (s *Sum) Add(v wire.Value) bool {
	switch v.Kind() {
	case wire.KindInt:
		s.addInt(v.Int64())
	case wire.KindDecimal:
		addText(s, v.Text())
	case wire.KindFloat:
		// The shortest round-trip digits, without an exponent: the number
		// that crossed the wire.
		s.scratch = AppendText(s.scratch[:0], v)
		addText(s, s.scratch)
	case wire.KindText:
		if !terms.IsDecimal(v.Text()) {
			return false
		}
		addText(s, v.Text())
	default:
		return false
	}
	if s.added++; s.added == carryEvery {
		s.carry()
	}
	return true
}

// Size returns the bytes of the limbs.
func (s *Sum) Size() int { return 8 * (cap(s.whole) + cap(s.fraction)) }

func (s *Sum) addInt(n int64) {
	for i := 0; n != 0; i++ {
		if i == len(s.whole) {
			s.whole = append(s.whole, 0)
		}
		s.whole[i] += n % limbBase
		n /= limbBase
	}
}

// addText adds plain decimal digits (terms.IsDecimal).
func addText[T string | []byte](s *Sum, text T) {
	sign := int64(1)
	switch text[0] {
	case '-':
		sign, text = -1, text[1:]
	case '+':
		text = text[1:]
	}
	dot := len(text)
	for i := range len(text) {
		if text[i] == '.' {
			dot = i
			break
		}
	}
	for i, end := 0, dot; end > 0; i, end = i+1, end-limbDigits {
		if i == len(s.whole) {
			s.whole = append(s.whole, 0)
		}
		s.whole[i] += sign * digits(text[max(0, end-limbDigits):end])
	}
	if dot == len(text) {
		return
	}
	text = text[dot+1:]
	s.scale = max(s.scale, len(text))
	for i := 0; len(text) > 0; i++ {
		if i == len(s.fraction) {
			s.fraction = append(s.fraction, 0)
		}
		n := min(len(text), limbDigits)
		limb := digits(text[:n])
		for range limbDigits - n {
			limb *= 10
		}
		s.fraction[i] += sign * limb
		text = text[n:]
	}
}

// digits returns the number that at most nine digits spell.
func digits[T string | []byte](text T) (n int64) {
	for i := range len(text) {
		n = n*10 + int64(text[i]-'0')
	}
	return n
}

// carry brings every limb within ±(limbBase-1).
func (s *Sum) carry() {
	s.added = 0
	var c int64
	for i := len(s.fraction) - 1; i >= 0; i-- {
		n := s.fraction[i] + c
		s.fraction[i], c = n%limbBase, n/limbBase
	}
	for i := 0; i < len(s.whole) || c != 0; i++ {
		if i == len(s.whole) {
			s.whole = append(s.whole, 0)
		}
		n := s.whole[i] + c
		s.whole[i], c = n%limbBase, n/limbBase
	}
}

// Value returns the total with all digits of its scale, without an exponent and
// without a minus before zero. More can be added afterwards.
func (s *Sum) Value() wire.Value {
	s.carry()
	// All limbs are within the base, so the sign of the highest one that is
	// not zero is the sign of the total.
	limbs := make([]int64, 0, len(s.fraction)+len(s.whole)) // lowest first
	for i := len(s.fraction) - 1; i >= 0; i-- {
		limbs = append(limbs, s.fraction[i])
	}
	limbs = append(limbs, s.whole...)
	high := len(limbs) - 1
	for high >= 0 && limbs[high] == 0 {
		high--
	}
	out := make([]byte, 0, limbDigits*len(limbs)+3)
	if high >= 0 && limbs[high] < 0 {
		out = append(out, '-')
		for i := range limbs {
			limbs[i] = -limbs[i]
		}
	}
	for i := range high { // borrow, so that none is negative
		if limbs[i] < 0 {
			limbs[i] += limbBase
			limbs[i+1]--
		}
	}
	// The borrow may have emptied the highest ones.
	units := len(s.fraction)
	for high = len(limbs) - 1; high > units && limbs[high] == 0; {
		high--
	}
	if high < units {
		out = append(out, '0')
	} else {
		out = strconv.AppendInt(out, limbs[high], 10)
	}
	for i := high - 1; i >= units; i-- {
		out = appendLimb(out, limbs[i])
	}
	if s.scale > 0 {
		out = append(out, '.')
		dot := len(out)
		for i := units - 1; i >= 0; i-- {
			out = appendLimb(out, limbs[i])
		}
		out = out[:dot+s.scale] // the rest of the last limb is padding
	}
	return wire.Decimal(string(out))
}

// appendLimb appends a limb as nine digits.
func appendLimb(dst []byte, n int64) []byte {
	at := len(dst)
	dst = append(dst, "000000000"...)
	for i := at + limbDigits - 1; n > 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}
