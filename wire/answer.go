package wire

// CheckAnswer is the answer of /check. OK is always true: a rejection is an
// error.
type CheckAnswer struct {
	OK bool `json:"ok"`
}

// CountAnswer is the answer of /count.
type CountAnswer struct {
	Count int64 `json:"count"`
}

// Size is a table's number of rows.
type Size struct {
	Rows  int64 `json:"rows"`
	Exact bool  `json:"exact"` // false: the source estimates
}

// SizeAnswer is the answer of /size. A nil Size means unknown.
type SizeAnswer struct {
	Size *Size `json:"size"`
}

// Cardinality counts a column's non-null and distinct values (F1).
type Cardinality struct {
	NonNull  int64 `json:"nonNull"`
	Distinct int64 `json:"distinct"`
}

// CardinalityAnswer is the answer of /cardinality. A nil entry means that the
// column cannot be counted distinctly; the platform then measures it itself.
type CardinalityAnswer struct {
	Columns map[string]*Cardinality `json:"columns"`
}

// LinkHitRate is the answer of /linkHitRate (F2).
type LinkHitRate struct {
	FromNonNull   int64    `json:"fromNonNull"`
	OrphanCount   int64    `json:"orphanCount"` // non-null from-rows without a match
	OrphanRate    float64  `json:"orphanRate"`  // OrphanCount/FromNonNull, 0 over nothing
	OrphanSamples []string `json:"orphanSamples"`
}

// AggregateAnswer is the answer of /aggregate, as a client reads it.
type AggregateAnswer struct {
	Rows []map[string]Value `json:"rows"`
}

// ErrorAnswer is the envelope of every answer that is not 2xx.
type ErrorAnswer struct {
	Error Error `json:"error"`
}

// Served says which parts of a query were already applied (C2). The zero value
// claims nothing, which is always safe.
type Served struct {
	Filters bool `json:"filters"`
	Sort    bool `json:"sort"`
	Window  bool `json:"window"`
}
