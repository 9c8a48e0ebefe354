package wire

// AggregateRequest is the body of /aggregate.
type AggregateRequest struct {
	Table string
	Where
	GroupBy []GroupKey
	// Measures are never empty when GroupBy is.
	Measures []Measure
	// StringFields are to be grouped and compared byte for byte.
	StringFields []string
	Joins        []JoinHop
	// Limit is the platform's budget of groups plus one: an answer of as many
	// groups is refused as too large.
	Limit int64
	Envelope
}

var aggregateRequest = newObject(
	required("table", func(m *AggregateRequest) *string { return &m.Table }, text),
	where(func(m *AggregateRequest) *Where { return &m.Where }),
	required("groupBy", func(m *AggregateRequest) *[]GroupKey { return &m.GroupBy }, list(groupKey.codec())),
	required("measures", func(m *AggregateRequest) *[]Measure { return &m.Measures }, list(measure.codec())),
	optional("stringFields", func(m *AggregateRequest) *[]string { return &m.StringFields }, texts),
	optional("joins", func(m *AggregateRequest) *[]JoinHop { return &m.Joins }, joins),
	fieldTypes(func(m *AggregateRequest) *Where { return &m.Where }),
	required("limit", func(m *AggregateRequest) *int64 { return &m.Limit }, positive),
	envelope(func(m *AggregateRequest) *Envelope { return &m.Envelope }),
).checked(checkAggregate)

func (m *AggregateRequest) message(d *decoder, e *encoder) error {
	return process(aggregateRequest, m, d, e)
}

// checkAggregate refuses a request that asks for nothing, or for two columns of
// the same name.
func checkAggregate(d *decoder, m *AggregateRequest, _ uint32) {
	if len(m.GroupBy) == 0 && len(m.Measures) == 0 {
		d.fail("groupBy and measures are both empty; ask for at least one of them")
	}
	var columns nameSet
	for i, key := range m.GroupBy {
		if !columns.add(key.As) {
			d.failAt(duplicateColumn, "groupBy", i, "as")
		}
	}
	for i, measure := range m.Measures {
		if !columns.add(measure.As) {
			d.failAt(duplicateColumn, "measures", i, "as")
		}
	}
	d.checkJoins(m.Table, nil, m.Joins)
}

// GroupKey is one key of a grouping.
type GroupKey struct {
	noJSON
	Field string
	As    string
	Grain Grain // empty: the value itself
}

var groupKey = newObject(
	required("field", func(m *GroupKey) *string { return &m.Field }, text),
	required("as", func(m *GroupKey) *string { return &m.As }, label),
	optional("grain", func(m *GroupKey) *Grain { return &m.Grain }, oneOf(GrainYear, GrainQuarter, GrainMonth, GrainDay)),
)

// Measure is one number asked of every group. Field is empty only for a count
// of rows.
type Measure struct {
	noJSON
	Fn    AggFunc
	Field string
	As    string
}

var measure = newObject(
	required("fn", func(m *Measure) *AggFunc { return &m.Fn }, oneOf(AggCount, AggSum, AggMin, AggMax, AggCountDistinct)),
	optional("field", func(m *Measure) *string { return &m.Field }, label),
	required("as", func(m *Measure) *string { return &m.As }, label),
).checked(func(d *decoder, m *Measure, _ uint32) {
	if m.Fn != AggCount && m.Field == "" {
		d.fail(`member "field" is missing; only a count goes without one`)
	}
})

// AggregateAnswer is the answer of /aggregate, as a client reads it.
type AggregateAnswer struct {
	answer
	Rows []map[string]Value
}

var aggregateAnswer = newObject(
	required("rows", func(m *AggregateAnswer) *[]map[string]Value { return &m.Rows }, list(mapOf(scalar))),
)

func (m *AggregateAnswer) message(d *decoder, e *encoder) error {
	return process(aggregateAnswer, m, d, e)
}
