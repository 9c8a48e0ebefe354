package faulttest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// moreFilesFaults returns further ones of an author who parses files and indexes them.
func moreFilesFaults() []Fault {
	return []Fault{
		{
			Name: "a text ends at its first semicolon", Kind: "encoding", At: of(Words),
			Files: func(at Site) Files {
				return Files{Text: at.read(func(s string) string { before, _, _ := strings.Cut(s, ";"); return before })}
			},
		},
		{
			Name: "quotation marks are lost", Kind: "encoding", At: of(Words),
			Files: func(at Site) Files {
				return Files{Text: at.read(func(s string) string { return strings.ReplaceAll(s, `"`, "") })}
			},
		},
		{
			Name: "the text null is null", Kind: "null handling", At: of(Words),
			Files: func(at Site) Files {
				return Files{Text: at.read(func(s string) string {
					if strings.EqualFold(s, "null") || s == "" {
						return `\N`
					}
					return s
				})}
			},
		},
		{
			Name: "the second filter is not looked up", Kind: "filters", At: table,
			Files: func(at Site) Files {
				var before []int
				return Files{Found: func(table string, f wire.Filter, rows []int) []int {
					if table != at.Table {
						return rows
					}
					if f.Op == wire.OpNotNull && before != nil {
						return before
					}
					before = rows
					return rows
				}}
			},
		},
		{
			Name: "afternoons are read as mornings", Kind: "time zones", At: of(Moment),
			Files: func(at Site) Files {
				return Files{Text: at.read(func(s string) string {
					hour, err := strconv.Atoi(s[11:13])
					if err != nil {
						return s
					}
					return fmt.Sprintf("%s%02d%s", s[:11], hour%12, s[13:])
				})}
			},
		},
		{
			Name: "instants are indexed by their day", Kind: "time zones", At: of(Moment),
			Files: func(at Site) Files { return Files{Indexed: at.indexed(cutTo(24 * time.Hour))} },
		},
		{
			Name: "a filtered count is one too large", Kind: "off by one", At: table,
			Files: func(at Site) Files {
				return Files{Count: func(table string, filtered bool, right int64) int64 {
					return right + int64(btoi(table == at.Table && filtered && right > 0))
				}}
			},
		},
		{
			Name: "descending is ascending", Kind: "sorting", At: of(Tally, Money, Moment, Words),
			Files: func(at Site) Files {
				return Files{Order: func(table string, key wire.SortKey, rows []int) []int {
					if table != at.Table || key.Field != at.Column || key.Dir != wire.Desc {
						return rows
					}
					rows = slices.Clone(rows)
					slices.Reverse(rows[:len(rows)-at.Missing])
					return rows
				}}
			},
		},
		{
			Name: "the decimal point is left out of the index", Kind: "numbers", At: of(Money),
			Files: func(at Site) Files {
				return Files{Indexed: at.indexed(spelling(func(s string) string { return strings.ReplaceAll(s, ".", "") }))}
			},
		},
		{
			Name: "flags are all true in the index", Kind: "cells", At: of(Flag),
			Files: func(at Site) Files {
				return Files{Indexed: at.indexed(func(wire.Value) wire.Value { return wire.Bool(true) })}
			},
		},
		{
			Name: "accents are left out of the index", Kind: "encoding", At: of(Words),
			Files: func(at Site) Files {
				letters := strings.NewReplacer("é", "e", "ü", "u", "ë", "e", "Ł", "L", "ł", "l", "ï", "i", "É", "E", "Ø", "O")
				plain := spelling(letters.Replace)
				return Files{Indexed: at.indexed(plain), Operand: at.lookup(plain)}
			},
		},
	}
}
