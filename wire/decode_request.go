package wire

// The protocol's words, as a message may use them.
var (
	allOps = []Op{OpEq, OpNeq, OpGt, OpGte, OpLt, OpLte, OpIn, OpNin, OpContains, OpIncludes,
		OpStartswith, OpIsnull, OpNotnull}
	allTypes = []Type{TypeString, TypeNumber, TypeDecimal, TypeBoolean, TypeDate, TypeDatetime,
		TypeJSON, TypeArray, TypeReference}
	allDirections = []Direction{Asc, Desc}
	allFns        = []Fn{FnCount, FnSum, FnMin, FnMax, FnCountDistinct}
	allGrains     = []Grain{GrainYear, GrainQuarter, GrainMonth, GrainDay}
)

// The members of every request (E8), and of what requests hold. Unknown ones
// are refused where a dropped member could change which rows answer (G5).
var (
	checkRequestShape = shape{required: []string{"credentials", "timeoutMs"}, lax: true}
	queryRequestShape = shape{
		required: []string{"table", "and", "sort", "fields", "credentials", "timeoutMs"},
		optional: []string{"or", "limit", "offset", "joins", "fieldTypes", "idleTimeoutMs", "maxTimeoutMs"},
	}
	sqlRequestShape = shape{
		required: []string{"sql", "params", "credentials", "timeoutMs"},
		optional: []string{"idleTimeoutMs", "maxTimeoutMs"},
	}
	countRequestShape = shape{
		required: []string{"table", "and", "credentials", "timeoutMs"},
		optional: []string{"or", "fieldTypes"},
	}
	aggregateRequestShape = shape{
		required: []string{"table", "and", "groupBy", "measures", "limit", "credentials", "timeoutMs"},
		optional: []string{"or", "stringFields", "joins", "fieldTypes"},
	}
	sizeRequestShape        = shape{required: []string{"table", "credentials", "timeoutMs"}, lax: true}
	cardinalityRequestShape = shape{required: []string{"table", "columns", "credentials", "timeoutMs"}, lax: true}
	linkHitRateRequestShape = shape{
		required: []string{"fromTable", "fromColumn", "toTable", "toColumn", "credentials", "timeoutMs"},
		lax:      true,
	}

	filterShape    = shape{required: []string{"field", "op"}, optional: []string{"value", "values"}}
	sortShape      = shape{required: []string{"field", "dir"}, optional: []string{"collate"}}
	joinShape      = shape{required: []string{"fromTable", "toTable", "fromField", "toField", "fields"}}
	joinFieldShape = shape{required: []string{"field"}, optional: []string{"as", "type"}}
	groupShape     = shape{required: []string{"field", "as"}, optional: []string{"grain"}}
	measureShape   = shape{required: []string{"fn", "as"}, optional: []string{"field"}}
)

func (m *CheckRequest) decode(d *decoder) {
	var r CheckRequest
	r.Credentials, r.TimeoutMS = d.credentialsOnly()
	if d.end() {
		*m = r
	}
}

func (m *DiscoveryRequest) decode(d *decoder) {
	var r DiscoveryRequest
	r.Credentials, r.TimeoutMS = d.credentialsOnly()
	if d.end() {
		*m = r
	}
}

// credentialsOnly reads the body of /check and of /discovery.
func (d *decoder) credentialsOnly() (c Credentials, timeout int64) {
	for o := d.object(&checkRequestShape); o.next(); {
		switch o.name {
		case "credentials":
			c = d.credentials()
		case "timeoutMs":
			timeout = d.milliseconds()
		}
	}
	return c, timeout
}

func (m *QueryRequest) decode(d *decoder) {
	var r QueryRequest
	for o := d.object(&queryRequestShape); o.next(); {
		switch o.name {
		case "table":
			r.Table = d.text()
		case "and":
			r.And = d.filters()
		case "or":
			r.Or = d.filterGroups()
		case "sort":
			r.Sort = d.sort()
		case "fields":
			r.Fields = d.fields()
		case "limit":
			r.Limit = d.integer(1, MaxSafeInteger)
		case "offset":
			r.Offset = d.integer(0, MaxSafeInteger)
		case "joins":
			r.Joins = d.joins()
		case "fieldTypes":
			r.FieldTypes = d.fieldTypes()
		case "credentials":
			r.Credentials = d.credentials()
		case "timeoutMs":
			r.TimeoutMS = d.milliseconds()
		case "idleTimeoutMs":
			r.IdleTimeoutMS = d.milliseconds()
		case "maxTimeoutMs":
			r.MaxTimeoutMS = d.milliseconds()
		}
	}
	d.checkJoins(r.Table, r.Fields, r.Joins)
	if d.end() {
		*m = r
	}
}

func (m *SQLRequest) decode(d *decoder) {
	var r SQLRequest
	for o := d.object(&sqlRequestShape); o.next(); {
		switch o.name {
		case "sql":
			r.SQL = d.text()
		case "params":
			r.Params = d.scalars()
		case "credentials":
			r.Credentials = d.credentials()
		case "timeoutMs":
			r.TimeoutMS = d.milliseconds()
		case "idleTimeoutMs":
			r.IdleTimeoutMS = d.milliseconds()
		case "maxTimeoutMs":
			r.MaxTimeoutMS = d.milliseconds()
		}
	}
	if d.end() {
		*m = r
	}
}

func (m *CountRequest) decode(d *decoder) {
	var r CountRequest
	for o := d.object(&countRequestShape); o.next(); {
		switch o.name {
		case "table":
			r.Table = d.text()
		case "and":
			r.And = d.filters()
		case "or":
			r.Or = d.filterGroups()
		case "fieldTypes":
			r.FieldTypes = d.fieldTypes()
		case "credentials":
			r.Credentials = d.credentials()
		case "timeoutMs":
			r.TimeoutMS = d.milliseconds()
		}
	}
	if d.end() {
		*m = r
	}
}

func (m *AggregateRequest) decode(d *decoder) {
	var r AggregateRequest
	for o := d.object(&aggregateRequestShape); o.next(); {
		switch o.name {
		case "table":
			r.Table = d.text()
		case "and":
			r.And = d.filters()
		case "or":
			r.Or = d.filterGroups()
		case "groupBy":
			r.GroupBy = d.groupBy()
		case "measures":
			r.Measures = d.measures()
		case "stringFields":
			r.StringFields = d.texts()
		case "joins":
			r.Joins = d.joins()
		case "fieldTypes":
			r.FieldTypes = d.fieldTypes()
		case "limit":
			r.Limit = d.integer(1, MaxSafeInteger)
		case "credentials":
			r.Credentials = d.credentials()
		case "timeoutMs":
			r.TimeoutMS = d.milliseconds()
		}
	}
	d.checkAggregate(&r)
	d.checkJoins(r.Table, nil, r.Joins)
	if d.end() {
		*m = r
	}
}

func (m *SizeRequest) decode(d *decoder) {
	var r SizeRequest
	for o := d.object(&sizeRequestShape); o.next(); {
		switch o.name {
		case "table":
			r.Table = d.text()
		case "credentials":
			r.Credentials = d.credentials()
		case "timeoutMs":
			r.TimeoutMS = d.milliseconds()
		}
	}
	if d.end() {
		*m = r
	}
}

func (m *CardinalityRequest) decode(d *decoder) {
	var r CardinalityRequest
	for o := d.object(&cardinalityRequestShape); o.next(); {
		switch o.name {
		case "table":
			r.Table = d.text()
		case "columns":
			if r.Columns = d.texts(); len(r.Columns) == 0 {
				d.fail("must name at least one column") // F3
			}
		case "credentials":
			r.Credentials = d.credentials()
		case "timeoutMs":
			r.TimeoutMS = d.milliseconds()
		}
	}
	if d.end() {
		*m = r
	}
}

func (m *LinkHitRateRequest) decode(d *decoder) {
	var r LinkHitRateRequest
	for o := d.object(&linkHitRateRequestShape); o.next(); {
		switch o.name {
		case "fromTable":
			r.FromTable = d.text()
		case "fromColumn":
			r.FromColumn = d.text()
		case "toTable":
			r.ToTable = d.text()
		case "toColumn":
			r.ToColumn = d.text()
		case "credentials":
			r.Credentials = d.credentials()
		case "timeoutMs":
			r.TimeoutMS = d.milliseconds()
		}
	}
	if d.end() {
		*m = r
	}
}

// end reads the end of the text, and reports whether the message is good.
func (d *decoder) end() bool {
	d.s.End()
	return d.ok()
}

// milliseconds reads a timeout (G7).
func (d *decoder) milliseconds() int64 { return d.integer(1, MaxSafeInteger) }

// credentials reads a flat object of strings (G6). The map goes straight into
// its closure.
func (d *decoder) credentials() Credentials {
	own := make(map[string]string, 4)
	e := d.entries()
	for e.next() {
		if !d.want('"', "every value must be a string") {
			break
		}
		own[e.name] = d.s.String()
	}
	return hold(own)
}

// fieldTypes reads an object of type names. A fault's path does not name the
// field: it is text of the body.
func (d *decoder) fieldTypes() map[string]Type {
	types := make(map[string]Type, 8)
	e := d.entries()
	for e.next() {
		types[e.name] = oneOf(d, allTypes)
	}
	return types
}

func (d *decoder) filters() []Filter {
	var list []Filter
	for a := d.array(); a.next(); {
		list = append(list, d.filter())
	}
	return list
}

func (d *decoder) filterGroups() [][]Filter {
	var list [][]Filter
	for a := d.array(); a.next(); {
		list = append(list, d.filters())
	}
	return list
}

// filter reads one of the three strict shapes (A13).
func (d *decoder) filter() (f Filter) {
	var value, values bool
	for o := d.object(&filterShape); o.next(); {
		switch o.name {
		case "field":
			f.Field = d.text()
		case "op":
			f.Op = oneOf(d, allOps)
		case "value":
			f.Value, value = d.scalar(), true
		case "values":
			f.Values, values = d.scalars(), true
		}
	}
	if !d.ok() {
		return f
	}
	switch f.Op.Shape() {
	case ShapeValue:
		if !value || values {
			d.fail("the operator " + string(f.Op) + " takes value, and no values")
		}
	case ShapeMember:
		if !values || value {
			d.fail("the operator " + string(f.Op) + " takes values, and no value")
		}
	case ShapeNullary:
		if value || values {
			d.fail("the operator " + string(f.Op) + " takes neither value nor values")
		}
	}
	return f
}

func (d *decoder) sort() []Sort {
	var list []Sort
	for a := d.array(); a.next(); {
		var key Sort
		for o := d.object(&sortShape); o.next(); {
			switch o.name {
			case "field":
				key.Field = d.text()
			case "dir":
				key.Dir = oneOf(d, allDirections)
			case "collate":
				key.Collate = d.boolean()
			}
		}
		list = append(list, key)
	}
	return list
}

// fields reads the projection. A row has every member once, so a field named
// twice is a fault (B5).
func (d *decoder) fields() []string {
	var list []string
	var seen nameSet
	for a := d.array(); a.next(); {
		name := d.text()
		if !seen.add(name) {
			d.fail("names a field that stands before; name every field once")
		}
		list = append(list, name)
	}
	return list
}

func (d *decoder) joins() []Join {
	var list []Join
	for a := d.array(); a.next(); {
		var hop Join
		for o := d.object(&joinShape); o.next(); {
			switch o.name {
			case "fromTable":
				hop.FromTable = d.text()
			case "toTable":
				hop.ToTable = d.text()
			case "fromField":
				hop.FromField = d.text()
			case "toField":
				hop.ToField = d.text()
			case "fields":
				hop.Fields = d.joinFields()
			}
		}
		list = append(list, hop)
	}
	return list
}

func (d *decoder) joinFields() []JoinField {
	var list []JoinField
	for a := d.array(); a.next(); {
		var f JoinField
		for o := d.object(&joinFieldShape); o.next(); {
			switch o.name {
			case "field":
				f.Field = d.text()
			case "as":
				f.As = d.label()
			case "type":
				f.Type = oneOf(d, allTypes)
			}
		}
		if f.As == "" {
			f.As = f.Field // B6
		}
		list = append(list, f)
	}
	return list
}

// checkJoins holds the hops to what they can be judged by without the source
// (B6): each starts where an earlier one ended, and no two columns of the
// rows share a name.
func (d *decoder) checkJoins(table string, fields []string, joins []Join) {
	if len(joins) == 0 || !d.ok() {
		return
	}
	var members, reached nameSet
	reached.add(table)
	for _, name := range fields {
		members.add(name)
	}
	for i, hop := range joins {
		if !reached.has(hop.FromTable) {
			d.failAt("must be the request's table or the toTable of an earlier hop", "joins", i, "fromTable")
		}
		reached.add(hop.ToTable)
		for j, f := range hop.Fields {
			if !members.add(f.As) {
				d.failAt("names a member that the rows already have; give every field an as of its own",
					"joins", i, "fields", j, "as")
			}
		}
	}
}

func (d *decoder) groupBy() []Group {
	var list []Group
	for a := d.array(); a.next(); {
		var g Group
		for o := d.object(&groupShape); o.next(); {
			switch o.name {
			case "field":
				g.Field = d.text()
			case "as":
				g.As = d.label()
			case "grain":
				g.Grain = oneOf(d, allGrains)
			}
		}
		list = append(list, g)
	}
	return list
}

func (d *decoder) measures() []Measure {
	var list []Measure
	for a := d.array(); a.next(); {
		var m Measure
		for o := d.object(&measureShape); o.next(); {
			switch o.name {
			case "fn":
				m.Fn = oneOf(d, allFns)
			case "field":
				m.Field = d.label()
			case "as":
				m.As = d.label()
			}
		}
		if d.ok() && m.Fn != FnCount && m.Field == "" {
			d.fail("field is missing; only a count goes without one") // E7
		}
		list = append(list, m)
	}
	return list
}

// checkAggregate asks for something to compute (E7), and for one name per
// column of the answer.
func (d *decoder) checkAggregate(r *AggregateRequest) {
	if !d.ok() {
		return
	}
	if len(r.GroupBy) == 0 && len(r.Measures) == 0 {
		d.fail("groupBy and measures are both empty; ask for at least one of them")
	}
	var members nameSet
	const clash = "names a member that the rows already have; give every group and measure an as of its own"
	for i, g := range r.GroupBy {
		if !members.add(g.As) {
			d.failAt(clash, "groupBy", i, "as")
		}
	}
	for i, m := range r.Measures {
		if !members.add(m.As) {
			d.failAt(clash, "measures", i, "as")
		}
	}
}
