package filter

import (
	"encoding/binary"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The first byte of a key.
const (
	keyNull byte = iota
	keyInvalid
	keyNumber
	keyInstant
	keyText
)

// AppendKey appends a key of v to dst: two values of a column of type t have
// equal keys exactly when they are equal under A6 to A9, so that 1.5 and
// "1.50" are one group and one distinct value (E2). Null has a key of its own
// (E3). Values that are incomparable, such as "n/a" in a column of numbers,
// are equal to no value for a filter; their keys tell them apart by their
// text. A value that cannot cross the wire has one key whatever it holds.
//
// Keys are self-delimiting: the keys of several columns may stand behind each
// other. Their bytes are in no useful order, and are no format to store: they
// may change between versions. Beyond the growth of dst nothing is allocated.
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
