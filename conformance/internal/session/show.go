package session

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ShowRow returns a row as a short JSON object.
func ShowRow(columns []wire.Column, row []wire.Value) string {
	var b []byte
	for i, c := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, terms.QuoteName(c.Name)...), ':')
		cell := row[i]
		if text := cell.Text(); len(text) > 60 {
			runes := []rune(text[:min(len(text), 240)])
			cell = wire.Text(string(runes[:min(len(runes), 60)]) + "...")
		}
		if b2, err := cell.AppendJSON(b); err == nil {
			b = b2
		}
	}
	return "{" + message.Excerpt(b, 300) + "}"
}

// QuoteNames returns names for a sentence.
func QuoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = terms.QuoteName(name)
	}
	return strings.Join(quoted, ", ")
}

// Mentioned returns the first of the names that a text holds as whole words, of letters, digits
// and some other characters. A single ordinary word may occur by chance: it returns "" then.
func Mentioned(text, others string, names []string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !strings.ContainsRune(others, r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	told := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(words, name) })
	if len(told) == 0 || len(told) == 1 && strings.Trim(told[0], "abcdefghijklmnopqrstuvwxyz") == "" {
		return ""
	}
	return QuoteNames(told[:min(len(told), 5)])
}

// Some returns the first names of a list for a sentence, and how many more there are.
func Some(names []string, most int) string {
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Plural returns a number with its noun.
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}
