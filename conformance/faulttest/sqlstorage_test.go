package faulttest

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// storage is how the database keeps a column.
type storage struct {
	table, column string
	trait         Trait
	scale         int // of money: the number of digits behind the point
}

// storage returns how a column is kept.
func (s *Set) storage(table, column string) storage {
	for _, site := range s.Sites {
		if site.Table != table || site.Column != column {
			continue
		}
		st := storage{table: table, column: column, trait: site.Trait}
		if site.Trait == Money {
			t := s.Table(table)
			for i, f := range t.Fields {
				for _, row := range t.Rows {
					if _, digits, ok := strings.Cut(row[i].String(), "."); ok && f.Name == column {
						st.scale = len(digits)
						return st
					}
				}
			}
		}
		return st
	}
	return storage{table: table, column: column}
}

// text reports whether the column holds text as it is on the wire.
func (s storage) text() bool { return s.trait == Code || s.trait == Label || s.trait == Words }

// ordered reports whether the database orders the stored values as the platform does.
func (s storage) ordered() bool { return s.trait != Ratio && s.trait != Tags && s.trait != Extra }

// kind returns the same for columns whose stored values are equal when those on the wire are.
func (s storage) kind() string {
	switch s.trait {
	case Key, Link, Loose, Tally, Big:
		return "integer"
	case Code, Label, Words:
		return "text"
	}
	return string(s.trait) + strconv.Itoa(s.scale)
}

// store returns a cell or an operand as it is stored, and reports false if the database
// cannot compare with it as the platform does.
func (s storage) store(v wire.Value) (any, bool) {
	if v.IsNull() {
		return nil, true
	}
	text := v.String()
	switch s.trait {
	case Key, Link, Loose, Tally, Big:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil && wire.IsDecimal(text)
	case Money:
		return s.cents(text)
	case Reading:
		return v.Float64(), false
	case Flag:
		return btoi(text == "true"), text == "true" || text == "false"
	case Moment:
		at, ok := filter.Instant(v)
		return at.UnixMilli(), ok && at.Equal(at.Truncate(time.Millisecond))
	case Day:
		at, ok := filter.Instant(v)
		return text, ok && at.Format(time.DateOnly) == text
	}
	return text, s.text()
}

// cents returns a decimal in units of its last digit.
func (s storage) cents(text string) (any, bool) {
	if !wire.IsDecimal(text) {
		return nil, false
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > s.scale {
		if strings.Trim(fraction[s.scale:], "0") != "" {
			return nil, false
		}
		fraction = fraction[:s.scale]
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", s.scale-len(fraction)), 10, 64)
	return n, err == nil
}

// load returns the cell that is stored as a value.
func (s storage) load(v any) wire.Value {
	switch v := v.(type) {
	case nil:
		return wire.Null()
	case int64:
		switch s.trait {
		case Money:
			return wire.Decimal(fixed(v, s.scale))
		case Flag:
			return wire.Bool(v != 0)
		case Moment:
			return wire.DatetimeWidth(time.UnixMilli(v), 3)
		}
		return wire.Int(v)
	case float64:
		if s.trait == Reading || math.Trunc(v) != v {
			return wire.Float(v)
		}
		return s.load(int64(v))
	case string:
		switch s.trait {
		case Ratio:
			return wire.Decimal(v)
		case Tags, Extra:
			return wire.JSON(v)
		}
		return wire.Text(v)
	}
	return wire.Null()
}
