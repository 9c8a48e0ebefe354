package filter

import (
	"encoding/binary"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The first byte of a key is one of these.
const (
	keyNull byte = iota
	keyInvalid
	keyNumber
	keyInstant
	keyText
)

// AppendKey appends a grouping key of v to dst. Two values of a column of type
// t have equal keys if and only if a filter calls them equal, so 1.5 and "1.50"
// are one group and one distinct value [rule aggregate-2]. Three kinds of
// values equal nothing for a filter but do have keys: all nulls share one key,
// all values that cannot cross the wire share another, and a value that
// cannot be compared, such as "n/a" in a column of numbers, is keyed by its text.
//
// Keys are self-delimiting, so the keys of several columns can be concatenated.
// Their bytes are in no useful order, and they may change between versions: do
// not store them. AppendKey allocates only to grow dst.
func AppendKey(dst []byte, v wire.Value, t wire.Type) []byte {
	switch v.Kind() {
	case wire.KindNull:
		return append(dst, keyNull)
	case wire.KindInvalid:
		return append(dst, keyInvalid)
	}
	switch familyOf(t) {
	case numeric, undeclared:
		if v.Kind() == wire.KindInt {
			dst = append(dst, keyNumber)
			if i := v.Int64(); i != 0 { // zero has no digits
				dst = strconv.AppendInt(dst, i, 10)
			}
			return append(dst, 0)
		}
		var buf textBuffer
		if d, ok := parseDigits(wireText(v, &buf)); ok {
			return append(d.append(append(dst, keyNumber)), 0)
		}
	case temporal:
		if at, ok := instantOf(v); ok {
			dst = append(dst, keyInstant)
			dst = binary.BigEndian.AppendUint64(dst, uint64(at.sec))
			dst = binary.BigEndian.AppendUint32(dst, uint32(at.nano))
			return append(append(dst, at.rest...), 0)
		}
	}
	dst = append(dst, keyText)
	if isText(v.Kind()) {
		s := v.Text()
		return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	}
	var buf textBuffer
	s := wireText(v, &buf)
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
