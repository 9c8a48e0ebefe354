package wire

import "cmp"

func (m *Document) encodeAnswer(e *encoder) {
	e.open('{')
	e.name("protocolVersion")
	e.int(int64(m.ProtocolVersion))
	e.text("slug", m.Slug)
	e.optional("dialect", m.Dialect)
	e.name("capabilities")
	e.capabilities(m.Capabilities)
	list(e, "credentialSchema", m.CredentialSchema, e.credentialField)
	list(e, "endpoints", m.Endpoints, func(p Endpoint) { e.string(string(p)) })
	e.close('}')
}

func (e *encoder) capabilities(c Capabilities) {
	e.open('{')
	list(e, "operators", c.Operators, func(op Op) { e.string(string(op)) })
	e.flag("dateBucket", c.DateBucket)
	e.text("sort", string(c.Sort))
	e.flag("offset", c.Offset)
	e.flag("join", c.Join)
	e.flag("keysEnforced", c.KeysEnforced)
	e.name("limits")
	e.open('{')
	e.positive("pageSizeMax", c.Limits.PageSizeMax)
	e.positive("rowsPerTableMax", c.Limits.RowsPerTableMax)
	e.positive("concurrency", int64(c.Limits.Concurrency))
	e.positive("offsetMax", c.Limits.OffsetMax)
	e.close('}')
	e.close('}')
}

func (e *encoder) credentialField(c CredentialField) {
	e.open('{')
	e.text("key", c.Key)
	e.text("label", c.Label)
	e.text("type", string(c.Type))
	e.flag("required", !c.Optional)
	e.optional("placeholder", c.Placeholder)
	e.optional("help", c.Help)
	e.close('}')
}

func (m *CheckAnswer) encodeAnswer(e *encoder) {
	e.open('{')
	e.flag("ok", m.OK)
	if !m.OK {
		e.fail("must be true; a rejection is an error envelope")
	}
	e.close('}')
}

func (m *Discovery) encodeAnswer(e *encoder) {
	e.open('{')
	list(e, "tables", m.Tables, e.table)
	if len(m.Warnings) > 0 {
		list(e, "warnings", m.Warnings, e.string)
	}
	e.close('}')
}

func (e *encoder) table(t Table) {
	e.open('{')
	e.text("name", t.Name)
	e.text("sourceDescription", t.SourceDescription)
	if t.RowCount != nil {
		e.name("rowCount")
		e.int(*t.RowCount)
	}
	e.flag("storesRows", t.StoresRows)
	list(e, "primaryKey", t.PrimaryKey, e.string)
	list(e, "foreignKeys", t.ForeignKeys, e.foreignKey)
	list(e, "fields", t.Fields, e.field)
	e.close('}')
}

func (e *encoder) foreignKey(k ForeignKey) {
	e.open('{')
	e.text("field", k.Field)
	e.text("targetTable", k.TargetTable)
	e.text("targetField", k.TargetField)
	e.close('}')
}

func (e *encoder) field(f Field) {
	e.open('{')
	e.text("name", f.Name)
	e.text("sourceColumn", cmp.Or(f.SourceColumn, f.Name))
	e.text("type", string(f.Type))
	e.flag("nullable", f.Nullable)
	e.flag("unique", f.Unique)
	list(e, "samples", f.Samples, e.value)
	e.text("sourceDescription", f.SourceDescription)
	if f.Stats != nil {
		e.name("stats")
		e.stats(f.Stats)
	}
	e.known("filterable", f.Filterable)
	e.known("groupable", f.Groupable)
	e.known("aggregatable", f.Aggregatable)
	e.close('}')
}

// known writes a flag unless it is nil.
func (e *encoder) known(name string, b *bool) {
	if b != nil {
		e.flag(name, *b)
	}
}

func (e *encoder) stats(s *Stats) {
	e.open('{')
	if s.NullPercent != nil {
		e.name("nullPercent")
		e.number(*s.NullPercent)
	}
	e.name("distinctCount")
	e.int(s.DistinctCount)
	if s.Min != nil {
		e.name("min")
		e.value(*s.Min)
	}
	if s.Max != nil {
		e.name("max")
		e.value(*s.Max)
	}
	e.close('}')
}

func (m *CountAnswer) encodeAnswer(e *encoder) {
	e.open('{')
	e.name("count")
	e.int(m.Count)
	e.close('}')
}

func (m *AggregateAnswer) encodeAnswer(e *encoder) {
	e.open('{')
	list(e, "rows", m.Rows, func(row map[string]Value) { sorted(e, row, e.value) })
	e.close('}')
}

func (m *SizeAnswer) encodeAnswer(e *encoder) {
	e.open('{')
	e.name("size")
	if m.Size == nil {
		e.null()
	} else {
		e.open('{')
		e.name("rows")
		e.int(m.Size.Rows)
		e.flag("exact", m.Size.Exact)
		e.close('}')
	}
	e.close('}')
}

func (m *CardinalityAnswer) encodeAnswer(e *encoder) {
	e.open('{')
	e.name("columns")
	sorted(e, m.Columns, func(c *Cardinality) {
		if c == nil {
			e.null()
			return
		}
		e.open('{')
		e.name("nonNull")
		e.int(c.NonNull)
		e.name("distinct")
		e.int(c.Distinct)
		e.close('}')
	})
	e.close('}')
}

func (m *LinkHitRate) encodeAnswer(e *encoder) {
	e.open('{')
	e.name("fromNonNull")
	e.int(m.FromNonNull)
	e.name("orphanCount")
	e.int(m.OrphanCount)
	e.name("orphanRate")
	e.number(m.OrphanRate)
	list(e, "orphanSamples", m.OrphanSamples, e.string)
	e.close('}')
}

func (m *ErrorAnswer) encodeAnswer(e *encoder) {
	e.open('{')
	e.name("error")
	e.open('{')
	e.text("code", string(m.Error.Code))
	e.text("message", m.Error.Message)
	e.close('}')
	e.close('}')
}
