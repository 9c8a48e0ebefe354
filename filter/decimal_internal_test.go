package filter

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

// Comparing words finds what comparing bytes does, and refuses no more texts.
func TestCompareAlignedToAgreesByteByByte(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	decided, refused := 0, 0
	for range testrun.Rounds(500_000) {
		number, s := make([]byte, 1+random.IntN(20)), make([]byte, 0, 20)
		for i := range number {
			number[i] = "0123456789"[random.IntN(10)]
		}
		if dot := random.IntN(len(number)); dot > 0 && dot < len(number)-1 {
			number[dot] = '.'
		}
		s = append(s, number...)
		for range random.IntN(4) {
			s[random.IntN(len(s))] = "0123456789019./:,-+\x00\x2f\x3a\x80\xb0\xb9\xff"[random.IntN(26)]
		}
		want, ok := 0, true
		for i := range s {
			x, y := s[i], number[i]
			if x != y && (x < '0' || x > '9' || y < '0' || y > '9') {
				want, ok = 0, false
				break
			}
			if want == 0 && x != y {
				want = int(x) - int(y)
			}
		}
		got, gotOK := compareAlignedTo(string(s), string(number))
		require.Equal(t, ok, gotOK, "%q and %q", s, number)
		require.Equal(t, want < 0, got < 0, "%q and %q", s, number)
		require.Equal(t, want > 0, got > 0, "%q and %q", s, number)
		if ok && want != 0 {
			decided++
		}
		if !ok {
			refused++
		}
	}
	require.Greater(t, decided, 1000)
	require.Greater(t, refused, 1000)
}
