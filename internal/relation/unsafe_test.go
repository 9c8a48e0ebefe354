package relation_test

import "unsafe"

// unsafeString shares its bytes, as the text of a producer that reuses its
// buffer may.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
