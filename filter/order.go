package filter

import (
	"cmp"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
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

// CompileOrder prepares a sort of rows whose cells are in the order of columns.
// The order is total, so that pages compose whatever the order in which a
// source answers [rule query-3]. Rows with equal sort keys are ordered by the
// columns named in tie, usually the table's primary key, then by all other
// columns, ascending. CompileOrder skips names in tie that are not columns.
//
// Fields have the types that [Compile] gives them. Sort keys can name columns
// of the base table only; columns of joins only break ties. Collate makes no
// difference [rule query-2]. An empty direction is ascending.
//
// A fault of the request is a *wire.Error: [wire.CodeUnknownEntity] for a field
// that no column has, [wire.CodeBadRequest] for a direction or type that the
// protocol does not define. A fault of the columns, such as a duplicate name or
// an unknown type, is a plain error.
func CompileOrder(sort []wire.SortKey, columns []wire.Column, fieldTypes map[string]wire.Type, tie []string) (*Order, error) {
	o := &Order{}
	places := positionsOf(columns)
	seen := make([]bool, len(columns))
	add := func(at int, desc bool) error {
		if seen[at] {
			return nil // already compared by an earlier key
		}
		seen[at] = true
		rule, err := resolve(columns[at], fieldTypes)
		o.keys = append(o.keys, sortKey{at, rule, desc})
		return err
	}
	for _, s := range sort {
		at, err := places.of(s.Field)
		if err != nil {
			return nil, err
		}
		if at < 0 {
			return nil, wire.Errorf(wire.CodeUnknownEntity, "sort names the field %s, which the table does not have", terms.QuoteName(s.Field))
		}
		if s.Dir != wire.Asc && s.Dir != wire.Desc && s.Dir != "" {
			return nil, wire.Errorf(wire.CodeBadRequest, "the direction of the sort by %s is neither asc nor desc", terms.QuoteName(s.Field))
		}
		if err := add(at, s.Dir == wire.Desc); err != nil {
			return nil, err
		}
	}
	for _, name := range tie {
		at, err := places.of(name)
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

// Compare returns a negative number if row a comes before row b, and a positive
// one if it comes after. It returns zero only if the rows have the same text in
// every column.
//
// Within a column, nulls come last in both directions [rule query-1]. Numbers
// compare by their digits, text by its bytes, dates as instants. In a column of
// numbers or dates, any other text comes after them in both directions, ordered
// by its bytes. An undeclared column has numbers first, then other text. Cells
// missing at the end of a row are null.
//
// Compare does not allocate and retains nothing of the rows.
func (o *Order) Compare(a, b []wire.Value) int {
	for i := range o.keys {
		k := &o.keys[i]
		if c := k.compare(cell(a, k.at), cell(b, k.at)); c != 0 {
			return c
		}
	}
	// Rows with 1.5 and "1.50" are equal but still need a fixed order.
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

// first orders the side with a property before the side without it.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// compareSpelling orders cells by how they appear on the wire: null, booleans,
// numbers, then strings, each by its text.
func compareSpelling(a, b wire.Value) int {
	if c := cmp.Compare(spelling(a), spelling(b)); c != 0 {
		return c
	}
	if isText(a.Kind()) && isText(b.Kind()) {
		return compareBytes(a.Text(), b.Text())
	}
	return compareSpelled(a, b)
}

// spelling returns the rank of a cell's JSON type for compareSpelling.
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
