package filter_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pool returns values of every kind, with the spellings that comparisons
// typically get wrong.
func pool(t testing.TB) (values []wire.Value) {
	t.Helper()
	for _, c := range testkit.Table(t, "testdata/pool.tsv", 2) {
		values = append(values, cells.Row(t, c[0])...)
	}
	return append(values, texts(strings.Repeat("9", 400), "-"+strings.Repeat("9", 400), "0."+strings.Repeat("0", 400)+"1",
		"1."+strings.Repeat("0", 400))...)
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
