package live

import (
	"fmt"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// declaredTypesHold judges that wrong fieldTypes change no answer: filters and sorts on a
// column that discovery gives a type compare by that type.
func declaredTypesHold(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	// Nothing says that contradicting types are accepted.
	refusals := []int{http.StatusBadRequest, http.StatusUnprocessableEntity}
	data = firstRows(data, maxRetyped)
	for i, f := range t.Fields {
		filter, ok := p.typeDependent(data, i)
		if !ok || !terms.Allowed(f.Filterable) {
			continue
		}
		wrong := wrongType(f.Type)
		where := wire.Where{And: []wire.Filter{filter}, FieldTypes: map[string]wire.Type{f.Name: wrong}}
		what := fmt.Sprintf("%s: %s %s, where discovery declares %s and fieldTypes says %s",
			ofTable(t), terms.QuoteName(f.Name), filter.Op, f.Type, wrong)
		list = append(list, p.asking(wire.PathQuery, rowsWith(t, where), what, []*wire.Table{t}, refusals...))
		if p.Document.Offers(wire.PathCount) {
			count := &wire.CountRequest{Table: t.Name, Where: where}
			list = append(list, p.asking(wire.PathCount, count, what, []*wire.Table{t}, refusals...))
		}
	}
	return list
}

// maxRetyped is how many rows are compared under two types to find a telling filter.
const maxRetyped = 300

// wrongType returns a type that compares a column's values otherwise.
func wrongType(declared wire.Type) wire.Type {
	if declared.Numeric() {
		return wire.TypeString
	}
	return wire.TypeNumber
}

// typeDependent returns a filter with a declared operator on a column of numbers or text
// that keeps other rows under the wrong type.
func (p *liveRun) typeDependent(data *oracle.Table, column int) (f wire.Filter, ok bool) {
	kind := data.Columns[column].Type
	if !terms.IsText(kind) && !kind.Numeric() {
		return f, false
	}
	most := 0
	for _, v := range p.sample(data, column, 4) {
		for _, op := range []wire.Op{wire.OpLt, wire.OpGte, wire.OpLte, wire.OpGt, wire.OpEq, wire.OpIn} {
			if !p.Document.Declares(op) {
				continue
			}
			candidate := filterOf(data.Columns[column].Name, op, v)
			differ, reading := 0, oracle.Reading{}
			right, wrong := reading.Matcher(candidate, kind), reading.Matcher(candidate, wrongType(kind))
			for _, row := range data.Rows {
				if right(row[column]) != wrong(row[column]) {
					differ++
				}
			}
			if differ > most {
				f, most = candidate, differ
			}
		}
	}
	return f, most > 0
}
