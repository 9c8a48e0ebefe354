package wire

func (m *CheckRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.credentials(m.Credentials, m.TimeoutMS)
	e.close('}')
}

func (m *DiscoveryRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.credentials(m.Credentials, m.TimeoutMS)
	e.close('}')
}

func (m *QueryRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.text("table", m.Table)
	e.filters(m.And, m.Or)
	list(e, "sort", m.Sort, e.sortKey)
	list(e, "fields", m.Fields, e.string)
	e.positive("limit", m.Limit)
	e.positive("offset", m.Offset)
	e.joins(m.Joins)
	e.fieldTypes(m.FieldTypes)
	e.credentials(m.Credentials, m.TimeoutMS)
	e.positive("idleTimeoutMs", m.IdleTimeoutMS)
	e.positive("maxTimeoutMs", m.MaxTimeoutMS)
	e.close('}')
}

func (m *SQLRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.text("sql", m.SQL)
	list(e, "params", m.Params, e.value)
	e.credentials(m.Credentials, m.TimeoutMS)
	e.positive("idleTimeoutMs", m.IdleTimeoutMS)
	e.positive("maxTimeoutMs", m.MaxTimeoutMS)
	e.close('}')
}

func (m *CountRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.text("table", m.Table)
	e.filters(m.And, m.Or)
	e.fieldTypes(m.FieldTypes)
	e.credentials(m.Credentials, m.TimeoutMS)
	e.close('}')
}

func (m *AggregateRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.text("table", m.Table)
	e.filters(m.And, m.Or)
	list(e, "groupBy", m.GroupBy, e.group)
	list(e, "measures", m.Measures, e.measure)
	if len(m.StringFields) > 0 {
		list(e, "stringFields", m.StringFields, e.string)
	}
	e.joins(m.Joins)
	e.fieldTypes(m.FieldTypes)
	e.name("limit")
	e.int(m.Limit)
	e.credentials(m.Credentials, m.TimeoutMS)
	e.close('}')
}

func (m *SizeRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.text("table", m.Table)
	e.credentials(m.Credentials, m.TimeoutMS)
	e.close('}')
}

func (m *CardinalityRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.text("table", m.Table)
	list(e, "columns", m.Columns, e.string)
	e.credentials(m.Credentials, m.TimeoutMS)
	e.close('}')
}

func (m *LinkHitRateRequest) encodeRequest(e *encoder) {
	e.open('{')
	e.text("fromTable", m.FromTable)
	e.text("fromColumn", m.FromColumn)
	e.text("toTable", m.ToTable)
	e.text("toColumn", m.ToColumn)
	e.credentials(m.Credentials, m.TimeoutMS)
	e.close('}')
}

// credentials writes what every request carries.
func (e *encoder) credentials(c Credentials, timeout int64) {
	e.name("credentials")
	sorted(e, c.all(), e.string)
	e.name("timeoutMs")
	e.int(timeout)
}

func (e *encoder) fieldTypes(types map[string]Type) {
	if len(types) > 0 {
		e.name("fieldTypes")
		sorted(e, types, func(t Type) { e.string(string(t)) })
	}
}

func (e *encoder) filters(and []Filter, or [][]Filter) {
	list(e, "and", and, e.filter)
	if or != nil { // an empty one means the same, and is what some clients send (A1)
		list(e, "or", or, func(group []Filter) { elements(e, group, e.filter) })
	}
}

func (e *encoder) filter(f Filter) {
	e.open('{')
	e.text("field", f.Field)
	e.text("op", string(f.Op))
	switch f.Op.Shape() {
	case ShapeNullary:
	case ShapeMember:
		list(e, "values", f.Values, e.value)
	default:
		e.name("value")
		e.value(f.Value)
	}
	e.close('}')
}

func (e *encoder) sortKey(s SortKey) {
	e.open('{')
	e.text("field", s.Field)
	e.text("dir", string(s.Dir))
	if s.Collate {
		e.flag("collate", true)
	}
	e.close('}')
}

func (e *encoder) joins(joins []JoinHop) {
	if len(joins) > 0 {
		list(e, "joins", joins, e.join)
	}
}

func (e *encoder) join(j JoinHop) {
	e.open('{')
	e.text("fromTable", j.FromTable)
	e.text("toTable", j.ToTable)
	e.text("fromField", j.FromField)
	e.text("toField", j.ToField)
	list(e, "fields", j.Fields, e.joinField)
	e.close('}')
}

func (e *encoder) joinField(f JoinField) {
	e.open('{')
	e.text("field", f.Field)
	e.optional("as", f.As)
	e.optional("type", string(f.Type))
	e.close('}')
}

func (e *encoder) group(g GroupKey) {
	e.open('{')
	e.text("field", g.Field)
	e.text("as", g.As)
	e.optional("grain", string(g.Grain))
	e.close('}')
}

func (e *encoder) measure(m Measure) {
	e.open('{')
	e.text("fn", string(m.Fn))
	e.optional("field", m.Field)
	e.text("as", m.As)
	e.close('}')
}
