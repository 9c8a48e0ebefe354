package conformance

import (
	"cmp"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ordinary are a tenant's tables that hold rows, without the corpus's table
// slow: who reads that one waits.
func (x *exam) ordinary(tenant int) (list []*wire.Table) {
	d := x.discovery(tenant)
	for i := range d.Tables {
		if t := &d.Tables[i]; t.StoresRows && !slowTable(t) {
			list = append(list, t)
		}
	}
	return list
}

// slowTable tells whether a table is the one whose rows stall (corpus.Slow): by
// its name and its shape, since anybody may have a table called slow.
func slowTable(t *wire.Table) bool {
	slow := corpus.Slow()
	if t.Name != slow.Name || !slices.Equal(t.PrimaryKey, slow.PrimaryKey) || len(t.Fields) != len(slow.Fields) {
		return false
	}
	for i, f := range slow.Fields {
		if t.Fields[i].Name != f.Name || t.Fields[i].Type != f.Type {
			return false
		}
	}
	return true
}

// subjects are the tables that laws are exercised on, those first that exercise
// most for least: with keys, of many types, and small. Tables that cannot be
// read are another check's fault and left out.
func (l *law) subjects() (list []*wire.Table) {
	all := l.ordinary(0)
	score := func(t *wire.Table) int {
		types := map[wire.Type]bool{}
		for _, f := range t.Fields {
			types[f.Type] = true
		}
		points := 2*len(types) + 2*min(len(t.ForeignKeys), 2)
		if len(t.PrimaryKey) > 0 {
			points += 4
		}
		if t.RowCount != nil && *t.RowCount > int64(l.Rows)/10 {
			points -= 8
		}
		return points
	}
	slices.SortStableFunc(all, func(a, b *wire.Table) int { return cmp.Compare(score(b), score(a)) })
	var unread *snapshot
	for _, t := range all {
		if len(t.Fields) == 0 {
			continue
		}
		if snap := l.snapshot(0, t); snap.by != "" {
			unread = cmp.Or(unread, snap)
			continue
		}
		if list = append(list, t); len(list) == lawTables {
			return list
		}
	}
	if len(list) == 0 && unread != nil {
		l.blocked(unread.by, unread.why)
	}
	return list
}

// whole are the subjects that were read whole and have rows.
func (l *law) whole() (list []*wire.Table) {
	for _, t := range l.subjects() {
		if data := l.table(t); data != nil && len(data.Rows) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// data is a subject's rows: all, or where it is too large some.
func (l *law) data(t *wire.Table) (rows *oracle.Table, whole bool) {
	if rows = l.table(t); rows != nil {
		return rows, true
	}
	return l.window(t), false
}

// spot is a column that a law is exercised on.
type spot struct {
	table  *wire.Table
	column int // the same in the table's fields and its rows
}

func (s spot) field() *wire.Field { return &s.table.Fields[s.column] }

// spots are columns of the subjects, at most so many of each type, and those
// first whose values differ and that have nulls. A column that discovery calls
// not filterable is left out, and so is one whose values compare one way under
// one reading of the protocol and another way under another.
func (l *law) spots(tables []*wire.Table, each int) []spot {
	type candidate struct {
		spot
		points int
	}
	byType := map[wire.Type][]candidate{}
	var types []wire.Type
	for _, t := range tables {
		rows, _ := l.data(t)
		for i, f := range t.Fields {
			if f.Filterable != nil && !*f.Filterable || !settled(rows, i) {
				continue
			}
			c := candidate{spot: spot{t, i}}
			distinct, nulls := variety(few(rows), i)
			if distinct == 0 {
				continue
			}
			if distinct > 1 {
				c.points += 2
			}
			if nulls {
				c.points++
			}
			if byType[f.Type] == nil {
				types = append(types, f.Type)
			}
			byType[f.Type] = append(byType[f.Type], c)
		}
	}
	var list []spot
	for _, kind := range types {
		best := byType[kind]
		slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(b.points, a.points) })
		for _, c := range best[:min(each, len(best))] {
			list = append(list, c.spot)
		}
	}
	return list
}

// variety is how many values a column has, counted up to two, and whether it
// has a null.
func variety(t *oracle.Table, column int) (distinct int, nulls bool) {
	first := ""
	for _, row := range t.Rows {
		switch v := row[column]; {
		case v.IsNull():
			nulls = true
		case distinct == 0:
			first, distinct = v.String(), 1
		case v.String() != first:
			distinct = 2
		}
	}
	return distinct, nulls
}

// settled tells whether all readings order a column's values alike. Dates and
// datetimes compare as instants (A9) or as bytes, which is the same where all
// are spelled in one way.
func settled(t *oracle.Table, column int) bool {
	if kind := t.Columns[column].Type; kind != wire.TypeDate && kind != wire.TypeDatetime {
		return true
	}
	first := ""
	for _, row := range t.Rows {
		v := row[column]
		switch {
		case v.IsNull():
		case first == "":
			if first = outline(v.String()); !isInstant(v) {
				return false
			}
		case outline(v.String()) != first:
			return false
		}
	}
	return true
}
