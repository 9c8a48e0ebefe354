package filter_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestKeysAreEquality(t *testing.T) {
	values := pool()
	for _, typ := range allTypes {
		keys := make([][]byte, len(values))
		for i, v := range values {
			keys[i] = filter.AppendKey(nil, v, typ)
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

func TestKeysOfSeveralColumns(t *testing.T) {
	// Keys are self-delimiting: two rows have equal concatenated keys only if
	// they are equal column by column.
	tricky := append(texts("", "a", "aa", "\x00", "a\x00", "\x00a", "1", "11", "1.5", "-", "\x04\x01a", "2024-05-01",
		"2024-05-01T00:00:00.0000000001Z"), wire.Null(), wire.Int(1), wire.Int(11))
	for _, typ := range []wire.Type{"", wire.TypeString, wire.TypeDate} {
		seen := map[string]string{}
		for _, a := range tricky {
			for _, b := range tricky {
				for _, c := range tricky {
					key := filter.AppendKey(filter.AppendKey(filter.AppendKey(nil, a, typ), b, typ), c, typ)
					one := fmt.Sprintf("%x %x %x", filter.AppendKey(nil, a, typ), filter.AppendKey(nil, b, typ), filter.AppendKey(nil, c, typ))
					if other, ok := seen[string(key)]; ok {
						require.Equal(t, other, one, "%q: %s, %s, %s", typ, a, b, c)
					}
					seen[string(key)] = one
				}
			}
		}
	}
}

func TestKeyAppends(t *testing.T) {
	for _, v := range pool() {
		for _, typ := range allTypes {
			key := filter.AppendKey(nil, v, typ)
			assert.NotEmpty(t, key)
			assert.Equal(t, append([]byte("before"), key...), filter.AppendKey([]byte("before"), v, typ))
		}
	}
}
