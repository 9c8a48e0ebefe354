// Package phrase makes the parts of sentences that findings and reports share: numbers with their nouns, and lists
// of names that stay short.
package phrase

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// Quote returns names for a sentence.
func Quote(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = terms.QuoteName(name)
	}
	return strings.Join(quoted, ", ")
}

// Mentioned returns the first of the names that a text holds as whole words, as [Words] has
// them. A single ordinary word may occur by chance: it returns "" then.
func Mentioned(text, others string, names []string) string {
	words := Words(text, others)
	told := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(words, name) })
	if len(told) == 0 || len(told) == 1 && strings.Trim(told[0], "abcdefghijklmnopqrstuvwxyz") == "" {
		return ""
	}
	return Quote(told[:min(len(told), 5)])
}

// Words returns the words of a text, of letters, digits and some other characters.
func Words(text, others string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !strings.ContainsRune(others, r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
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
	return Thousands(n) + " " + one + "s"
}

// Thousands writes a number in groups of three digits, with commas between them.
func Thousands(n int) string { return Grouped(n, ",") }

// Grouped writes a whole number of any type in groups of three digits.
func Grouped(n any, between string) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + between + text[i:]
	}
	return text
}

// Ordinal returns how texts name a tenant: first or second.
func Ordinal(tenant int) string { return []string{"first", "second"}[tenant] }
