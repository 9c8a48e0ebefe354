package sqlsource

import "github.com/connectorsdk/connector-sdk-go/wire"

// Class is how the values of a column compare in the engine, which decides in
// what form an operand is bound.
type Class uint8

// The classes, with the Go type that an operand is bound as. Operands that a
// column's type cannot hold are rounded before they are bound, and the operator
// is changed to mean the same (1.5 <= n becomes 1 < n), so the engine never
// converts, rounds or overflows.
const (
	// ClassOpaque can be read and tested for null, nothing else.
	ClassOpaque   Class = iota
	ClassInteger        // int64
	ClassDecimal        // string of digits, within Precision and Scale
	ClassFloat          // float64
	ClassMixed          // int64 or float64: each value is one or the other (SQLite)
	ClassText           // string, compared by its bytes
	ClassBytes          // []byte: equal or not; shown as base64, whose order is another
	ClassBoolean        // nothing is bound
	ClassDate           // string, 2006-01-02
	ClassDatetime       // string, 2006-01-02 15:04:05 and Precision digits of fraction, in UTC
)

// Column is how a column is read and compared, in SQL. A text left empty says
// that the engine has no exact way; what needs it is then left to the SDK, or
// declined.
type Column struct {
	Type  wire.Type
	Class Class

	// Cell is what is selected to read a value, and Decode makes a cell of what
	// the driver hands over for it, which is never nil. Values that cannot
	// cross the wire, such as NaN, are null here (D1).
	Cell   string
	Decode func(driver any) (wire.Value, error)

	// Raw is compared with operands: usually the bare column, so that indexes
	// serve. Bind is a placeholder as a value to compare it with; nil: the
	// placeholder itself.
	Raw  string
	Bind func(param string) string
	// Valid is a condition that holds for the values that Cell does not make
	// null; empty: all that are not null.
	Valid string
	// Same is a way to test for equality with one of several operands that can
	// use an index, where Raw in a list cannot; nil: Raw in a list. bind binds a
	// value and is its placeholder; call it in the order of the text.
	Same func(args []any, bind func(any) string) string

	// Key is an expression whose order and equality are the platform's, and
	// null for values that are not valid. Sorting, minima and joins use it.
	Key string
	// Group is what GROUP BY and DISTINCT use; empty: Key. Two values are
	// equal here exactly when they are equal under A6 to A9.
	Group string
	// Read makes of an expression of Group's or Key's values what Decode reads;
	// nil: the expression itself.
	Read func(expr string) string
	// Spelling is an expression of text, for a column whose values may be equal
	// and yet spelled differently, as 1.5 and 1.50: the least one stands for a
	// group (E2). Decode reads it as it reads Cell. Empty: equal values have one
	// spelling.
	Spelling string
	// Lossy tells that Key has lost the spelling, so that a minimum cannot be
	// spelled as in its row (E1).
	Lossy bool

	// Text is the text of the cell as it crosses the wire, compared by bytes:
	// what includes and startswith look at, and joins of different types (A5,
	// A7, F2).
	Text string
	// Tie is any expression with a total order that tells apart what is spelled
	// differently, to break ties by where there is no Key, or a Guard before it.
	Tie string

	// Odd is a condition that holds for cells that are no value of the type,
	// as 'n/a' among SQLite's numbers: they match no comparator, and sort after
	// the others by OddText, which is null for the others. Minima, sums and
	// periods are declined where there are any.
	Odd, OddText string
	// Guard is a condition that holds for values that the expressions above
	// would misjudge. Before any of them is used the table is searched for one
	// such value; where there is any, nothing is pushed for the column.
	Guard string
	// Long is a Guard for sorting alone: values that are too long for the
	// engine's sort.
	Long string

	// Contains is a condition for membership of a text that is no number in an
	// array (A4); nil: the engine cannot say. param is a placeholder bound to
	// the text.
	Contains func(param, text string) string

	// Integer and Real tell the two kinds of a ClassMixed apart. Exact is Raw
	// with whole reals beyond 2^53 made integers.
	Integer, Real, Exact string

	Precision, Scale int // of a decimal; Precision of a datetime's fraction
	// FirstYear is the first year a date may have; earlier ones are null.
	FirstYear int
	// NoNUL tells that no text of the engine has a NUL in it.
	NoNUL bool

	nullable bool
	name     string // in the protocol
}

// bind is a placeholder made comparable with Raw.
func (c *Column) bind(param string) string {
	if c.Bind == nil {
		return param
	}
	return c.Bind(param)
}

func (c *Column) read(expr string) string {
	if c.Read == nil {
		return expr
	}
	return c.Read(expr)
}

// group is the expression whose equality is the platform's.
func (c *Column) group() string {
	if c.Group != "" {
		return c.Group
	}
	return c.Key
}

// null and notNull are conditions on the cell.
func (c *Column) null() string {
	if c.Valid == "" {
		return c.Raw + " IS NULL"
	}
	return "(" + c.Raw + " IS NULL OR NOT (" + c.Valid + "))"
}

func (c *Column) notNull() string {
	if c.Valid == "" {
		return c.Raw + " IS NOT NULL"
	}
	return "(" + c.Raw + " IS NOT NULL AND " + c.Valid + ")"
}
