package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	good := strings.Repeat("a", 32)
	for _, c := range []struct {
		why     string
		secrets []string
		says    string
	}{
		{"no secret", nil, "one secret, or two"},
		{"three secrets", []string{good, good, good}, "one secret, or two"},
		{"an empty secret, as from an unset variable", []string{""}, "at least 32 characters"},
		{"31 characters (http-3)", []string{"canary" + good[:25]}, "at least 32 characters"},
		{"31 characters in 62 bytes", []string{strings.Repeat("é", 31)}, "at least 32 characters"},
		{"a short second secret", []string{good, "canary"}, "at least 32 characters"},
		{"nothing behind the comma", []string{good + ","}, "at least 32 characters"},
		{"three secrets in one text", []string{good + "," + good + "," + good}, "one secret, or two"},
		{"a line break at the end, as from a file", []string{good + "canary\n"}, "visible ASCII"},
		{"a blank inside", []string{good + " canary"}, "visible ASCII"},
		{"text beyond ASCII", []string{good + "canaryé"}, "visible ASCII"},
		{"a DEL", []string{good + "canary\x7f"}, "visible ASCII"},
	} {
		t.Run(c.why, func(t *testing.T) {
			token, err := wire.NewToken(c.secrets...)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.says)
			assert.NotContains(t, err.Error(), "canary", "the error is logged")
			assert.True(t, token.IsZero())
		})
	}
}
