package faulttest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// filesFaults are those of an author who parses files and indexes them.
var filesFaults = []fault{
	{name: "keys of the index are trimmed", kind: "spelling", at: of(Words), habit: indexed(trimmed)},
	{name: "keys of the index are lower-cased", kind: "spelling", at: of(Label, Words), habit: bothAs(lower)},
	{
		name: "the index lacks the newest rows", kind: "stale cache", at: table,
		make: func(at Site) habit { return habit{indexes: func(row int) bool { return row < at.Rows-4 }} },
	},
	{
		name: "the index keeps the last row of a key", kind: "filters", at: of(Label, Link, Loose, Tally, Day, Flag),
		habit: found(wire.OpEq, func(rows []int) []int { return rows[max(len(rows)-1, 0):] }),
	},
	{
		name: "numbers are indexed with their comma", kind: "numbers", at: of(Money, Ratio),
		habit: indexed(spelling(func(s string) string { return strings.Replace(s, ".", ",", 1) })),
	},
	{
		name: "a search for gt finds the bound", kind: "off by one", at: of(Tally, Money, Day, Moment, Key),
		habit: habit{filter: as(wire.OpGt, wire.OpGte)},
	},
	{
		name: "a search for lt misses the last below the bound", kind: "off by one", at: of(Tally, Money, Day, Moment, Key),
		habit: found(wire.OpLt, func(rows []int) []int { return rows[:max(len(rows)-1, 0)] }),
	},
	{
		name: "the last line of the file is lost", kind: "off by one", at: table,
		make: func(at Site) habit { return habit{line: func(number int) bool { return number < at.Rows-1 }} },
	},
	{
		name: "the first line is taken for a header", kind: "off by one", at: table,
		habit: habit{line: func(number int) bool { return number > 0 }},
	},
	{name: "text is decoded as Latin-1 but not in the index", kind: "encoding", at: of(Words), habit: habit{text: mojibake}},
	{name: "trailing blanks are cut but not in the index", kind: "encoding", at: of(Words), habit: habit{text: untrailed}},
	{
		name: "line breaks become blanks but not in the index", kind: "encoding", at: of(Words),
		habit: habit{text: strings.NewReplacer(`\r`, "", "\n", " ").Replace},
	},
	{
		name: "day and month are mixed up in the index", kind: "time zones", at: of(Day),
		habit: indexed(func(v wire.Value) wire.Value {
			d := v.Time()
			if d.Day() > 12 {
				return v
			}
			return wire.Date(time.Date(d.Year(), time.Month(d.Day()), int(d.Month()), 0, 0, 0, 0, time.UTC))
		}),
	},
	{name: "instants are indexed in local time", kind: "time zones", at: of(Moment), habit: indexed(shifted(time.Hour))},
	{name: "instants are indexed without milliseconds", kind: "time zones", at: of(Moment), habit: indexed(cutTo(time.Second))},
	{
		name: "instants are read without milliseconds", kind: "time zones", at: of(Moment),
		habit: habit{text: func(s string) string { return s[:len(s)-3] + "000" }},
	},
	{
		name: "an empty text is indexed as null", kind: "null handling", at: of(Words),
		habit: indexed(func(v wire.Value) wire.Value {
			if v.String() == "" {
				return wire.Null()
			}
			return v
		}),
	},
	{
		name: "a null is indexed as an empty text", kind: "null handling", at: nulls(Words, Label),
		habit: habit{match: null(wire.Text(""))},
	},
	{
		name: "rows without a value come first when descending", kind: "null handling", at: gaps,
		make: func(at Site) habit {
			return descending(func(rows []int) []int {
				return slices.Concat(rows[len(rows)-at.Missing:], rows[:len(rows)-at.Missing])
			})
		},
	},
	{
		name: "of a list the first value is looked up", kind: "filters", at: of(Code, Label, Tally, Key, Day),
		habit: habit{filter: members(1)},
	},
	{name: "large integers are indexed as floats", kind: "rounding", at: of(Big), habit: bothAs(rounded(0))},
	{name: "decimals are indexed with one digit", kind: "rounding", at: of(Money, Ratio), habit: indexed(rounded(1))},
	{name: "the sign is lost in the index", kind: "numbers", at: of(Money, Tally), habit: indexed(unsigned)},
	{
		name: "keys are cut after 8 letters", kind: "thresholds", at: of(Words),
		habit: bothAs(spelling(func(s string) string { return first(s, 8) })),
	},
	{
		name: "keys are cut after 255 letters", kind: "thresholds", at: of(Words),
		habit: indexed(spelling(func(s string) string { return first(s, 255) })),
	},
	{
		name: "no more than 100 lines are found", kind: "thresholds", at: of(Flag, Label),
		habit: habit{found: func(_ wire.Filter, rows []int) []int { return short(rows, 100) }},
	},
	{
		name: "the header is counted as a row", kind: "measures", at: table,
		habit: habit{count: func(filtered bool, rows int64) int64 { return rows + int64(btoi(!filtered)) }},
	},
	{
		name: "null is one of the distinct values", kind: "measures", at: nulls(),
		habit: habit{distinct: func(c wire.Cardinality) wire.Cardinality { c.Distinct++; return c }},
	},
	{
		name: "the yes of another language is no", kind: "cells", at: of(Flag),
		habit: habit{text: func(s string) string { return strings.Replace(s, "ja", "yes", 1) }},
	},
	{
		name: "a window is applied twice", kind: "pagination", at: table,
		habit: habit{window: func(_ bool, offset, limit int64) (int64, int64) { return 2 * offset, limit }},
	},
}

// moreFilesFaults are further ones.
var moreFilesFaults = []fault{
	{
		name: "a text ends at its first semicolon", kind: "encoding", at: of(Words),
		habit: habit{text: func(s string) string { before, _, _ := strings.Cut(s, ";"); return before }},
	},
	{
		name: "quotation marks are lost", kind: "encoding", at: of(Words),
		habit: habit{text: func(s string) string { return strings.ReplaceAll(s, `"`, "") }},
	},
	{
		name: "the text null is null", kind: "null handling", at: of(Words),
		habit: habit{text: func(s string) string {
			if strings.EqualFold(s, "null") || s == "" {
				return `\N`
			}
			return s
		}},
	},
	{
		name: "the second filter is not looked up", kind: "filters", at: table,
		make: func(Site) habit {
			var before []int
			return habit{looked: func(f wire.Filter, rows []int) []int {
				if f.Op == wire.OpNotNull && before != nil {
					return before
				}
				before = rows
				return rows
			}}
		},
	},
	{
		name: "afternoons are read as mornings", kind: "time zones", at: of(Moment),
		habit: habit{text: func(s string) string {
			hour, err := strconv.Atoi(s[11:13])
			if err != nil {
				return s
			}
			return fmt.Sprintf("%s%02d%s", s[:11], hour%12, s[13:])
		}},
	},
	{name: "instants are indexed by their day", kind: "time zones", at: of(Moment), habit: indexed(cutTo(24 * time.Hour))},
	{
		name: "a filtered count is one too large", kind: "off by one", at: table,
		habit: habit{count: func(filtered bool, rows int64) int64 { return rows + int64(btoi(filtered && rows > 0)) }},
	},
	{
		name: "descending is ascending", kind: "sorting", at: of(Tally, Money, Moment, Words),
		make: func(at Site) habit {
			return descending(func(rows []int) []int {
				rows = slices.Clone(rows)
				slices.Reverse(rows[:len(rows)-at.Missing])
				return rows
			})
		},
	},
	{
		name: "the decimal point is left out of the index", kind: "numbers", at: of(Money),
		habit: indexed(spelling(func(s string) string { return strings.ReplaceAll(s, ".", "") })),
	},
	{
		name: "flags are all true in the index", kind: "cells", at: of(Flag),
		habit: indexed(func(wire.Value) wire.Value { return wire.Bool(true) }),
	},
	{
		name: "accents are left out of the index", kind: "encoding", at: of(Words),
		habit: bothAs(spelling(strings.NewReplacer(
			"é", "e", "ü", "u", "ë", "e", "Ł", "L", "ł", "l", "ï", "i", "É", "E", "Ø", "O").Replace)),
	},
}

// indexed changes the cells in the index, but not the operands.
func indexed(to change) habit { return habit{match: cells(to)} }

// found changes the rows that are found for one operator.
func found(op wire.Op, change func(rows []int) []int) habit {
	return habit{found: func(f wire.Filter, rows []int) []int {
		if f.Op == op {
			rows = change(rows)
		}
		return rows
	}}
}

// descending changes the rows in the descending order of the column.
func descending(change func(rows []int) []int) habit {
	return habit{lines: func(dir wire.Direction, rows []int) []int {
		if dir == wire.Desc {
			rows = change(rows)
		}
		return rows
	}}
}
