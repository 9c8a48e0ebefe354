package filter_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pool returns values of every kind, with the spellings that comparisons
// typically get wrong.
func pool() []wire.Value {
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	values := []wire.Value{
		wire.Null(), wire.Bool(true), wire.Bool(false),
		wire.Int(0), wire.Int(1), wire.Int(-1), wire.Int(5), wire.Int(10), wire.Int(9), wire.Int(20240501),
		wire.Int(1 << 53), wire.Int(1<<53 + 1), wire.Int(-1<<53 - 1), wire.Int(math.MaxInt64),
		wire.Int(math.MinInt64), wire.Int(math.MaxInt64 - 1),
		wire.Float(0), wire.Float(math.Copysign(0, -1)), wire.Float(1), wire.Float(1.5), wire.Float(-1.5), wire.Float(0.1), wire.Float(0.1 + 0.2),
		wire.Float(1e-7), wire.Float(1e21), wire.Float(1 << 53), wire.Float(1 << 63), wire.Float(-1 << 63),
		wire.Float(math.MaxFloat64), wire.Float(math.SmallestNonzeroFloat64), wire.Float(9007199254740994),
		wire.Uint(math.MaxUint64),
		wire.Date(at), wire.Datetime(at), wire.DatetimeWidth(at, 3), wire.Datetime(at.Add(time.Nanosecond)),
		wire.Datetime(at.Add(-time.Millisecond)),
		wire.Date(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)),
		wire.Datetime(time.Date(1969, 12, 31, 23, 59, 59, 500_000_000, time.UTC)),
		wire.Datetime(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)),
		wire.Datetime(time.Date(2016, 12, 31, 23, 59, 59, 999_999_999, time.UTC)), wire.Datetime(time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)),
		wire.Float(math.NaN()), wire.Decimal("none"),
		wire.Decimal("1.5"), wire.Decimal("+01.50"), wire.Decimal("-0.00"),
		wire.JSON(`{"a": [1, null]}`), wire.Array(wire.Text("red"), wire.Int(5), wire.Decimal("1.50"), wire.Null(),
			wire.Bool(true)), wire.Text(" [ 1e0 , \"\\u0061\" ] "), wire.Text(`["red"`),
		wire.Text(`[[1],{"a":"red"},1e999]`), wire.Text("[]"), wire.Text(`[""]`),
		wire.Text("\xff"), wire.Text("a\xff"), wire.Text("[\"\xff\"]"),
	}
	for _, s := range []string{
		"", " ", "a", "A", "ab", "é", "e\u0301", "😀", "～", "\x00", "red", "true", "false", "null", "NaN", "Infinity",
		"0", "-0", "+0", "00", "0.0", "1", "01", "1.0", "1.5", "1.50", "01.5", "+1.5", "-1.5", "5", " 5", "5 ", ".5",
		"0.5", "5.", "1e3", "1000", "1E3", "0x10", "10", "9", "--1", "+", "-", ".", "1.2.3", "1,5", "٣",
		"0.1", "0.1000000000000000055511151231257827", "0.30000000000000004", "0.0000001", "1000000000000000000000",
		"9007199254740992", "9007199254740993", "9007199254740992.5", "9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809", "-9223372036854775808.5", "9223372036854776000",
		"18446744073709551615", "99999999999999999999",
		strings.Repeat("9", 400), "-" + strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1", "1." + strings.Repeat("0", 400),
		"2024-05-01", "2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00", "2024-05-01T12:00:00.000Z",
		"2024-05-01T12:00:00.0000000001Z", "2024-05-01T12:00", "2024-05-01t12:00:00z", "2024-05-01 12:00:00Z",
		"2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z", "2017-01-01T08:59:60+09:00", "2016-12-31T24:00:00Z",
		"2023-02-29", "2024-02-29", "2024-13-01", "20240501", "2024", "2024-05", "soon", "0000-01-01",
		"9999-12-31T23:59:59-23:59", "1969-12-31T23:59:59.5Z",
	} {
		values = append(values, wire.Text(s))
	}
	return values
}

// plainDecimal returns random plain decimal text with redundant zeros and
// signs, mostly short, sometimes very long.
func plainDecimal(rng *rand.Rand) string {
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(rng.IntN(10))
			if rng.IntN(3) == 0 {
				b[i] = '0' // zeros are where it goes wrong
			}
		}
		return string(b)
	}
	length := func() int {
		if rng.IntN(20) == 0 {
			return 1 + rng.IntN(60)
		}
		return 1 + rng.IntN(4)
	}
	s := []string{"", "", "-", "+"}[rng.IntN(4)] + digits(length())
	if rng.IntN(2) == 0 {
		s += "." + digits(length())
	}
	return s
}
