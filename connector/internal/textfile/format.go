package textfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Format says how a text file is written. Its zero value states nothing: the file is
// UTF-8, and its cells are separated by commas, unless the file itself says otherwise
// beyond doubt. filesource.Format is the same type for authors, and says what each
// member means.
type Format struct {
	Separator    string
	Encoding     string
	DecimalComma bool
	DateFormat   string
	Types        map[string]wire.Type
}

// Checked returns the format with the encoding under its own name, or an error that
// names the member that means nothing.
func (f Format) Checked() (Format, error) {
	if problem := separatorProblem(f.Separator); problem != "" {
		return f, fmt.Errorf("format: Separator %s", problem)
	}
	encoding, problem := encodingOf(f.Encoding)
	if problem != "" {
		return f, fmt.Errorf("format: Encoding %s", problem)
	}
	f.Encoding = encoding
	if problem := dateFormatProblem(f.DateFormat); problem != "" {
		return f, fmt.Errorf("format: DateFormat %s", problem)
	}
	for _, column := range slices.Sorted(maps.Keys(f.Types)) {
		if !terms.IsType(f.Types[column]) {
			return f, fmt.Errorf("format: Types: column %q %s", column, noType)
		}
	}
	return f, nil
}

// Rules returns how the values of the file are read.
func (f Format) Rules() textvalue.Rules {
	rules := textvalue.Files
	rules.DecimalComma, rules.DateFormat = f.DecimalComma, textvalue.DateFormat(f.DateFormat)
	return rules
}

const noType = "must be string, number, decimal, boolean, date, datetime, json, array or reference"

// separatorProblem returns why a text cannot separate cells; empty: it can, or it
// states nothing.
func separatorProblem(text string) string {
	switch r, size := utf8.DecodeRuneInString(text); {
	case text == "":
	case size < len(text):
		return `must be one character, such as ";"`
	case r == utf8.RuneError, strings.ContainsRune("\"\r\n\x00\ufeff", r):
		return "cannot be this character"
	}
	return ""
}

// encodingOf returns this package's name of an encoding, or why it has no such encoding.
func encodingOf(name string) (encoding, problem string) {
	encoding = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if other := otherNames[encoding]; other != "" {
		encoding = other
	}
	if name != "" && !slices.Contains(encodings, encoding) {
		return "", "must be one of " + strings.Join(encodings, ", ")
	}
	return encoding, ""
}

func dateFormatProblem(text string) string {
	if text == "" || textvalue.DateFormat(text).Valid() {
		return ""
	}
	return `must name a day (D or DD), a month (M or MM) and a year (YYYY) once, with something between them, ` +
		`such as "DD.MM.YYYY"; YYYY-DD-MM cannot be told from a date of ISO 8601`
}
