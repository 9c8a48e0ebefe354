package filter_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestKeysAreEquality checks that values have equal keys if and only if they compare as
// equal. No key begins another, so the keys of several columns can be written one after
// the other.
func TestKeysAreEquality(t *testing.T) {
	values := append(pool(t), texts("aa", "a\x00", "\x00a", "11", "\x04\x01a", "2024-05-01T00:00:00.0000000001Z")...)
	for _, typ := range allTypes {
		keys := make([][]byte, len(values))
		for i, v := range values {
			keys[i] = filter.AppendKey(nil, v, typ)
			require.NotEmpty(t, keys[i])
			require.Equal(t, append([]byte("before"), keys[i]...), filter.AppendKey([]byte("before"), v, typ))
		}
		for i, a := range values {
			for j, b := range values {
				same := bytes.Equal(keys[i], keys[j])
				var want bool
				if c, ok := filter.Compare(a, b, typ); ok {
					want = c == 0 // [rule aggregate-2]
				} else {
					// All nulls share a key, all invalid values share another,
					// and text that is not a number has its own [rule aggregate-3].
					want = a.IsNull() == b.IsNull() && (a.Kind() == wire.KindInvalid) == (b.Kind() == wire.KindInvalid) &&
						(a.IsNull() || a.Kind() == wire.KindInvalid || a.String() == b.String())
				}
				if want != same {
					require.Equal(t, want, same, "%q: %s %s, %s %s", typ, kindName(a.Kind()), a, kindName(b.Kind()), b)
				}
				if !same && bytes.HasPrefix(keys[i], keys[j]) {
					require.Fail(t, "a key that begins another is not self-delimiting", "%q: %s, %s", typ, a, b)
				}
			}
		}
	}
}
