package fit_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/fit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestProblem names the types that each cell fits.
func TestProblem(t *testing.T) {
	types := []wire.Type{wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean, wire.TypeDate, wire.TypeDatetime, wire.TypeJSON, wire.TypeArray}
	for _, c := range testkit.Table(t, "testdata/problems.tsv", 2) {
		cell, fits := cells.One(t, c[0]), []string{}
		for _, typ := range types {
			if fit.Problem(cell, typ) == "" {
				fits = append(fits, string(typ))
			}
		}
		assert.Equal(t, strings.TrimPrefix(c[1], "-"), strings.Join(fits, " "), c[0])
		assert.Empty(t, fit.Problem(cell, wire.TypeString), "any cell fits a column of text")
	}
}

// TestInstant changes, removes and repeats each byte of some instants, and compares with a regular expression and the
// calendar of package time, which knows no leap seconds.
func TestInstant(t *testing.T) {
	form := regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$`)
	judge := func(text string) {
		_, err := time.Parse(time.RFC3339, strings.Replace(text, "T23:59:60", "T23:59:59", 1))
		require.Equal(t, form.MatchString(text) && err == nil, fit.Instant(text), "%q", text)
	}
	judge("")
	for _, text := range []string{
		"2024-02-29T22:30:00Z", "2023-12-31T23:59:59.5Z", "9999-11-30T09:09:09.123456789Z", "2024-02-29T22:30:00", "1900-02-28T00:00:00Z",
		"2000-02-28T23:59:60Z", "0000-01-01T00:00:00Z", "2024-04-30T12:59:60Z",
	} {
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
	for day := range 100 {
		for month := range 100 {
			judge(fmt.Sprintf("2024-%02d-%02dT00:00:00Z", month, day))
		}
	}
}
