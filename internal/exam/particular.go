package exam

import (
	"slices"
	"strings"
	"unicode"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A kind of text is one that gets lost, or changes its meaning, on the way to a source or
// where the source compares.
type kind struct {
	name string
	of   func(text string) bool
}

var kinds = []kind{
	{"a control character", withRune(unicode.IsControl)},
	{"a quote", withAny("'")}, {"a double quote", withAny(`"`)}, {"a backslash", withAny(`\`)},
	{"%", withAny("%")}, {"_", withAny("_")}, {"+", withAny("+")}, {"&", withAny("&")}, {"# or ;", withAny("#;")}, {"a comma", withAny(",")},
	{"a character beyond 16 bits", withRune(func(r rune) bool { return r > 0xffff })},
	{"a combining character", withRune(unicode.IsMark)},
	{"ß", withAny("ßẞ")}, {"a Turkish i", withAny("İı")},
	{"another letter beyond ASCII", withRune(func(r rune) bool {
		return r > 127 && unicode.IsLetter(r) && !strings.ContainsRune("ßẞİı", r)
	})},
	{"a blank at the end", func(text string) bool { return strings.TrimRight(text, " ") != text }},
	{"a blank at the begin", func(text string) bool { return strings.TrimLeft(text, " ") != text }},
}

func withAny(set string) func(string) bool {
	return func(text string) bool { return strings.ContainsAny(text, set) }
}

func withRune(is func(rune) bool) func(string) bool {
	return func(text string) bool { return strings.ContainsFunc(text, is) }
}

// peculiarRune reports whether a character makes a text one of the kinds wherever it stands.
func peculiarRune(r rune) bool {
	if r == ' ' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return false
	}
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.of(string(r)) })
}

// particular returns what a filter shows that no misreading describes: that a value of a
// column with few values is found, and all of them together; that a member which repeats
// finds its rows once; that a value which no row has finds nothing; that nulls are neither
// values nor other booleans; and that a text of each kind reaches the source as it is.
func (c *Column) particular(f wire.Filter) (shows []*misreading) {
	add := func(weight float64, as string) { shows = append(shows, &misreading{as: as, weight: weight}) }
	values := f.Values
	if terms.ShapeOf(f.Op) == terms.ShapeValue {
		values = []wire.Value{f.Value}
	}
	few := len(c.cells) > 1 && len(c.cells) <= MaxValues
	found := 0
	for _, v := range values {
		if !v.IsNull() && c.has(v) {
			found++
		}
	}
	switch {
	case terms.ShapeOf(f.Op) == terms.ShapeNullary && c.nulls > 0:
		add(often, "null and not null were not told apart")
	case f.Op == wire.OpNeq && c.Type == wire.TypeBoolean && c.nulls > 0 && found == 1:
		add(often, "null were another boolean")
	case f.Op == wire.OpEq && found == 1 && few:
		// Of a column with few values, each is asked for by itself.
		add(min(3, max(seldom, 12/float64(len(c.cells)))), "no row had the value "+f.Value.String())
	case f.Op == wire.OpIn && found == 1 && len(values) == 1:
		add(sometimes, "a list with one member found nothing")
	case f.Op == wire.OpIn && found > 1 && len(values) > 1 && values[0].String() == values[1].String():
		add(often, "a member that repeats counted twice")
	case f.Op == wire.OpIn && found == len(c.cells) && few:
		add(often, "not every value of the list were found")
	case (f.Op == wire.OpEq || f.Op == wire.OpIn) && found == 0 && len(values) == 1 && !values[0].IsNull() && values[0].String() != "":
		add(often, "a value that no row has were no filter")
	}
	if terms.IsTime(c.Type) || c.Type.Numeric() || c.Type == wire.TypeBoolean {
		return shows
	}
	if len(values) > judgedList || !slices.ContainsFunc(c.cells[:min(len(c.cells), ladderValues)], right(f, c.Type)) {
		return shows
	}
	for _, k := range kinds {
		if slices.ContainsFunc(values, func(v wire.Value) bool { return v.Kind() == wire.KindText && k.of(v.Text()) }) {
			add(sometimes, k.name+" got lost")
		}
	}
	return shows
}

// has reports whether the column has a value, in this spelling.
func (c *Column) has(v wire.Value) bool {
	_, ok := c.known[v.String()]
	return ok
}
