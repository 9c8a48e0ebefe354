package sqlsource

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
	ClassFloat          // float64
	ClassMixed          // int64 or float64: each value is one or the other (SQLite)
	ClassText           // string, compared by its bytes
	ClassBytes          // []byte: equal or not; shown as base64, which has another order
	ClassBoolean        // nothing is bound
	ClassDate           // string, 2006-01-02
	ClassDatetime       // string, 2006-01-02 15:04:05 and Precision digits of fraction, in UTC
)

// exactNumber reports whether a class compares all its numbers exactly.
func (c Class) exactNumber() bool { return c == ClassInteger || c == ClassDecimal }

// Column is how a column is read and compared, in SQL. An expression left empty
// means that the engine has no exact one. What needs it is then left to the
// library, or declined.
type Column struct {
	Type  wire.Type
	Class Class

	// Cell is selected to read a value, and Decode makes a cell of what the
	// driver returns for it, which is never nil. Values that cannot be sent, such
	// as NaN, are null here [rule cell-1d].
	Cell   string
	Decode func(driver any) (wire.Value, error)

	// Raw is compared with operands: usually the bare column, so that indexes
	// serve. Bind returns a placeholder as a value to compare it with; nil: the
	// placeholder itself.
	Raw  string
	Bind func(param string) string
	// Operand returns what is bound for a text that Raw or Text is compared with;
	// nil: the string.
	Operand func(text string) any
	// Valid is a condition that selects the values that can be sent. Empty means
	// IS NOT NULL.
	Valid string
	// Same returns a condition for equality with one of several operands that can
	// use an index; nil: Raw in a list. bind binds a value and returns its
	// placeholder; call it in the order of the text.
	Same func(args []any, bind func(any) string) string

	// Key is an expression whose order and equality are the platform's, and which
	// is null for values that cannot be sent. Sorts, minima and joins use it.
	Key string
	// Group is what GROUP BY and DISTINCT use; empty: Key. Two values are equal
	// here exactly when the platform finds them equal.
	Group string
	// Read turns an expression of Group's or Key's values into what Decode reads;
	// nil: the expression itself.
	Read func(expr string) string
	// Spelling is an expression of text for a column whose equal values may be
	// spelled differently, as 1.5 and 1.50. The least spelling stands for a group
	// [rule aggregate-2a]. Decode reads it as it reads Cell. Empty: equal values
	// have one spelling.
	Spelling string
	// Lossy reports that Key has lost the spelling, so that a minimum cannot be
	// spelled as in its row.
	Lossy bool

	// Near returns a condition that an index on the column serves, and that holds
	// wherever Raw sign arg does; sign is =, <, <=, > or >=. It stands beside the
	// exact condition, and may select more. It returns nothing where there is none.
	// bind binds a value and returns its placeholder.
	//
	// In a column with a Guard it holds for every value that may meet the comparison
	// on the platform, those that the Guard selects among them: the Guard is then
	// searched for only among the rows that Near selects.
	Near func(sign string, arg any, bind func(any) string) string
	// Sorted is an expression that an index serves, usually the bare column. Among
	// the rows that Within selects its order and equality are Key's; all other rows
	// are null on the wire. The first rows of a sort, minima and maxima are read by
	// it if [CatalogColumn.Indexed] is set. Empty: there is none.
	Sorted string
	// Within selects the rows that Sorted orders, in a form that the index serves.
	// Empty: those that are not null.
	Within string
	// Unsorted is a condition, which the index answers at once, that selects values
	// that Sorted does not order as Key does, or that Plain does not compare, those
	// that the Guard selects among them. If there are any, neither is used. Empty:
	// there are none but those that the Guard selects.
	Unsorted string
	// Plain is an expression that an index serves, for joins. Any two values of
	// columns of one PlainKind that the platform finds equal are equal as Plain. A
	// join has that condition beside the exact one. PlainKind names the type and
	// collation; empty: there is no Plain.
	Plain, PlainKind string
	// PlainAs returns an expression of the values of a column of another type, which
	// Plain equals wherever the platform finds the values equal; empty: there is
	// none. nil: there is none for any column.
	PlainAs func(other *Column) string

	// Text is the text of the cell as it is sent, compared by bytes: what includes
	// and startswith look at, and joins of different types.
	Text string
	// Tie is an expression with a total order that tells apart all values that
	// Key does not, such as 1.5 and 1.50, or values that are null on the wire. It
	// stands behind Key, or in its place where there is no Key, or a Guard. Empty:
	// Key tells all values apart.
	Tie string
	// Stored is an expression whose order tells apart all values that a primary
	// key of the engine may hold, and which the key's index serves: usually the
	// bare column. Pages without a sort are ordered by it. Empty: Key and Tie are
	// used.
	Stored string

	// Odd is a condition that selects cells that are not of the column's type, as
	// 'n/a' among SQLite's numbers. They match no comparator, and sort after the
	// others by OddText, which is null for the others. Minima, sums and periods
	// are declined if there are any.
	Odd, OddText string
	// Guard is a condition that selects values that the expressions above would
	// misjudge. Before any of them is used, the table is searched for one such
	// value; if there is any, nothing is pushed for the column.
	Guard string
	// Long is a Guard for sorting alone: values that are too long for the
	// engine's sort.
	Long string

	// Contains returns a condition for membership in an array of a text that is
	// not a number; nil: the engine has none. param is a placeholder bound to the
	// text.
	Contains func(param, text string) string

	// Integer and Real select the two kinds of a ClassMixed. Exact is Raw with
	// whole reals beyond 2^53 turned into integers.
	Integer, Real, Exact string

	Precision, Scale int // of a decimal; Precision of a datetime's fraction
	// FirstYear is the first year a date may have; earlier ones are null.
	FirstYear int
	// NoNUL reports that no text of the engine has a NUL in it.
	NoNUL bool

	nullable bool // on the wire, as far as the catalog says
	required bool // never null in the engine
	indexed  bool
	name     string // in the protocol
	own      string // in the database
}

// bind returns a placeholder in a form comparable with Raw.
func (c *Column) bind(param string) string {
	if c.Bind == nil {
		return param
	}
	return c.Bind(param)
}

// operand returns what is bound for a text.
func (c *Column) operand(text string) any {
	if c.Operand == nil {
		return text
	}
	return c.Operand(text)
}

// read returns an expression of Key's or Group's values as Decode reads it.
func (c *Column) read(expr string) string {
	if c.Read == nil {
		return expr
	}
	return c.Read(expr)
}

// group returns the expression whose equality is the platform's.
func (c *Column) group() string { return or(c.Group, c.Key) }

// null returns the condition that the cell is null.
func (c *Column) null() string {
	if c.Valid == "" {
		return c.Raw + " IS NULL"
	}
	return "(" + c.Raw + " IS NULL OR NOT (" + c.Valid + "))"
}

// notNull returns the condition that the cell is not null.
func (c *Column) notNull() string {
	if c.Valid == "" {
		return c.Raw + " IS NOT NULL"
	}
	return "(" + c.Raw + " IS NOT NULL AND " + c.Valid + ")"
}

// as returns the column with another type that the host asks for. Where that
// changes how values compare, nothing is pushed.
func (c Column) as(want wire.Type) Column {
	if want == "" || want == c.Type {
		return c
	}
	was := c.Type
	c.Type = want
	text := func(t wire.Type) bool { return t == wire.TypeString || t == wire.TypeReference }
	document := func(t wire.Type) bool { return t == wire.TypeJSON || t == wire.TypeArray }
	switch {
	case text(was) && text(want), document(was) && document(want):
		return c
	case was.Numeric() && want.Numeric():
		if want == wire.TypeDecimal {
			c.Decode = decimalOf(c.Decode)
		}
		return c
	}
	c.Class, c.Text, c.Contains, c.Same = ClassOpaque, "", nil, nil
	c.Tie, c.Key, c.Group = or(c.Tie, c.Key), "", ""
	c.Near, c.Sorted, c.Within, c.Unsorted, c.Plain, c.PlainKind = nil, "", "", "", "", ""
	c.PlainAs = nil
	if document(want) {
		c.Decode = DecodeJSON
	}
	return c
}

// decimalOf returns a decoder of numbers whose cells are decimals.
func decimalOf(decode func(any) (wire.Value, error)) func(any) (wire.Value, error) {
	return func(driver any) (wire.Value, error) {
		v, err := decode(driver)
		if err != nil || v.IsNull() {
			return v, err
		}
		return wire.Decimal(text(v)), nil
	}
}
