package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestToken(t *testing.T) {
	one, two := strings.Repeat("a", 32), strings.Repeat("b", 40)
	for _, c := range []struct {
		why                    string
		secrets, matches, none []string
	}{
		{"one secret", []string{one}, []string{one},
			[]string{"", two, one[:31], one + "a", strings.ToUpper(one), " " + one, one + "\n"}},
		{"the old secret stays good while the host rotates (http-3)", []string{two, one}, []string{one, two}, []string{two + one}},
		{"one variable holds both during a rotation", []string{one + "," + two}, []string{one, two}, []string{one + "," + two}},
		{"the first and the last visible character", []string{"!~" + one}, []string{"!~" + one}, nil},
		{"the same one twice", []string{one, one}, []string{one}, nil},
	} {
		token := testkit.Must(wire.NewToken(c.secrets...))(t, c.why)
		assert.False(t, token.IsZero(), c.why)
		for _, secret := range c.matches {
			assert.True(t, token.Matches(secret), "%s: %q", c.why, secret)
		}
		for _, secret := range c.none {
			assert.False(t, token.Matches(secret), "%s: %q", c.why, secret)
		}
	}
	var zero wire.Token
	assert.True(t, zero.IsZero())
	assert.False(t, zero.Matches(""), "a token that was never made matches nothing")
	assert.False(t, zero.Matches(one))
}

func TestBearer(t *testing.T) {
	assert.Equal(t, canaryToken, wire.NewBearer(canaryToken).Reveal())
	assert.Empty(t, wire.NewBearer("").Reveal())
	assert.Empty(t, wire.Bearer{}.Reveal(), "one that was never made has nothing to send")
}

func TestNewTokenRefuses(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/tokens.tsv", 3) {
		t.Run(c[2], func(t *testing.T) {
			var secrets []string
			for _, v := range cells.Row(t, strings.ReplaceAll(strings.TrimPrefix(c[0], "-"), "${good}", strings.Repeat("a", 32))) {
				secrets = append(secrets, v.Text())
			}
			token, err := wire.NewToken(secrets...)
			require.ErrorContains(t, err, c[1])
			assert.NotContains(t, err.Error(), "canary", "the error is logged")
			assert.True(t, token.IsZero())
		})
	}
}
