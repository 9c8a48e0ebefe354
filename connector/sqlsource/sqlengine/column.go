package sqlengine

import "github.com/connectorsdk/connector-sdk-go/wire"

// Class is how the values of a column compare in the engine, which decides in
// what form an operand is bound.
type Class uint8

// The classes, with the Go type that an operand is bound as. An operand that a
// column's type cannot hold is rounded before it is bound, and the operator is
// changed to mean the same (1.5 <= n becomes 1 < n), so the engine never
// converts, rounds or overflows.
const (
	// ClassOpaque can be read and tested for null, nothing else.
	ClassOpaque   Class = iota
	ClassInteger        // int64
	ClassDecimal        // string of digits, within Precision and Scale
	ClassFloat          // float64; with Loose.Integers, int64 or float64
	ClassText           // string, compared by its bytes
	ClassBytes          // []byte: equal or not; shown as base64, which has another order
	ClassBoolean        // nothing is bound
	ClassDate           // string, 2006-01-02
	ClassDatetime       // string, 2006-01-02 15:04:05 and Precision digits of fraction, in UTC
)

// Column says in SQL how a column is read, compared and ordered. Each part of a
// request uses one of the expressions: Cell to answer rows, Raw to filter, Key to
// sort, group and join, Text to search.
//
// Leave an expression empty if the engine cannot give the platform's answer. The library
// then does that part of the request over the rows, or declines it. Nothing but Type and Cell is required.
type Column struct {
	// Type is the type on the wire, and Class how the engine compares the values.
	Type  wire.Type
	Class Class
	// Precision and Scale are the digits of a decimal. Precision is also the number of
	// digits of a datetime's fraction.
	Precision, Scale int
	// Single reports that a ClassFloat has values of 32 bits, which stand for the shortest
	// digits of that width: 0.1 is 0.1. Operands are then the floats of 32 bits next to the
	// filter's value, bound as the float64 that each is exactly. Raw and Key may be of
	// either width, and the default Decode reads both.
	Single bool
	// FirstYear is the first year that a date is sent with; an earlier one is null.
	FirstYear int
	// NoNUL reports that no text of the engine has a NUL in it.
	NoNUL bool
	// NULUnbound reports that texts may have a NUL, and that a driver binds only what
	// stands before it. The library does the filters whose values have one.
	NULUnbound bool
	// MaxOperand is the longest text, in bytes, that Bind and the flavor's Includes and
	// HasPrefix take. The library does the filters with a longer one. Zero: any length.
	MaxOperand int

	// Cell is selected to read a value. It is null for a value that cannot be sent, such
	// as NaN [rule cell-1d].
	Cell string
	// Decode makes a cell of what the driver returns for Cell, which is never nil.
	// Nil: a decoder by Type and Class, which knows what drivers usually return (see
	// [Column.Decoder]).
	Decode func(driver any) (wire.Value, error)

	// Raw is compared with operands. It is usually the bare column, so that indexes
	// serve.
	Raw string
	// Bind returns a placeholder as a value that Raw is compared with, such as a cast.
	// Nil: the placeholder itself.
	Bind func(param string) string
	// Valid is a condition on values that are not null: it selects those that can be sent.
	// Empty: all of them.
	Valid string
	// Invalid says what the values are that Valid does not select, in the words of a
	// warning, such as "NaN or an infinity". Empty: words by Type.
	Invalid string

	// Key has the platform's order and equality, and is null for a value that cannot be
	// sent. Sorts, minima and joins use it.
	Key string
	// Group has the platform's equality. GROUP BY and DISTINCT use it, in a column whose
	// values have an equality and no order. Empty: Key.
	Group string
	// Read turns a value of Key or Group into what Decode reads. Nil: it is that already.
	Read func(expr string) string
	// Tie tells apart values that Key does not, such as 1.5 and 1.50, or two that cannot
	// be sent, by any total order. Rows whose keys are equal, or that have no Key, are
	// ordered by it, so that pages repeat no row. Empty: Key tells all values apart.
	Tie string

	// Text is the text of the cell as it is sent, compared by its bytes. The operators
	// includes and startswith look at it, and joins of columns of different types.
	Text string
	// Contains returns a condition for membership in an array of a text that is
	// not a number. param is a placeholder bound to the text. Nil: the engine has none.
	Contains func(param, text string) string

	// Index is how the engine's indexes help. Nothing needs it but speed.
	Index Index
	// Loose is for columns that hold values which the expressions above do not fit.
	Loose Loose
}

// Index says in which forms of a condition, a sort or a join an engine uses its
// indexes, where the exact expressions of a [Column] hide the column from them. Each
// of its conditions stands beside the exact one or is checked against the rows
// first, so that a wrong plan costs time, and the answer is the same.
type Index struct {
	// Equal returns a condition for equality with one of several operands, which an
	// index serves and which is exact: it replaces Raw in a list. bind binds a value and
	// returns its placeholder; call it in the order of the text. Nil: Raw is used.
	Equal func(args []any, bind func(any) string) string
	// Near returns a condition that an index serves and that selects at least the rows
	// for which "Raw sign arg" holds; sign is =, <, <=, > or >=. It stands beside the
	// exact condition, and narrows the rows for which that is evaluated. It returns
	// nothing where there is no such condition. bind is as for Equal. Nil: there is
	// never one. In a column without an index it may spare most rows an exact condition
	// that costs more.
	//
	// In a column with a Loose.Guard, Near must also select the guarded values that may
	// meet the comparison on the platform: guarded values are then looked for only among
	// the rows that Near selects.
	Near func(sign string, arg any, bind func(any) string) string

	// Sorted is an expression, usually the bare column, whose order an index has. For
	// the rows that Within selects, its order and equality are those of Key. All other
	// rows are null on the wire. The first rows of a sort, minima and maxima are read
	// by it, where [CatalogColumn.Indexed] is set. Empty: no index is used.
	Sorted string
	// Within selects the rows that Sorted orders, in a form that the index serves.
	// Empty: those that are not null.
	Within string
	// Unsorted selects values that Sorted orders, or Plain compares, otherwise than Key, in
	// a form that the index answers at once. If a table has such a value, neither is used.
	// It includes the values that Loose.Guard selects. Empty: there are no such values but
	// those that the Guard selects.
	Unsorted string
	// Stored is an expression whose order tells apart all values that a primary key may
	// hold, and which the key's index has: usually the bare column. Pages without a sort
	// are in its order. Empty: they are in the order of Key and Tie.
	Stored string

	// Plain is an expression that an index has, for joins. Two values of columns with
	// the same PlainKind that are equal on the platform are equal as Plain, so that a
	// join can have this condition beside the exact one. PlainKind names the type and
	// the collation. Empty: there is no such expression.
	Plain, PlainKind string
	// PlainAs returns an expression of another column that equals Plain wherever the
	// values are equal on the platform, for a column of another PlainKind. It returns
	// nothing where the engine has no such expression; nil: it never has.
	PlainAs func(other *Column) string
}

// Loose describes values that a column may hold although its expressions judge them
// wrongly, or spells otherwise than it compares. The library looks for such values
// before it pushes anything that they would spoil. Most engines need none of it.
type Loose struct {
	// Guard selects values that the column's expressions misjudge. If the rows in
	// question have one, nothing is pushed for the column.
	Guard string
	// GuardsValid reports that Guard also selects every value that Valid leaves out: a
	// comparison over rows without a guarded value need not look at Valid.
	GuardsValid bool
	// Long selects values that are too long for the engine to sort. If the rows in
	// question have one, no sort by the column is pushed.
	Long string
	// Spelling is an expression of text for a column whose equal values may be spelled
	// differently, as 1.5 and 1.50. The least spelling stands for a group
	// [rule aggregate-2a]. Decode reads it as it reads Cell. Empty: equal values have
	// one spelling.
	Spelling string
	// Lossy reports that Key has lost the spelling, so that a minimum cannot be
	// spelled as in its row.
	Lossy bool
	// Alike is for a column whose equal values may be spelled in several ways, so that no
	// index has their order. It returns the column as it is among values that are all
	// spelled as value is, and so in the order of the index, Index.Sorted; and a condition
	// that selects the values of every other spelling. If no value that Index.Near finds
	// for a page is spelled otherwise, and none of the page is null on the wire, the
	// library reads the page by the index, and no further. It returns nil for a spelling in
	// which values have another order. Nil: there is never one. A Guard "1 = 0" of the
	// column that it returns says that ties are broken as without it.
	Alike func(value string) (alike *Column, unlike string)
	// Integers reports that a ClassFloat has integers among its floats, compared exactly by
	// the engine, and that Decode reads a whole float of 64 bits from 2^53 on as an integer.
	Integers bool
}
