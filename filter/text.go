package filter

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// textBuffer has room for the wire text of every cell that is not text or
// decimal. The longest is a float: a sign, "0.", 323 zeros and 17 digits.
type textBuffer [352]byte

func isText(k wire.Kind) bool { return k == wire.KindText || k == wire.KindDecimal }

// wireText returns the text of a cell on the wire, without quotes. The result
// may refer to buf and is valid until buf is used again.
func wireText(v wire.Value, buf *textBuffer) string {
	switch v.Kind() {
	case wire.KindNull, wire.KindInvalid:
		return ""
	case wire.KindText, wire.KindDecimal:
		return v.Text()
	case wire.KindBool:
		if v.IsTrue() {
			return "true"
		}
		return "false"
	}
	b, _ := v.AppendJSON(buf[:0])
	if len(b) > 0 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// ownText returns the text of a cell on the wire as a new string.
func ownText(v wire.Value) string {
	var buf textBuffer
	return strings.Clone(wireText(v, &buf))
}

// compareTexts compares the texts of two cells as UTF-8 bytes.
func compareTexts(a, b wire.Value) int {
	if isText(a.Kind()) && isText(b.Kind()) {
		return compareBytes(a.Text(), b.Text())
	}
	return compareSpelled(a, b)
}

//go:noinline
func compareSpelled(a, b wire.Value) int {
	var abuf, bbuf textBuffer
	return compareBytes(wireText(a, &abuf), wireText(b, &bbuf))
}

// compareTextTo compares a cell that is not text or decimal with a text.
//
//go:noinline
func compareTextTo(v wire.Value, text string) int {
	var buf textBuffer
	return compareBytes(wireText(v, &buf), text)
}

// testText returns a test that compares the text of a cell with text.
func testText(text string, a accept) func(wire.Value) bool {
	ifTrue, ifFalse := a.has(compareBytes("true", text)), a.has(compareBytes("false", text))
	others := func(v wire.Value) bool {
		switch v.Kind() {
		case wire.KindBool:
			return v.IsTrue() && ifTrue || !v.IsTrue() && ifFalse
		case wire.KindInvalid:
			return false
		}
		return a.has(compareTextTo(v, text))
	}
	if a == acceptOf(wire.OpEq) {
		return func(v wire.Value) bool {
			if isText(v.Kind()) {
				return v.Text() == text
			}
			return others(v)
		}
	}
	if a == acceptOf(wire.OpNeq) {
		return func(v wire.Value) bool {
			if isText(v.Kind()) {
				return v.Text() != text
			}
			return others(v)
		}
	}
	return func(v wire.Value) bool {
		if isText(v.Kind()) {
			return a.has(compareBytes(v.Text(), text))
		}
		return others(v)
	}
}

// testIncludes returns a test for a case-sensitive substring.
func testIncludes(part string) func(wire.Value) bool {
	return func(v wire.Value) bool {
		if isText(v.Kind()) {
			return strings.Contains(v.Text(), part)
		}
		return v.Kind() != wire.KindInvalid && spelledIncludes(v, part)
	}
}

//go:noinline
func spelledIncludes(v wire.Value, part string) bool {
	var buf textBuffer
	return strings.Contains(wireText(v, &buf), part)
}

// testPrefix returns a test for a case-sensitive prefix.
func testPrefix(prefix string) func(wire.Value) bool {
	return func(v wire.Value) bool {
		if isText(v.Kind()) {
			return strings.HasPrefix(v.Text(), prefix)
		}
		return v.Kind() != wire.KindInvalid && spelledHasPrefix(v, prefix)
	}
}

//go:noinline
func spelledHasPrefix(v wire.Value, prefix string) bool {
	var buf textBuffer
	return strings.HasPrefix(wireText(v, &buf), prefix)
}

// compareBytes compares two texts by their bytes. Unlike strings.Compare, it
// lets the compiler see that it retains neither text, so that buffers stay on
// the stack.
func compareBytes(a, b string) int {
	return bytes.Compare(unsafe.Slice(unsafe.StringData(a), len(a)), unsafe.Slice(unsafe.StringData(b), len(b)))
}
