package filter

import (
	"cmp"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Order is a compiled sort. It is immutable: any number of goroutines may call
// [Order.Compare] at once.
type Order struct {
	keys []sortKey
}

type sortKey struct {
	at   int
	rule family
	desc bool
}

// CompileOrder prepares a sort of rows whose cells stand in the order of
// columns. The order is total, so that pages compose whatever the order in
// which a source answers (B3): after the keys of sort come the columns named
// by tie, usually the table's primary key, then all others, ascending. Names
// in tie that are no column are passed over, as the others decide then.
//
// Types are those of [Compile] (A10), and only columns of the base table can
// be named (B6); the columns of joins serve to break ties. Collate makes no
// difference (B2). An empty direction is ascending.
//
// An error is a *wire.Error: [wire.CodeUnknownEntity] names a field that no
// column has (A11), [wire.CodeBadRequest] one whose direction or type is not
// the protocol's. Columns that break the rules themselves, by a name given
// twice or an unknown type, are the source's fault and give an error of no
// code.
func CompileOrder(sort []wire.SortKey, columns []wire.Column, fieldTypes map[string]wire.Type, tie []string) (*Order, error) {
	o := &Order{}
	seen := make([]bool, len(columns))
	add := func(at int, desc bool) error {
		if seen[at] {
			return nil // equal by now
		}
		seen[at] = true
		rule, err := resolve(columns[at], fieldTypes)
		o.keys = append(o.keys, sortKey{at, rule, desc})
		return err
	}
	for _, s := range sort {
		at, err := position(columns, s.Field)
		if err != nil {
			return nil, err
		}
		if at < 0 {
			return nil, wire.Errorf(wire.CodeUnknownEntity, "sort names the field %s, which the table does not have", wire.QuoteName(s.Field))
		}
		if s.Dir != wire.Asc && s.Dir != wire.Desc && s.Dir != "" {
			return nil, wire.Errorf(wire.CodeBadRequest, "the direction of the sort by %s is neither asc nor desc", wire.QuoteName(s.Field))
		}
		if err := add(at, s.Dir == wire.Desc); err != nil {
			return nil, err
		}
	}
	for _, name := range tie {
		at, err := position(columns, name)
		if err != nil {
			return nil, err
		}
		if at < 0 {
			continue
		}
		if err := add(at, false); err != nil {
			return nil, err
		}
	}
	for at := range columns {
		if err := add(at, false); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Compare is negative when row a comes before row b, positive when it comes
// after. It is zero only for rows that are spelled alike in every column.
//
// Within a column nulls come last in both directions (B1). Numbers compare by
// their digits, text by its bytes, dates as instants; in a column of numbers
// or dates what is no number or date comes after what is, in both directions,
// by its bytes. An undeclared column has its numbers first, then its other
// text. Cells missing at the end of a row are null.
//
// It allocates nothing and keeps nothing of the rows.
func (o *Order) Compare(a, b []wire.Value) int {
	for i := range o.keys {
		k := &o.keys[i]
		if c := k.compare(cell(a, k.at), cell(b, k.at)); c != 0 {
			return c
		}
	}
	// 1.5 and "1.50" are equal, and still two rows that must keep an order.
	for i := range o.keys {
		at := o.keys[i].at
		if c := compareSpelling(cell(a, at), cell(b, at)); c != 0 {
			return c
		}
	}
	return 0
}

func cell(row []wire.Value, at int) wire.Value {
	if at < len(row) {
		return row[at]
	}
	return wire.Null()
}

func (k *sortKey) compare(a, b wire.Value) int {
	if a.IsNull() || b.IsNull() {
		return first(!a.IsNull(), !b.IsNull())
	}
	c := 0
	switch k.rule {
	case numeric, undeclared:
		order, aok, bok := compareNumbers(a, b)
		switch {
		case aok != bok:
			return first(aok, bok)
		case aok:
			c = order
		default:
			c = compareTexts(a, b)
		}
	case temporal:
		at, aok := instantOf(a)
		bt, bok := instantOf(b)
		switch {
		case aok != bok:
			return first(aok, bok)
		case aok:
			c = at.compare(bt)
		default:
			c = compareTexts(a, b)
		}
	default:
		c = compareTexts(a, b)
	}
	if k.desc {
		return -c
	}
	return c
}

// first puts the side that has a property before the one that has not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// compareSpelling orders cells by their spelling on the wire: null, booleans,
// numbers, strings, each by its text.
func compareSpelling(a, b wire.Value) int {
	if c := cmp.Compare(spelling(a), spelling(b)); c != 0 {
		return c
	}
	if isText(a.Kind()) && isText(b.Kind()) {
		return compareBytes(a.Text(), b.Text())
	}
	return compareSpelled(a, b)
}

func spelling(v wire.Value) int {
	switch v.Kind() {
	case wire.KindNull:
		return 0
	case wire.KindBool:
		return 1
	case wire.KindInt, wire.KindFloat:
		return 2
	case wire.KindInvalid:
		return 4
	}
	return 3
}
