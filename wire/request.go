package wire

// Filter is one condition on one field, in one of three shapes that its
// operator decides ([Op.Shape]): Value for a value operator, Values for in and
// nin, neither for isnull and notnull. Both hold scalars only (A13).
type Filter struct {
	Field  string
	Op     Op
	Value  Value
	Values []Value
}

// Sort is one sort key. Collate asks for byte order, which is what the SDK
// always sorts by (B2).
type Sort struct {
	Field   string
	Dir     Direction
	Collate bool
}

// Join is one hop of a LEFT join (B6).
type Join struct {
	FromTable string // the base table, or the ToTable of an earlier hop
	ToTable   string
	FromField string
	ToField   string
	Fields    []JoinField
}

// JoinField is one column a hop adds to the rows.
type JoinField struct {
	Field string
	As    string // the row member; the decoder fills it with Field when absent
	Type  Type   // may be empty
}

// Group is one key of a grouping.
type Group struct {
	Field string
	As    string
	Grain Grain // empty: the value itself
}

// Measure is one number asked of every group. Field is empty only for a count
// of rows.
type Measure struct {
	Fn    Fn
	Field string
	As    string
}

// Every request carries the tenant's credentials and TimeoutMS, 1 to 2^53-1
// milliseconds from the request's arrival (C5, G7).

// CheckRequest is the body of /check.
type CheckRequest struct {
	Credentials Credentials
	TimeoutMS   int64
}

// DiscoveryRequest is the body of /discovery.
type DiscoveryRequest struct {
	Credentials Credentials
	TimeoutMS   int64
}

// QueryRequest is the body of /query in native mode.
//
// A source never sees Limit and Offset here: they reach it through
// connector.Rows.Window, so that a window cannot be applied too early.
type QueryRequest struct {
	Table         string
	And           []Filter
	Or            [][]Filter // one more conjunct, in disjunctive normal form (A1)
	Sort          []Sort
	Fields        []string
	Limit         int64 // 0: none
	Offset        int64
	Joins         []Join
	FieldTypes    map[string]Type
	Credentials   Credentials
	TimeoutMS     int64
	IdleTimeoutMS int64 // 0: none
	MaxTimeoutMS  int64 // 0: none
}

// SQLRequest is the body of /query in dialect mode (C9).
type SQLRequest struct {
	SQL           string
	Params        []Value
	Credentials   Credentials
	TimeoutMS     int64
	IdleTimeoutMS int64
	MaxTimeoutMS  int64
}

// CountRequest is the body of /count.
type CountRequest struct {
	Table       string
	And         []Filter
	Or          [][]Filter
	FieldTypes  map[string]Type
	Credentials Credentials
	TimeoutMS   int64
}

// AggregateRequest is the body of /aggregate.
type AggregateRequest struct {
	Table   string
	And     []Filter
	Or      [][]Filter
	GroupBy []Group
	// Measures are never empty when GroupBy is (E7).
	Measures []Measure
	// StringFields are to be grouped and compared byte for byte (E5).
	StringFields []string
	Joins        []Join
	FieldTypes   map[string]Type
	// Limit is the budget of groups plus one: as many groups are refused (E6).
	Limit       int64
	Credentials Credentials
	TimeoutMS   int64
}

// SizeRequest is the body of /size.
type SizeRequest struct {
	Table       string
	Credentials Credentials
	TimeoutMS   int64
}

// CardinalityRequest is the body of /cardinality.
type CardinalityRequest struct {
	Table       string
	Columns     []string // at least one
	Credentials Credentials
	TimeoutMS   int64
}

// LinkHitRateRequest is the body of /linkHitRate.
type LinkHitRateRequest struct {
	FromTable   string
	FromColumn  string
	ToTable     string
	ToColumn    string
	Credentials Credentials
	TimeoutMS   int64
}
