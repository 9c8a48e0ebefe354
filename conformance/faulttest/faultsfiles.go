package faulttest

import (
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// filesFaults returns those of an author who parses files and indexes them.
func filesFaults() []Fault {
	return []Fault{
		{
			Name: "keys of the index are trimmed", Kind: "spelling", At: of(Words),
			Files: func(at Site) Files { return Files{Indexed: at.indexed(spelling(strings.TrimSpace))} },
		},
		{
			Name: "keys of the index are lower-cased", Kind: "spelling", At: of(Label, Words),
			Files: func(at Site) Files {
				lower := spelling(strings.ToLower)
				return Files{Indexed: at.indexed(lower), Operand: at.lookup(lower)}
			},
		},
		{
			Name: "the index lacks the newest rows", Kind: "stale cache", At: table,
			Files: func(at Site) Files {
				return Files{Indexed: func(table, _ string, row int, v wire.Value) (wire.Value, bool) {
					return v, table != at.Table || row < at.Rows-4
				}}
			},
		},
		{
			Name: "the index keeps the last row of a key", Kind: "filters", At: of(Label, Link, Loose, Tally, Day, Flag),
			Files: func(at Site) Files {
				last := func(_ wire.Filter, rows []int) []int { return rows[max(len(rows)-1, 0):] }
				return Files{Found: at.found(last, wire.OpEq)}
			},
		},
		{
			Name: "numbers are indexed with their comma", Kind: "numbers", At: of(Money, Ratio),
			Files: func(at Site) Files {
				return Files{Indexed: at.indexed(spelling(func(s string) string { return strings.Replace(s, ".", ",", 1) }))}
			},
		},
		{
			Name: "a search for gt finds the bound", Kind: "off by one", At: of(Tally, Money, Day, Moment, Key),
			Files: func(at Site) Files { return Files{Operand: at.lookupAs(wire.OpGt, wire.OpGte)} },
		},
		{
			Name: "a search for lt misses the last below the bound", Kind: "off by one", At: of(Tally, Money, Day, Moment, Key),
			Files: func(at Site) Files {
				less := func(_ wire.Filter, rows []int) []int { return rows[:max(len(rows)-1, 0)] }
				return Files{Found: at.found(less, wire.OpLt)}
			},
		},
		{
			Name: "the last line of the file is lost", Kind: "off by one", At: table,
			Files: func(at Site) Files {
				return Files{Line: func(table string, number, lines int) bool { return table != at.Table || number < lines-1 }}
			},
		},
		{
			Name: "the first line is taken for a header", Kind: "off by one", At: table,
			Files: func(at Site) Files {
				return Files{Line: func(table string, number, _ int) bool { return table != at.Table || number > 0 }}
			},
		},
		{
			Name: "text is decoded as Latin-1 but not in the index", Kind: "encoding", At: of(Words),
			Files: func(at Site) Files { return Files{Text: at.read(mojibake)} },
		},
		{
			Name: "trailing blanks are cut but not in the index", Kind: "encoding", At: of(Words),
			Files: func(at Site) Files {
				return Files{Text: at.read(func(s string) string { return strings.TrimRight(s, " ") })}
			},
		},
		{
			Name: "line breaks become blanks but not in the index", Kind: "encoding", At: of(Words),
			Files: func(at Site) Files {
				return Files{Text: at.read(strings.NewReplacer(`\r`, "", "\n", " ").Replace)}
			},
		},
		{
			Name: "day and month are mixed up in the index", Kind: "time zones", At: of(Day),
			Files: func(at Site) Files {
				return Files{Indexed: at.indexed(func(v wire.Value) wire.Value {
					d := v.Time()
					if d.Day() > 12 {
						return v
					}
					return wire.Date(time.Date(d.Year(), time.Month(d.Day()), int(d.Month()), 0, 0, 0, 0, time.UTC))
				})}
			},
		},
		{
			Name: "instants are indexed in local time", Kind: "time zones", At: of(Moment),
			Files: func(at Site) Files { return Files{Indexed: at.indexed(shifted(time.Hour))} },
		},
		{
			Name: "instants are indexed without milliseconds", Kind: "time zones", At: of(Moment),
			Files: func(at Site) Files { return Files{Indexed: at.indexed(cutTo(time.Second))} },
		},
		{
			Name: "instants are read without milliseconds", Kind: "time zones", At: of(Moment),
			Files: func(at Site) Files {
				return Files{Text: at.read(func(s string) string {
					if len(s) < 4 {
						return s
					}
					return s[:len(s)-3] + "000"
				})}
			},
		},
		{
			Name: "an empty text is indexed as null", Kind: "null handling", At: of(Words),
			Files: func(at Site) Files {
				return Files{Indexed: at.indexed(func(v wire.Value) wire.Value {
					if v.String() == "" {
						return wire.Null()
					}
					return v
				})}
			},
		},
		{
			Name: "a null is indexed as an empty text", Kind: "null handling", At: nulls(Words, Label),
			Files: func(at Site) Files {
				null := at.null(wire.Text(""))
				return Files{Indexed: func(table, column string, _ int, v wire.Value) (wire.Value, bool) {
					return null(table, column, v), true
				}}
			},
		},
		{
			Name: "rows without a value come first when descending", Kind: "null handling", At: gaps,
			Files: func(at Site) Files {
				return Files{Order: func(table string, key wire.SortKey, rows []int) []int {
					if table != at.Table || key.Field != at.Column || key.Dir != wire.Desc {
						return rows
					}
					return slices.Concat(rows[len(rows)-at.Missing:], rows[:len(rows)-at.Missing])
				}}
			},
		},
		{
			Name: "of a list the first value is looked up", Kind: "filters", At: of(Code, Label, Tally, Key, Day),
			Files: func(at Site) Files {
				return Files{Operand: at.lookupIf(func(f wire.Filter) wire.Filter { f.Values = short(f.Values, 1); return f })}
			},
		},
		{
			Name: "large integers are indexed as floats", Kind: "rounding", At: of(Big),
			Files: func(at Site) Files {
				return Files{Indexed: at.indexed(rounded(0)), Operand: at.lookup(rounded(0))}
			},
		},
		{
			Name: "decimals are indexed with one digit", Kind: "rounding", At: of(Money, Ratio),
			Files: func(at Site) Files { return Files{Indexed: at.indexed(rounded(1))} },
		},
		{
			Name: "the sign is lost in the index", Kind: "numbers", At: of(Money, Tally),
			Files: func(at Site) Files {
				return Files{Indexed: at.indexed(spelling(func(s string) string { return strings.TrimPrefix(s, "-") }))}
			},
		},
		{
			Name: "keys are cut after 8 letters", Kind: "thresholds", At: of(Words),
			Files: func(at Site) Files {
				cut := spelling(func(s string) string { return first(s, 8) })
				return Files{Indexed: at.indexed(cut), Operand: at.lookup(cut)}
			},
		},
		{
			Name: "keys are cut after 255 letters", Kind: "thresholds", At: of(Words),
			Files: func(at Site) Files {
				return Files{Indexed: at.indexed(spelling(func(s string) string { return first(s, 255) }))}
			},
		},
		{
			Name: "no more than 100 lines are found", Kind: "thresholds", At: of(Flag, Label),
			Files: func(at Site) Files {
				return Files{Found: at.found(func(_ wire.Filter, rows []int) []int { return short(rows, 100) })}
			},
		},
		{
			Name: "the header is counted as a row", Kind: "measures", At: table,
			Files: func(at Site) Files {
				return Files{Count: func(table string, filtered bool, right int64) int64 {
					return right + int64(btoi(table == at.Table && !filtered))
				}}
			},
		},
		{
			Name: "null is one of the distinct values", Kind: "measures", At: nulls(),
			Files: func(at Site) Files {
				return Files{Distinct: func(table, column string, right wire.Cardinality) wire.Cardinality {
					if table == at.Table && column == at.Column {
						right.Distinct++
					}
					return right
				}}
			},
		},
		{
			Name: "the yes of another language is no", Kind: "cells", At: of(Flag),
			Files: func(at Site) Files {
				return Files{Text: at.read(func(s string) string { return strings.Replace(s, "ja", "yes", 1) })}
			},
		},
		{
			Name: "a window is applied twice", Kind: "pagination", At: table,
			Files: func(at Site) Files {
				return Files{Window: func(table string, offset, limit int64) (int64, int64) {
					if table == at.Table {
						offset *= 2
					}
					return offset, limit
				}}
			},
		},
	}
}

// indexed changes the cells of the site in the index.
func (s Site) indexed(change func(wire.Value) wire.Value) func(string, string, int, wire.Value) (wire.Value, bool) {
	changed := s.cell(change)
	return func(table, column string, _ int, v wire.Value) (wire.Value, bool) {
		return changed(table, column, v), true
	}
}

// lookup changes the operands that are looked up for the site.
func (s Site) lookup(change func(wire.Value) wire.Value) func(table string, f wire.Filter) wire.Filter {
	return s.lookupIf(func(f wire.Filter) wire.Filter { return withOperands(f, change) })
}

// lookupAs looks one operator of the site up as another.
func (s Site) lookupAs(op, other wire.Op) func(table string, f wire.Filter) wire.Filter {
	return s.lookupIf(func(f wire.Filter) wire.Filter {
		if f.Op == op {
			f.Op = other
		}
		return f
	})
}

// lookupIf changes the filters that are looked up for the site.
func (s Site) lookupIf(change func(wire.Filter) wire.Filter) func(table string, f wire.Filter) wire.Filter {
	return func(table string, f wire.Filter) wire.Filter {
		if s.has(table, f) {
			f = change(f)
		}
		return f
	}
}

// found changes the rows that are found for the site.
func (s Site) found(
	change func(f wire.Filter, rows []int) []int, ops ...wire.Op,
) func(string, wire.Filter, []int) []int {
	return func(table string, f wire.Filter, rows []int) []int {
		if s.has(table, f, ops...) {
			rows = change(f, rows)
		}
		return rows
	}
}

// read changes the text of the site in the file, but not null.
func (s Site) read(change func(string) string) func(table, column, text string) string {
	return func(table, column, text string) string {
		if table == s.Table && column == s.Column && text != `\N` {
			text = change(text)
		}
		return text
	}
}
