package textvalue

// Kind is how a file, an answer or a document spells a value.
type Kind uint8

// The kinds. Kinds up to Null are no value.
const (
	Absent Kind = iota // no such member
	Null               // null in JSON, or an empty cell in CSV
	Plain              // text without a type of its own, such as a cell in CSV
	Text               // a JSON string: its text without quotes and escapes
	Number             // a JSON number, as it is written
	Bool               // true or false
	Array              // a JSON array, as it is written
	Object             // a JSON object, as it is written
)

// String returns what a message calls a value of the kind.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "a text", "a text", "a number", "a boolean", "a list", "an object"}[k]
}

// Raw is a value as it stands in a file, an answer or a document.
type Raw struct {
	Text string
	Kind Kind
}

// None reports whether there is no value.
func (r Raw) None() bool { return r.Kind <= Null }
