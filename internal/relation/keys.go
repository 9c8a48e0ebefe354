package relation

import (
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// IsNumber reports whether v is a number, or text that filters compare as one
// [rule filter-6a].
func IsNumber(v wire.Value) bool {
	switch v.Kind() {
	case wire.KindInt, wire.KindFloat, wire.KindDecimal:
		return true
	case wire.KindText:
		return terms.IsDecimal(v.Text())
	}
	return false
}

// AppendJoinKey appends a key that is equal for values that are equal in a join
// or a link [rule measure-2b]. numeric says that both columns are declared
// numeric. AppendJoinKey reports false for a value that matches nothing: null,
// or no number where numbers are compared.
func AppendJoinKey(dst []byte, v wire.Value, numeric bool) ([]byte, bool) {
	switch {
	case v.IsNull():
		return dst, false
	case !numeric:
		return filter.AppendKey(dst, v, wire.TypeString), true
	case !IsNumber(v):
		return dst, false
	}
	return filter.AppendKey(dst, v, wire.TypeDecimal), true
}
