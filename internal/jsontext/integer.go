package jsontext

// ExactInteger returns the value of a JSON number, and whether it is an integer
// of at most 18 digits. It decides by the exact value, in one pass over the
// text: an exponent is never expanded.
func ExactInteger(raw string) (n int64, ok bool) {
	i, negative := 0, false
	if i < len(raw) && raw[i] == '-' {
		negative = true
		i++
	}
	// The value is coefficient x 10^scale, without the coefficient's zeros on the
	// right: pending counts zeros that belong to it if another digit follows.
	var coefficient, digits, pending, scale int64
	fraction := false
	for ; i < len(raw); i++ {
		c := raw[i]
		if c == '.' {
			fraction = true
			continue
		}
		if c-'0' > 9 {
			break
		}
		if fraction {
			scale--
		}
		if c == '0' {
			if digits > 0 {
				pending++
			}
			continue
		}
		digits += pending + 1
		if digits <= maxDigits {
			for ; pending > 0; pending-- {
				coefficient *= 10
			}
			coefficient = coefficient*10 + int64(c-'0')
		}
		pending = 0
	}
	if digits == 0 {
		return 0, true
	}
	if digits > maxDigits {
		return 0, false
	}
	// Zeros on the right, before or after the dot, raise the scale again.
	scale += pending + exponentOf(raw[i:])
	if scale < 0 || digits+scale > maxDigits {
		return 0, false
	}
	for ; scale > 0; scale-- {
		coefficient *= 10
	}
	if negative {
		coefficient = -coefficient
	}
	return coefficient, true
}

const maxDigits = 18

// exponentOf returns the exponent in e+12, 0 for an empty text. It stops counting
// far beyond any text's length, where the result no longer changes.
func exponentOf(raw string) int64 {
	if raw == "" {
		return 0
	}
	raw = raw[1:]
	negative := false
	if raw[0] == '-' || raw[0] == '+' {
		negative = raw[0] == '-'
		raw = raw[1:]
	}
	var n int64
	for _, c := range []byte(raw) {
		if n = n*10 + int64(c-'0'); n > 1<<48 {
			n = 1 << 48
		}
	}
	if negative {
		return -n
	}
	return n
}
