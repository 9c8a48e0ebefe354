package relation

import (
	"bytes"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// KeepRow copies a row. All text goes into one string, so that the copy is two
// allocations and no cell keeps the producer's buffer alive.
func KeepRow(row []wire.Value) []wire.Value {
	kept := make([]wire.Value, len(row))
	keepIn(kept, row)
	return kept
}

// keepIn copies a row like KeepRow, into another one.
func keepIn(kept, row []wire.Value) {
	size := 0
	for i := range row {
		size += len(row[i].Text())
	}
	var text strings.Builder
	text.Grow(size)
	for i := range row {
		text.WriteString(row[i].Text())
	}
	all, at := text.String(), 0
	for i, v := range row {
		if n := len(v.Text()); n > 0 {
			v = withText(v, all[at:at+n])
			at += n
		}
		kept[i] = v
	}
}

// AppendText appends the text that a cell has on the wire.
func AppendText(dst []byte, v wire.Value) []byte {
	if text := v.Text(); text != "" {
		return append(dst, text...)
	}
	start := len(dst)
	dst, _ = v.AppendJSON(dst)
	return append(dst[:start], bytes.Trim(dst[start:], `"`)...)
}

// withText returns a text or a decimal with another copy of its text.
func withText(v wire.Value, same string) wire.Value {
	if v.Kind() == wire.KindDecimal {
		return wire.Decimal(same)
	}
	return wire.Text(same)
}

// The estimated bytes of what is kept. The heap was measured to hold 0.7 to 1.1
// times the estimate.
const (
	cellBytes = 32 // the size of a wire.Value
	rowBytes  = 24 // the slice header of a row
	keyBytes  = 64 // a string and its share of a map
)

// RowSize returns the bytes that a kept row counts in a budget.
func RowSize(row []wire.Value) int {
	n := rowBytes + cellBytes*len(row)
	for i := range row {
		n += len(row[i].Text())
	}
	return n
}

// KeySize returns the bytes that a kept key counts in a budget.
func KeySize(key []byte) int { return keyBytes + len(key) }
