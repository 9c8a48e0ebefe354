package wire

import (
	"iter"
	"maps"
	"slices"
)

// Filter is one condition on one field, in one of three shapes that its
// operator decides ([Op.Shape]): Value for a value operator, Values for in and
// nin, neither for isnull and notnull. Both hold scalars only (A13).
type Filter struct {
	Field  string
	Op     Op
	Value  Value
	Values []Value
}

// SortKey is one sort key. Collate asks for byte order, which is what the SDK
// always sorts by (B2).
type SortKey struct {
	Field   string
	Dir     Direction
	Collate bool
}

// JoinHop is one hop of a LEFT join (B6).
type JoinHop struct {
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

// GroupKey is one key of a grouping.
type GroupKey struct {
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

// Where is the filters of a request. Every filter of And must hold, and at least
// one group of Or, each group with all of its filters. An absent or empty Or
// adds no constraint.
type Where struct {
	And []Filter   `json:"and"`
	Or  [][]Filter `json:"or,omitempty"`
	// FieldTypes names the types of fields whose type the source does not
	// declare itself.
	FieldTypes map[string]Type `json:"fieldTypes,omitempty"`
}

// HasFilters reports whether w has any filter or group. Without one, every row
// matches.
func (w Where) HasFilters() bool { return len(w.And) > 0 || len(w.Or) > 0 }

// Filters returns all filters in order: those of And, then those of each group
// of Or.
func (w Where) Filters() iter.Seq[Filter] {
	return func(yield func(Filter) bool) {
		for _, f := range w.And {
			if !yield(f) {
				return
			}
		}
		for _, group := range w.Or {
			for _, f := range group {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// CloneWhere returns a deep copy of w.
func (w Where) CloneWhere() Where {
	clone := Where{And: cloneFilters(w.And), FieldTypes: maps.Clone(w.FieldTypes)}
	if w.Or != nil {
		clone.Or = make([][]Filter, len(w.Or))
		for i, group := range w.Or {
			clone.Or[i] = cloneFilters(group)
		}
	}
	return clone
}

func cloneFilters(filters []Filter) []Filter {
	clone := slices.Clone(filters)
	for i := range clone {
		clone[i].Values = slices.Clone(clone[i].Values)
	}
	return clone
}

// Envelope is what every request carries: the tenant's credentials, and the
// time in milliseconds, 1 to 2^53-1, that the request may take from its
// arrival.
type Envelope struct {
	Credentials Credentials `json:"credentials"`
	TimeoutMS   int64       `json:"timeoutMs"`
}

// CheckRequest is the body of /check.
type CheckRequest struct {
	Envelope
}

// DiscoveryRequest is the body of /discovery.
type DiscoveryRequest struct {
	Envelope
}

// QueryRequest is the body of /query in native mode.
//
// A connector.Source gets a connector.QueryRequest instead, which has no Limit
// and no Offset.
type QueryRequest struct {
	Table string
	Where
	Sort   []SortKey
	Fields []string
	Limit  int64 // 0: none
	Offset int64
	Joins  []JoinHop
	Envelope
	IdleTimeoutMS int64 // 0: none
	MaxTimeoutMS  int64 // 0: none
}

// SQLRequest is the body of /query in dialect mode (C9).
type SQLRequest struct {
	SQL    string
	Params []Value
	Envelope
	IdleTimeoutMS int64
	MaxTimeoutMS  int64
}

// CountRequest is the body of /count.
type CountRequest struct {
	Table string
	Where
	Envelope
}

// AggregateRequest is the body of /aggregate.
type AggregateRequest struct {
	Table string
	Where
	GroupBy []GroupKey
	// Measures are never empty when GroupBy is (E7).
	Measures []Measure
	// StringFields are to be grouped and compared byte for byte (E5).
	StringFields []string
	Joins        []JoinHop
	// Limit is the budget of groups plus one: as many groups are refused (E6).
	Limit int64
	Envelope
}

// SizeRequest is the body of /size.
type SizeRequest struct {
	Table string
	Envelope
}

// CardinalityRequest is the body of /cardinality.
type CardinalityRequest struct {
	Table   string
	Columns []string // at least one
	Envelope
}

// LinkHitRateRequest is the body of /linkHitRate.
type LinkHitRateRequest struct {
	FromTable  string
	FromColumn string
	ToTable    string
	ToColumn   string
	Envelope
}
