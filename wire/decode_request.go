package wire

// The members of every request (E8). Unknown ones are refused where a dropped
// member could change which rows answer (G5).
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
