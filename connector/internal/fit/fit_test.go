package fit

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestProblem names the types that each cell fits.
func TestProblem(t *testing.T) {
	types := []wire.Type{wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean, wire.TypeDate, wire.TypeDatetime, wire.TypeJSON, wire.TypeArray}
	at := time.Date(2024, 2, 29, 22, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		cell wire.Value
		fits []wire.Type
	}{
		{wire.Null(), types},
		{wire.Invalid("said elsewhere"), types},
		{wire.Int(1), []wire.Type{wire.TypeNumber, wire.TypeDecimal}},
		{wire.Float(1.5), []wire.Type{wire.TypeNumber, wire.TypeDecimal}},
		{wire.Decimal("1.50"), []wire.Type{wire.TypeNumber, wire.TypeDecimal}},
		{wire.Text("-1.50"), []wire.Type{wire.TypeNumber, wire.TypeDecimal, wire.TypeJSON}},
		{wire.Text("1.5e"), nil},
		{wire.Bool(true), []wire.Type{wire.TypeBoolean}},
		{wire.Text("true"), []wire.Type{wire.TypeBoolean, wire.TypeJSON}},
		{wire.Text("false"), []wire.Type{wire.TypeBoolean, wire.TypeJSON}},
		{wire.Text("yes"), nil},
		{wire.Date(at), []wire.Type{wire.TypeDate}},
		{wire.Text("2024-02-29"), []wire.Type{wire.TypeDate}},
		{wire.Text("2024-02-30"), nil},
		{wire.Datetime(at), []wire.Type{wire.TypeDatetime}},
		{wire.Text("2024-02-29T22:30:00Z"), []wire.Type{wire.TypeDatetime}},
		{wire.Text("2024-02-29T22:30:00"), nil},
		{wire.Text(`{"a":1}`), []wire.Type{wire.TypeJSON}},
		{wire.Text(" \t[1]"), []wire.Type{wire.TypeJSON, wire.TypeArray}},
		{wire.Text("[1"), nil},
	} {
		var fits []wire.Type
		for _, typ := range types {
			if Problem(c.cell, typ) == "" {
				fits = append(fits, typ)
			}
		}
		assert.Equal(t, c.fits, fits, "%s", c.cell)
		assert.Empty(t, Problem(c.cell, wire.TypeString), "any cell fits a column of text")
	}
}

// TestInstant changes, removes and repeats each byte of some instants, and compares with a regular expression.
func TestInstant(t *testing.T) {
	form := regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$`)
	judge := func(text string) { require.Equal(t, form.MatchString(text), Instant(text), "%q", text) }
	judge("")
	for _, text := range []string{"2024-02-29T22:30:00Z", "0918-27-36T45:09:81.5Z", "9999-99-99T99:99:99.123456789Z", "2024-02-29T22:30:00"} {
		judge(text)
		for i := range text {
			judge(text[:i])
			judge(text[:i] + text[i+1:])
			judge(text[:i+1] + text[i:])
			for b := range 256 {
				changed := []byte(text)
				changed[i] = byte(b)
				judge(string(changed))
				if i > 0 { // a carry of the byte before must not hide it
					changed[i-1] = 0xff
					judge(string(changed))
				}
			}
		}
	}
}
