package wire

// QueryRequest is the body of /query in native mode.
//
// A connector.Source gets a connector.Query instead, which has no Limit
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

var queryRequest = newObject(
	required("table", func(m *QueryRequest) *string { return &m.Table }, text),
	where(func(m *QueryRequest) *Where { return &m.Where }),
	required("sort", func(m *QueryRequest) *[]SortKey { return &m.Sort }, list(sortKey.codec())),
	required("fields", func(m *QueryRequest) *[]string { return &m.Fields }, projection),
	optional("limit", func(m *QueryRequest) *int64 { return &m.Limit }, positive),
	optional("offset", func(m *QueryRequest) *int64 { return &m.Offset }, count),
	optional("joins", func(m *QueryRequest) *[]JoinHop { return &m.Joins }, joins),
	fieldTypes(func(m *QueryRequest) *Where { return &m.Where }),
	envelope(func(m *QueryRequest) *Envelope { return &m.Envelope }),
	optional("idleTimeoutMs", func(m *QueryRequest) *int64 { return &m.IdleTimeoutMS }, milliseconds),
	optional("maxTimeoutMs", func(m *QueryRequest) *int64 { return &m.MaxTimeoutMS }, milliseconds),
).checked(func(d *decoder, m *QueryRequest, _ uint32) { d.checkJoins(m.Table, m.Fields, m.Joins) })

func (m *QueryRequest) message(d *decoder, e *encoder) error { return process(queryRequest, m, d, e) }

// projection is the codec of the fields of a query. A row has every member
// once, so a duplicate is refused.
var projection = codec[[]string]{
	read: func(d *decoder, p *[]string) {
		var seen nameSet
		for a := d.array(); a.next(); {
			name := d.text()
			if !seen.add(name) {
				d.fail("duplicate field; name each field once")
			}
			*p = append(*p, name)
		}
	},
	write: texts.write,
}

// SQLRequest is the body of /query in dialect mode.
type SQLRequest struct {
	SQL    string
	Params []Value
	Envelope
	IdleTimeoutMS int64 // 0: none
	MaxTimeoutMS  int64 // 0: none
}

var sqlRequest = newObject(
	required("sql", func(m *SQLRequest) *string { return &m.SQL }, text),
	required("params", func(m *SQLRequest) *[]Value { return &m.Params }, operands),
	envelope(func(m *SQLRequest) *Envelope { return &m.Envelope }),
	optional("idleTimeoutMs", func(m *SQLRequest) *int64 { return &m.IdleTimeoutMS }, milliseconds),
	optional("maxTimeoutMs", func(m *SQLRequest) *int64 { return &m.MaxTimeoutMS }, milliseconds),
)

func (m *SQLRequest) message(d *decoder, e *encoder) error { return process(sqlRequest, m, d, e) }

// Served says which parts of a query the rows of the answer already obey: its
// filters, its sort, and its window, which is limit and offset. The platform
// does the rest itself. The zero value claims nothing, which is always safe.
type Served struct {
	Filters bool `json:"filters"`
	Sort    bool `json:"sort"`
	Window  bool `json:"window"`
}

// SortKey is one sort key. Collate asks for byte order, by which the library
// always sorts.
type SortKey struct {
	noJSON
	Field   string
	Dir     Direction
	Collate bool
}

var sortKey = newObject(
	required("field", func(m *SortKey) *string { return &m.Field }, text),
	required("dir", func(m *SortKey) *Direction { return &m.Dir }, oneOf(Asc, Desc)),
	optional("collate", func(m *SortKey) *bool { return &m.Collate }, boolean),
)

// JoinHop is one hop of a LEFT join.
type JoinHop struct {
	noJSON
	FromTable string // the base table, or the ToTable of an earlier hop
	ToTable   string
	FromField string
	ToField   string
	Fields    []JoinField
}

var joinHop = newObject(
	required("fromTable", func(m *JoinHop) *string { return &m.FromTable }, text),
	required("toTable", func(m *JoinHop) *string { return &m.ToTable }, text),
	required("fromField", func(m *JoinHop) *string { return &m.FromField }, text),
	required("toField", func(m *JoinHop) *string { return &m.ToField }, text),
	required("fields", func(m *JoinHop) *[]JoinField { return &m.Fields }, list(joinField.codec())),
)

var joins = list(joinHop.codec())

// JoinField is one column that a hop adds to the rows.
type JoinField struct {
	noJSON
	Field string
	As    string // the row member; the decoder fills it with Field when absent
	Type  Type   // may be empty
}

var joinField = newObject(
	required("field", func(m *JoinField) *string { return &m.Field }, text),
	optional("as", func(m *JoinField) *string { return &m.As }, label),
	optional("type", func(m *JoinField) *Type { return &m.Type }, fieldType),
).checked(func(_ *decoder, m *JoinField, _ uint32) {
	if m.As == "" {
		m.As = m.Field
	}
})

const duplicateColumn = "names a member that the rows already have; give every column an as of its own"

// checkJoins refuses joins that are wrong whatever the source holds: a hop that
// does not start at the table or where an earlier hop ended, and two columns of
// the same name.
func (d *decoder) checkJoins(table string, fields []string, joins []JoinHop) {
	if len(joins) == 0 || !d.ok() {
		return
	}
	var columns, reached nameSet
	reached.add(table)
	for _, name := range fields {
		columns.add(name)
	}
	for i, hop := range joins {
		if !reached.has(hop.FromTable) {
			d.failAt("must be the request's table or the toTable of an earlier hop", "joins", i, "fromTable")
		}
		reached.add(hop.ToTable)
		for j, f := range hop.Fields {
			if !columns.add(f.As) {
				d.failAt(duplicateColumn, "joins", i, "fields", j, "as")
			}
		}
	}
}
