package filter

import (
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Operators returns a new slice of the thirteen operators of the protocol, in
// the order in which it lists them. [Compile] takes all of them.
func Operators() []wire.Op { return terms.Operators[wire.Op]() }

// A family is a way in which the values of a type compare.
type family uint8

const (
	undeclared family = iota // numeric if both sides are numbers, otherwise textual
	numeric                  // by decimal digits
	textual                  // by bytes
	temporal                 // as instants if both sides are, otherwise by bytes
)

// familyOf returns how values of a type compare. It treats an unknown type as
// undeclared; Compile and CompileOrder refuse one earlier.
func familyOf(t wire.Type) family {
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		return numeric
	case wire.TypeString, wire.TypeReference, wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
		return textual
	case wire.TypeDate, wire.TypeDatetime:
		return temporal
	}
	return undeclared
}

// accept is the set of orders of cell and value that satisfy a comparator: bit
// 0 for less, bit 1 for equal, bit 2 for greater.
type accept uint8

func acceptOf(op wire.Op) accept {
	switch op {
	case wire.OpEq:
		return 0b010
	case wire.OpNeq:
		return 0b101
	case wire.OpGt:
		return 0b100
	case wire.OpGte:
		return 0b110
	case wire.OpLt:
		return 0b001
	case wire.OpLte:
		return 0b011
	}
	return 0
}

func (a accept) has(order int) bool { return a>>uint(order+1)&1 != 0 }
