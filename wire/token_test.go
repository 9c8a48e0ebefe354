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
	token, err := wire.NewToken(one)
	require.NoError(t, err)
	assert.False(t, token.IsZero())
	assert.True(t, token.Matches(one))
	for _, wrong := range []string{"", two, one[:31], one + "a", strings.ToUpper(one), " " + one, one + "\n"} {
		assert.False(t, token.Matches(wrong), "%q", wrong)
	}

	rotating, err := wire.NewToken(two, one)
	require.NoError(t, err)
	assert.True(t, rotating.Matches(one), "the old secret stays good while the host rotates (http-3)")
	assert.True(t, rotating.Matches(two))
	assert.False(t, rotating.Matches(two+one))

	variable, err := wire.NewToken(one + "," + two)
	require.NoError(t, err)
	assert.True(t, variable.Matches(one), "one variable holds both secrets during a rotation")
	assert.True(t, variable.Matches(two))
	assert.False(t, variable.Matches(one+","+two))

	_, err = wire.NewToken("!~" + one)
	require.NoError(t, err, "the first and the last visible character")

	same, err := wire.NewToken(one, one)
	require.NoError(t, err)
	assert.True(t, same.Matches(one))

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
