package wire

var (
	allEndpoints       = []Endpoint{EndpointSize, EndpointCount, EndpointAggregate, EndpointCardinality, EndpointLinkHitRate}
	allSortSupports    = []SortSupport{SortNone, SortSingle, SortMulti}
	allCredentialTypes = []CredentialType{CredentialText, CredentialPassword, CredentialTextarea}
)

// The members of every answer and of the document. Only the document has
// strangers, at its top level (H3).
var (
	documentShape = shape{
		required: []string{"protocolVersion", "slug", "capabilities", "credentialSchema", "endpoints"},
		optional: []string{"dialect"},
		lax:      true,
	}
	capabilitiesShape = shape{required: []string{"operators", "dateBucket", "sort", "offset", "join", "keysEnforced", "limits"}}
	limitsShape       = shape{optional: []string{"pageSizeMax", "rowsPerTableMax", "concurrency", "offsetMax"}}
	credentialShape   = shape{
		required: []string{"key", "label", "type"},
		optional: []string{"required", "placeholder", "help"},
	}

	checkAnswerShape = shape{required: []string{"ok"}}
	discoveryShape   = shape{required: []string{"tables"}, optional: []string{"warnings"}}
	tableShape       = shape{
		required: []string{"name", "sourceDescription", "storesRows", "primaryKey", "foreignKeys", "fields"},
		optional: []string{"rowCount"},
	}
	foreignKeyShape = shape{required: []string{"field", "targetTable", "targetField"}}
	fieldShape      = shape{
		required: []string{"name", "sourceColumn", "type", "nullable", "unique", "samples", "sourceDescription"},
		optional: []string{"stats", "filterable", "groupable", "aggregatable"},
	}
	statsShape             = shape{required: []string{"distinctCount"}, optional: []string{"nullPercent", "min", "max"}}
	countAnswerShape       = shape{required: []string{"count"}}
	aggregateAnswerShape   = shape{required: []string{"rows"}}
	sizeAnswerShape        = shape{required: []string{"size"}}
	sizeShape              = shape{required: []string{"rows", "exact"}}
	cardinalityAnswerShape = shape{required: []string{"columns"}}
	cardinalityShape       = shape{required: []string{"nonNull", "distinct"}}
	linkHitRateShape       = shape{required: []string{"fromNonNull", "orphanCount", "orphanRate", "orphanSamples"}}
	errorAnswerShape       = shape{required: []string{"error"}}
	errorShape             = shape{required: []string{"code", "message"}}
)

func (m *Document) decode(d *decoder) {
	var r Document
	for o := d.object(&documentShape); o.next(); {
		switch o.name {
		case "protocolVersion":
			r.ProtocolVersion = int(d.integer(ProtocolVersion, ProtocolVersion))
		case "slug":
			if r.Slug = d.text(); d.ok() && !IsSlug(r.Slug) {
				d.fail("must match ^[a-z][a-z0-9-]{2,39}$")
			}
		case "dialect":
			r.Dialect = d.text()
		case "capabilities":
			r.Capabilities = d.capabilities()
		case "credentialSchema":
			for a := d.array(); a.next(); {
				r.CredentialSchema = append(r.CredentialSchema, d.credentialField())
			}
		case "endpoints":
			for a := d.array(); a.next(); {
				r.Endpoints = append(r.Endpoints, oneOf(d, allEndpoints))
			}
		}
	}
	if d.end() {
		*m = r
	}
}

func (d *decoder) capabilities() (c Capabilities) {
	for o := d.object(&capabilitiesShape); o.next(); {
		switch o.name {
		case "operators":
			for a := d.array(); a.next(); {
				c.Operators = append(c.Operators, oneOf(d, allOps))
			}
		case "dateBucket":
			c.DateBucket = d.boolean()
		case "sort":
			c.Sort = oneOf(d, allSortSupports)
		case "offset":
			c.Offset = d.boolean()
		case "join":
			c.Join = d.boolean()
		case "keysEnforced":
			c.KeysEnforced = d.boolean()
		case "limits":
			c.Limits = d.limits()
		}
	}
	return c
}

// limits reads the ceilings, of which none need be known. No rows at a time,
// or at all, is no ceiling a source can have; an offset of at most 0 is.
func (d *decoder) limits() (l Limits) {
	for o := d.object(&limitsShape); o.next(); {
		switch o.name {
		case "pageSizeMax":
			l.PageSizeMax = d.integer(1, MaxSafeInteger)
		case "rowsPerTableMax":
			l.RowsPerTableMax = d.integer(1, MaxSafeInteger)
		case "concurrency":
			l.Concurrency = int(d.integer(MinConcurrency, MaxConcurrency))
		case "offsetMax":
			l.OffsetMax = d.count()
		}
	}
	return l
}

func (d *decoder) credentialField() CredentialField {
	var c CredentialField
	for o := d.object(&credentialShape); o.next(); {
		switch o.name {
		case "key":
			c.Key = d.text()
		case "label":
			c.Label = d.text()
		case "type":
			c.Type = oneOf(d, allCredentialTypes)
		case "required":
			c.Optional = !d.boolean()
		case "placeholder":
			c.Placeholder = d.text()
		case "help":
			c.Help = d.text()
		}
	}
	return c
}

func (m *CheckAnswer) decode(d *decoder) {
	var r CheckAnswer
	for o := d.object(&checkAnswerShape); o.next(); {
		if r.OK = d.boolean(); d.ok() && !r.OK {
			d.fail("must be true; a rejection is an error envelope")
		}
	}
	if d.end() {
		*m = r
	}
}

func (m *Discovery) decode(d *decoder) {
	var r Discovery
	for o := d.object(&discoveryShape); o.next(); {
		switch o.name {
		case "tables":
			for a := d.array(); a.next(); {
				r.Tables = append(r.Tables, d.table())
			}
		case "warnings":
			r.Warnings = d.texts()
		}
	}
	if d.end() {
		*m = r
	}
}

func (d *decoder) table() (t Table) {
	for o := d.object(&tableShape); o.next(); {
		switch o.name {
		case "name":
			t.Name = d.text()
		case "sourceDescription":
			t.SourceDescription = d.text()
		case "rowCount":
			n := d.count()
			t.RowCount = &n
		case "storesRows":
			t.StoresRows = d.boolean()
		case "primaryKey":
			t.PrimaryKey = d.texts()
		case "foreignKeys":
			for a := d.array(); a.next(); {
				t.ForeignKeys = append(t.ForeignKeys, d.foreignKey())
			}
		case "fields":
			for a := d.array(); a.next(); {
				t.Fields = append(t.Fields, d.field())
			}
		}
	}
	return t
}

func (d *decoder) foreignKey() (k ForeignKey) {
	for o := d.object(&foreignKeyShape); o.next(); {
		switch o.name {
		case "field":
			k.Field = d.text()
		case "targetTable":
			k.TargetTable = d.text()
		case "targetField":
			k.TargetField = d.text()
		}
	}
	return k
}

func (d *decoder) field() (f Field) {
	for o := d.object(&fieldShape); o.next(); {
		switch o.name {
		case "name":
			f.Name = d.text()
		case "sourceColumn":
			f.SourceColumn = d.text()
		case "type":
			f.Type = oneOf(d, allTypes)
		case "nullable":
			f.Nullable = d.boolean()
		case "unique":
			f.Unique = d.boolean()
		case "samples":
			f.Samples = d.scalars()
		case "sourceDescription":
			f.SourceDescription = d.text()
		case "stats":
			f.Stats = d.stats()
		case "filterable":
			f.Filterable = d.flag()
		case "groupable":
			f.Groupable = d.flag()
		case "aggregatable":
			f.Aggregatable = d.flag()
		}
	}
	return f
}

func (d *decoder) flag() *bool {
	b := d.boolean()
	return &b
}

func (d *decoder) stats() *Stats {
	s := new(Stats)
	for o := d.object(&statsShape); o.next(); {
		switch o.name {
		case "nullPercent":
			p := d.number(0, 100)
			s.NullPercent = &p
		case "distinctCount":
			s.DistinctCount = d.count()
		case "min":
			v := d.scalar()
			s.Min = &v
		case "max":
			v := d.scalar()
			s.Max = &v
		}
	}
	return s
}

// count reads a number of rows or values.
func (d *decoder) count() int64 { return d.integer(0, MaxSafeInteger) }

func (m *CountAnswer) decode(d *decoder) {
	var r CountAnswer
	for o := d.object(&countAnswerShape); o.next(); {
		r.Count = d.count()
	}
	if d.end() {
		*m = r
	}
}

func (m *AggregateAnswer) decode(d *decoder) {
	var r AggregateAnswer
	for o := d.object(&aggregateAnswerShape); o.next(); {
		for a := d.array(); a.next(); {
			row := make(map[string]Value)
			e := d.entries()
			for e.next() {
				row[e.name] = d.scalar()
			}
			r.Rows = append(r.Rows, row)
		}
	}
	if d.end() {
		*m = r
	}
}

func (m *SizeAnswer) decode(d *decoder) {
	var r SizeAnswer
	for o := d.object(&sizeAnswerShape); o.next(); {
		if !d.null() {
			r.Size = d.size()
		}
	}
	if d.end() {
		*m = r
	}
}

// null reads a null if one stands here.
func (d *decoder) null() bool {
	if d.s.Peek() != 'n' {
		return false
	}
	d.s.Literal("null")
	return true
}

func (d *decoder) size() *Size {
	s := new(Size)
	for o := d.object(&sizeShape); o.next(); {
		switch o.name {
		case "rows":
			s.Rows = d.count()
		case "exact":
			s.Exact = d.boolean()
		}
	}
	return s
}

func (m *CardinalityAnswer) decode(d *decoder) {
	r := CardinalityAnswer{Columns: make(map[string]*Cardinality)}
	for o := d.object(&cardinalityAnswerShape); o.next(); {
		e := d.entries()
		for e.next() {
			var c *Cardinality
			if !d.null() {
				c = d.cardinality()
			}
			r.Columns[e.name] = c
		}
	}
	if d.end() {
		*m = r
	}
}

func (d *decoder) cardinality() *Cardinality {
	c := new(Cardinality)
	for o := d.object(&cardinalityShape); o.next(); {
		switch o.name {
		case "nonNull":
			c.NonNull = d.count()
		case "distinct":
			c.Distinct = d.count()
		}
	}
	return c
}

func (m *LinkHitRate) decode(d *decoder) {
	var r LinkHitRate
	for o := d.object(&linkHitRateShape); o.next(); {
		switch o.name {
		case "fromNonNull":
			r.FromNonNull = d.count()
		case "orphanCount":
			r.OrphanCount = d.count()
		case "orphanRate":
			r.OrphanRate = d.number(0, 1)
		case "orphanSamples":
			if r.OrphanSamples = d.texts(); len(r.OrphanSamples) > MaxOrphanSamples {
				d.fail("must hold at most 20 samples")
			}
		}
	}
	if d.end() {
		*m = r
	}
}

func (m *ErrorAnswer) decode(d *decoder) {
	var r ErrorAnswer
	for o := d.object(&errorAnswerShape); o.next(); {
		for o := d.object(&errorShape); o.next(); {
			switch o.name {
			case "code":
				r.Error.Code = Code(d.text())
			case "message":
				r.Error.Message = d.text()
			}
		}
	}
	if d.end() {
		*m = r
	}
}

// IsSlug reports whether s is a legal slug: ^[a-z][a-z0-9-]{2,39}$ (protocol,
// Capability document).
func IsSlug(s string) bool {
	if len(s) < 3 || len(s) > 40 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
