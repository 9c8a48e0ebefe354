package lines

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSizes checks what is reckoned before anything is written: the length of a string
// with its escapes, and which rows fit an empty batch.
func TestSizes(t *testing.T) {
	for b := range 0x80 {
		for _, text := range []string{"", string(rune(b)), string(rune(b)) + "xü", "xü" + string(rune(b))} {
			want, err := jsontext.AppendString(nil, text)
			require.NoError(t, err)
			assert.Equal(t, len(want), escapedLen(text), "%q", text)
		}
	}
	most := wire.MaxLineBytes - len(opening) - len(closing)
	assert.Equal(t, ErrFull, overflow(most))
	assert.Equal(t, ErrRowTooLarge, overflow(most+1))

	layout, err := NewLayout(nil, nil)
	require.NoError(t, err)
	b := layout.NewBatch()
	b.Grow(100_000)
	assert.InDelta(t, 100_000, b.Cap(), 10_000)
}
