package connectortest

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// checkAggregate computes the aggregate from the rows and compares the answer
// with the result. It accepts any value where no rule fixes one, such as the sum
// of a column with other text than numbers.
func checkAggregate(p *snapshot, req *wire.AggregateRequest, got []map[string]wire.Value) error {
	f, err := foldRows(p, req)
	if err != nil {
		return err
	}
	if int64(len(f.groups)) >= req.Limit {
		return &violation{"aggregate-6", fmt.Sprintf("there are %d groups, and the limit is %d", len(f.groups), req.Limit),
			"422 unsupported, or 204", fmt.Sprintf("%d groups", len(got))}
	}
	seen := map[string]bool{}
	for i, row := range got {
		if len(row) != len(f.keys)+len(f.measures) {
			return &violation{"aggregate-11", fmt.Sprintf("row %d has other members than were asked for", i),
				fmt.Sprintf("%d members", len(f.keys)+len(f.measures)), fmt.Sprintf("%d", len(row))}
		}
		if err := f.checkGroup(row, seen); err != nil {
			return err
		}
	}
	var missing []string
	for _, g := range f.groups {
		if !seen[g.key] {
			missing = append(missing, spellRow(f.names, g.first))
		}
	}
	if missing != nil {
		rule := "aggregate-6"
		if slices.ContainsFunc(f.groups, func(g *foldedGroup) bool {
			return !seen[g.key] && slices.ContainsFunc(g.first, wire.Value.IsNull)
		}) || len(f.keys) == 0 {
			rule = "aggregate-3"
		}
		return &violation{rule, fmt.Sprintf("%d of %d groups are missing", len(missing), len(f.groups)),
			listing(missing, "groups"), fmt.Sprintf("%d groups", len(got))}
	}
	return nil
}

// folding is an aggregate computed from rows.
type folding struct {
	names    []string // of the keys
	keys     []foldedKey
	measures []foldedMeasure
	groups   []*foldedGroup
	byKey    map[string]*foldedGroup
}

type foldedKey struct {
	as    string
	at    int
	typ   wire.Type
	grain wire.Grain
}

type foldedMeasure struct {
	wire.Measure
	at  int // -1: rows are counted
	typ wire.Type
}

type foldedGroup struct {
	key     string
	first   []wire.Value      // its keys, as its first row has them
	spelled []map[string]bool // every spelling of each key
	rows    [][]wire.Value
}

func foldRows(p *snapshot, req *wire.AggregateRequest) (*folding, error) {
	base, err := p.need(req.Table)
	if err != nil {
		return nil, err
	}
	if err := checkFilters(base, req.Where); err != nil {
		return nil, err
	}
	all, err := join(p, base, req.Joins)
	if err != nil {
		return nil, err
	}
	f := &folding{byKey: map[string]*foldedGroup{}}
	if err := f.resolve(p, base, all, req); err != nil {
		return nil, err
	}
	match, err := filter.Compile(req.Where, all.columns)
	if err != nil {
		return nil, refuse("filter-14", err.Error(), wire.CodeBadRequest)
	}
	if len(f.keys) == 0 {
		f.group("", nil) // exactly one row, even over no rows
	}
	for _, row := range all.rows {
		if !match.Match(row) {
			continue
		}
		cells := make([]wire.Value, len(f.keys))
		var key []byte
		for i, k := range f.keys {
			if cells[i], err = k.value(row[k.at]); err != nil {
				return nil, err
			}
			key = filter.AppendKey(key, cells[i], k.typ)
		}
		g := f.group(string(key), cells)
		g.rows = append(g.rows, row)
		for i, cell := range cells {
			g.spelled[i][spell(cell)] = true
		}
	}
	return f, nil
}

// resolve finds the columns of the keys and measures: those of the base table,
// otherwise those that a hop adds.
func (f *folding) resolve(p *snapshot, base *reading, all *relation, req *wire.AggregateRequest) error {
	find := func(name string, flag func(*wire.Field) *bool) (int, error) {
		found := -1
		for at, c := range all.columns {
			if c.Name != name {
				continue
			}
			if found >= 0 {
				return 0, unverifiable(fmt.Sprintf("%q names several columns", name))
			}
			found = at
		}
		if found < 0 {
			return 0, refuse("filter-11a", fmt.Sprintf("a group or measure over %q, which the table does not have", name),
				wire.CodeUnknownEntity)
		}
		if field := base.table.Field(name); field != nil && is(flag(field), false) {
			return 0, &violation{"aggregate-7a", fmt.Sprintf("discovery calls %q not groupable or not aggregatable", name),
				"204", "an answer"}
		}
		return found, nil
	}
	for _, g := range req.GroupBy {
		if g.Grain != "" && !p.doc.Capabilities.DateBucket {
			return refuse("aggregate-4a", "a grain, and capabilities.dateBucket is false", wire.CodeUnsupported)
		}
		at, err := find(g.Field, func(f *wire.Field) *bool { return f.Groupable })
		if err != nil {
			return err
		}
		k := foldedKey{g.As, at, all.columns[at].Type, g.Grain}
		if g.Grain != "" {
			k.typ = wire.TypeDate
		}
		f.keys = append(f.keys, k)
		f.names = append(f.names, g.As)
	}
	for _, m := range req.Measures {
		k := foldedMeasure{Measure: m, at: -1}
		if m.Field != "" {
			var err error
			if k.at, err = find(m.Field, func(f *wire.Field) *bool { return f.Aggregatable }); err != nil {
				return err
			}
			k.typ = all.columns[k.at].Type
		}
		f.measures = append(f.measures, k)
	}
	return nil
}

func (f *folding) group(key string, cells []wire.Value) *foldedGroup {
	g := f.byKey[key]
	if g == nil {
		g = &foldedGroup{key: key, first: cells, spelled: make([]map[string]bool, len(cells))}
		for i := range g.spelled {
			g.spelled[i] = map[string]bool{}
		}
		f.byKey[key] = g
		f.groups = append(f.groups, g)
	}
	return g
}

// value returns a cell as a group key: the first day of its period if there is a
// grain.
func (k foldedKey) value(cell wire.Value) (wire.Value, error) {
	if k.grain == "" || cell.IsNull() {
		return cell, nil
	}
	at, ok := instant(cell)
	if !ok {
		return wire.Null(), unverifiable("a grain over a value that is not spelled like a date or a datetime")
	}
	year, month, day := at.Date()
	switch k.grain {
	case wire.GrainYear:
		month, day = time.January, 1
	case wire.GrainQuarter:
		month, day = (month-1)/3*3+1, 1
	case wire.GrainMonth:
		day = 1
	}
	return wire.Text(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)), nil
}

// instant parses a date or a datetime in their spelling on the wire.
func instant(v wire.Value) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if at, err := time.Parse(layout, v.Text()); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// checkGroup compares one answered row with its group.
func (f *folding) checkGroup(row map[string]wire.Value, seen map[string]bool) error {
	var key []byte
	cells := make([]wire.Value, len(f.keys))
	for i, k := range f.keys {
		cells[i] = row[k.as]
		key = filter.AppendKey(key, cells[i], k.typ)
	}
	shown := spellRow(f.names, cells)
	g := f.byKey[string(key)]
	switch {
	case g == nil:
		return &violation{f.keyRule(), "there is no such group", "only groups that the rows have", shown}
	case seen[g.key]:
		return &violation{"aggregate-2", "one group is answered twice", "each group once, equal values being one", shown}
	}
	seen[g.key] = true
	for i, k := range f.keys {
		if !g.spelled[i][spell(cells[i])] {
			return &violation{f.keyRule(), fmt.Sprintf("the key %q is spelled as no row of its group spells it", k.as),
				spell(g.first[i]), spell(cells[i])}
		}
	}
	for _, m := range f.measures {
		if err := m.check(g.rows, row[m.As], shown); err != nil {
			return err
		}
	}
	return nil
}

// keyRule returns the rule for the keys of groups.
func (f *folding) keyRule() string {
	if slices.ContainsFunc(f.keys, func(k foldedKey) bool { return k.grain != "" }) {
		return "aggregate-4"
	}
	return "aggregate-2"
}

// check compares one measure of one group with the rows of the group.
func (m foldedMeasure) check(rows [][]wire.Value, got wire.Value, group string) error {
	wrong := func(rule, expected string) error {
		return &violation{rule, fmt.Sprintf("%s as %q is wrong in group %s", spellMeasure(m.Measure), m.As, group), expected, spell(got)}
	}
	if m.at < 0 {
		if want := spell(wire.Int(int64(len(rows)))); spell(got) != want {
			return wrong("aggregate-1", want)
		}
		return nil
	}
	var cells []wire.Value
	for _, row := range rows {
		if !row[m.at].IsNull() {
			cells = append(cells, row[m.at])
		}
	}
	switch m.Fn {
	case wire.FnCount:
		if want := spell(wire.Int(int64(len(cells)))); spell(got) != want {
			return wrong("aggregate-1", want)
		}
	case wire.FnCountDistinct:
		distinct := map[string]bool{}
		for _, cell := range cells {
			distinct[string(filter.AppendKey(nil, cell, m.typ))] = true
		}
		if want := spell(wire.Int(int64(len(distinct)))); spell(got) != want {
			return wrong("aggregate-1, aggregate-2", want)
		}
	case wire.FnSum:
		if want, ok := sum(cells); ok && m.typ.Numeric() && !isSum(got, want) {
			return wrong("aggregate-1a", spellSum(want))
		}
	case wire.FnMin, wire.FnMax:
		if want, ok := extreme(m.Fn, cells, m.typ); ok && !slices.Contains(want, spell(got)) {
			return wrong("aggregate-1b", listing(want, "spellings"))
		}
	}
	return nil
}

func spellMeasure(m wire.Measure) string {
	if m.Field == "" {
		return string(m.Fn)
	}
	return fmt.Sprintf("%s of %q", m.Fn, m.Field)
}

// sum returns the exact sum of decimals, nil over nothing. It reports false if a
// cell is not a number.
func sum(cells []wire.Value) (total *big.Rat, ok bool) {
	for _, cell := range cells {
		n, ok := rational(cell)
		if !ok {
			return nil, false
		}
		if total == nil {
			total = new(big.Rat)
		}
		total.Add(total, n)
	}
	return total, true
}

// maxDigits limits the numbers that sum adds, because exact arithmetic with
// longer ones takes too long for a test.
const maxDigits = 10_000

func rational(v wire.Value) (*big.Rat, bool) {
	text := v.String()
	if v.Kind() == wire.KindBool || !wire.IsDecimal(text) || len(text) > maxDigits {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// isSum reports whether v is the sum: a digit string of exactly that value, or
// null over nothing.
func isSum(v wire.Value, want *big.Rat) bool {
	if want == nil || v.IsNull() {
		return want == nil && v.IsNull()
	}
	n, ok := rational(v)
	return ok && v.Kind() == wire.KindText && n.Cmp(want) == 0
}

func spellSum(want *big.Rat) string {
	if want == nil {
		return "null"
	}
	// The denominator of a sum of decimals divides a power of ten.
	digits, _ := want.FloatPrec()
	return fmt.Sprintf("the digit string %q", want.FloatString(digits))
}

// extreme returns every spelling of the minimum or the maximum, as JSON. It
// reports false if the values have no order.
func extreme(fn wire.Fn, cells []wire.Value, t wire.Type) (spellings []string, ok bool) {
	if len(cells) == 0 {
		return []string{"null"}, true
	}
	switch t {
	case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
		return nil, false // no rule gives them an order
	case wire.TypeDate, wire.TypeDatetime:
		// Text that is not a date has no common order with dates.
		for _, cell := range cells {
			if _, ok := instant(cell); !ok {
				return nil, false
			}
		}
	}
	best := cells[0]
	for _, cell := range cells {
		c, ok := filter.Compare(cell, best, t)
		if !ok {
			return nil, false
		}
		if fn == wire.FnMin && c < 0 || fn == wire.FnMax && c > 0 {
			best = cell
		}
	}
	for _, cell := range cells {
		if c, _ := filter.Compare(cell, best, t); c == 0 && !slices.Contains(spellings, spell(cell)) {
			spellings = append(spellings, spell(cell))
		}
	}
	return spellings, true
}
