package live

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// otherSpelling is another spelling of a day or an instant, and how connectors are known to misread it.
type otherSpelling struct {
	kind    wire.Type
	op      wire.Op // that it is asked with, if the document declares it
	spell   func(text string) string
	misread func(wire.Filter) wire.Filter // nil: by its bytes
}

var otherSpellings = []otherSpelling{
	{wire.TypeDatetime, wire.OpEq, withOffset(-5*time.Hour - 30*time.Minute), withoutOffset},
	{wire.TypeDatetime, wire.OpGte, withOffset(2 * time.Hour), withoutOffset},
	{wire.TypeDatetime, wire.OpEq, func(text string) string { return strings.TrimSuffix(text, "Z") },
		respelt(func(text string) string { return text + "+02:00" })},
	{wire.TypeDatetime, wire.OpIn, withOffset(2 * time.Hour), withoutOffset},
	{wire.TypeDatetime, wire.OpEq, func(text string) string {
		if strings.Contains(text, ".") {
			return strings.Replace(text, "Z", "000Z", 1)
		}
		return strings.Replace(text, "Z", ".000Z", 1)
	}, nil},
	{wire.TypeDatetime, wire.OpLt, withOffset(2 * time.Hour), withoutOffset},
	{wire.TypeDate, wire.OpEq, func(text string) string { return text + "T00:00:00Z" }, nil},
}

// withOffset returns the spelling of an instant by the time of day at an offset from UTC.
func withOffset(offset time.Duration) func(string) string {
	zone := time.FixedZone("", int(offset.Seconds()))
	return func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return at.In(zone).Format(time.RFC3339Nano)
	}
}

// withoutOffset takes operands for times of day in UTC.
var withoutOffset = respelt(func(text string) string {
	if end := len(text) - len("+00:00"); end > 0 && (text[end] == '+' || text[end] == '-') {
		return text[:end] + "Z"
	}
	return text
})

// respelt returns the change of the operands of a filter.
func respelt(change func(string) string) func(wire.Filter) wire.Filter {
	return func(f wire.Filter) wire.Filter {
		f, _ = exam.Respelt(f, func(v wire.Value) wire.Value { return wire.Text(change(v.Text())) })
		return f
	}
}

// operandsRead asks for days and instants in spellings that the rows do not have. Each table begins with another.
func operandsRead(p *liveRun) *check.Finding {
	tables := 0
	return inTurn(1, func(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
		data = firstRows(data, chosenBy)
		for n := range otherSpellings {
			s := otherSpellings[(n+tables)%len(otherSpellings)]
			for i, field := range t.Fields {
				if f, ok := p.misreadable(data, i, s); ok && terms.Allowed(field.Filterable) {
					list = append(list, about(t, 1, func(rows *oracle.Table) *check.Finding { return p.operandRead(t, rows, f) }))
				}
			}
		}
		if len(list) > 0 {
			tables++
		}
		return list
	})(p)
}

// misreadable returns a filter on a column by a value in another spelling, of which most rows show that it is misread.
func (p *liveRun) misreadable(data *oracle.Table, column int, s otherSpelling) (f wire.Filter, ok bool) {
	const values = 8
	kind, most := data.Columns[column].Type, 0
	for _, op := range []wire.Op{s.op, wire.OpEq, wire.OpIn, wire.OpGte, wire.OpLt, wire.OpGt, wire.OpLte} {
		if !p.Document.Declares(op) || most > 0 || kind != s.kind {
			continue
		}
		for _, v := range p.sample(data, column, values) {
			other := s.spell(v.Text())
			candidate := filterOf(data.Columns[column].Name, op, wire.Text(other))
			wrong := oracle.Reading{DatesAsText: true}.Matcher(candidate, kind)
			if s.misread != nil {
				wrong = oracle.Reading{}.Matcher(s.misread(candidate), kind)
			}
			right, differ := oracle.Reading{}.Matcher(candidate, kind), 0
			for _, row := range data.Rows {
				if right(row[column]) != wrong(row[column]) {
					differ++
				}
			}
			if differ > most && oracle.IsInstant(other) {
				f, most = candidate, differ
			}
		}
	}
	return f, most > 0
}

// operandRead judges the answer to a filter by an instant. It may be refused, but is never misread.
func (p *liveRun) operandRead(t *wire.Table, rows *oracle.Table, f wire.Filter) *check.Finding {
	req := rowsWith(t, and(f))
	st, final, finding := p.ask(t, req)
	p.Cases++
	switch {
	case refused(st.Answer, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}):
		return nil
	case finding != nil || final == nil:
		return finding
	}
	operand := append(slices.Clone(f.Values), f.Value)[0]
	what := fmt.Sprintf("%s%s %s", ofTable(t), describeFilters(req.Where), message.Cell(operand, 100))
	return differs(what, compare.Strictly.Rows(oracle.Tables{t.Name: rows}, req, final.Rows))
}
