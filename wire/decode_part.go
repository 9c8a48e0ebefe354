package wire

// The protocol's words, as a message may use them.
var (
	allOps = []Op{OpEq, OpNeq, OpGt, OpGte, OpLt, OpLte, OpIn, OpNin, OpContains, OpIncludes,
		OpStartsWith, OpIsNull, OpNotNull}
	allTypes = []Type{TypeString, TypeNumber, TypeDecimal, TypeBoolean, TypeDate, TypeDatetime,
		TypeJSON, TypeArray, TypeReference}
	allDirections = []Direction{Asc, Desc}
	allFns        = []Fn{FnCount, FnSum, FnMin, FnMax, FnCountDistinct}
	allGrains     = []Grain{GrainYear, GrainQuarter, GrainMonth, GrainDay}
)

// The members of what requests hold. Unknown ones are always refused (G5).
var (
	filterShape    = shape{required: []string{"field", "op"}, optional: []string{"value", "values"}}
	sortShape      = shape{required: []string{"field", "dir"}, optional: []string{"collate"}}
	joinShape      = shape{required: []string{"fromTable", "toTable", "fromField", "toField", "fields"}}
	joinFieldShape = shape{required: []string{"field"}, optional: []string{"as", "type"}}
	groupShape     = shape{required: []string{"field", "as"}, optional: []string{"grain"}}
	measureShape   = shape{required: []string{"fn", "as"}, optional: []string{"field"}}
)

func (d *decoder) filters() []Filter {
	var list []Filter
	for a := d.array(); a.next(); {
		list = append(list, d.filter())
	}
	return list
}

// filterGroups keeps an empty block apart from an absent one, so that it is
// encoded as it came.
func (d *decoder) filterGroups() [][]Filter {
	list := [][]Filter{}
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

func (d *decoder) sort() []SortKey {
	var list []SortKey
	for a := d.array(); a.next(); {
		var key SortKey
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

func (d *decoder) joins() []JoinHop {
	var list []JoinHop
	for a := d.array(); a.next(); {
		var hop JoinHop
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
func (d *decoder) checkJoins(table string, fields []string, joins []JoinHop) {
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

func (d *decoder) groupBy() []GroupKey {
	var list []GroupKey
	for a := d.array(); a.next(); {
		var g GroupKey
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
