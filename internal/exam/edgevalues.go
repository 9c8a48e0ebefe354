package exam

import (
	"cmp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Limits of what is looked at to choose the operands of a column.
const (
	ladderValues  = 1000
	maxEdgeValues = 36
	witnessValues = 72
	// maxLongOperand is the length up to which one long text is used as an operand.
	maxLongOperand = 5000
)

// edgeValues are what the operands of a column are made of, and judged by.
type edgeValues struct {
	// values are those worth asking for: the least and the greatest, the most frequent
	// and the rarest, those with characters that get lost, and those that a careless
	// comparison takes for another value.
	values []wire.Value
	// witnesses are the cells that an operand is judged by. They include the values,
	// their neighbours and, if the column has one, null.
	witnesses []wire.Value
	// cells are the witnesses under a type, changed the witnesses as the misreadings that change
	// cells see them, by name. It is nil for one that changes none of them.
	cells   map[wire.Type]*oracle.Cells
	changed map[string]*oracle.Cells
	// rows are the rows of the sample that hold each witness; nil before they are asked for.
	rows []rowSet
}

// seen returns which witnesses stand in a row whose place in an answer the filters beside one
// leave open. What the sample of a larger table does not hold is taken to stand in one.
func (n *edgeValues) seen(s *Subject, c *Column, open rowSet) []bool {
	if n.rows == nil {
		n.rows = make([]rowSet, len(n.witnesses))
		at := make(map[wire.Value]int, len(n.witnesses))
		for i, v := range n.witnesses {
			n.rows[i], at[v] = s.rows(false), i
		}
		for i, row := range s.sample.Rows {
			if w, ok := at[row[c.at]]; ok {
				n.rows[w].add(i)
			}
		}
	}
	seen := make([]bool, len(n.witnesses))
	for i, rows := range n.rows {
		seen[i] = rows.and(open).count() > 0 || s.sample != s.Table && rows.count() == 0
	}
	return seen
}

// seenAs returns the witnesses of a column of a type as a misreading sees them.
func (n *edgeValues) seenAs(m *misreading, t wire.Type) *oracle.Cells {
	if m.cells == nil {
		return n.as(t)
	}
	cells, known := n.changed[m.as]
	if !known {
		var values []wire.Value
		for i, v := range n.witnesses {
			if other := m.cells(v); other != v && values == nil {
				values = slices.Clone(n.witnesses)
				values[i] = other
			} else if values != nil {
				values[i] = other
			}
		}
		if values != nil {
			cells = oracle.NewCells(values, t)
		}
		n.changed[m.as] = cells
	}
	return cmp.Or(cells, n.as(t))
}

// as returns the witnesses as cells of a type.
func (n *edgeValues) as(t wire.Type) *oracle.Cells {
	cells, known := n.cells[t]
	if !known {
		cells = oracle.NewCells(n.witnesses, t)
		n.cells[t] = cells
	}
	return cells
}

// expected returns which witnesses a filter keeps, and how many they are.
func (n *edgeValues) expected(f wire.Filter, t wire.Type) (keeps []bool, kept int) {
	keeps = make([]bool, len(n.witnesses))
	matches := n.as(t).Matcher(f)
	for i := range keeps {
		if keeps[i] = matches(i); keeps[i] {
			kept++
		}
	}
	return keeps, kept
}

// show reports whether a misreading of a filter keeps other witnesses than are expected, of those
// that are seen; nil are all.
func (n *edgeValues) show(m *misreading, f wire.Filter, t wire.Type, expected, seen []bool) bool {
	wrong := n.misread(m, f, t)
	if wrong == nil {
		return false
	}
	for i := range expected {
		if (seen == nil || seen[i]) && wrong(i) != expected[i] {
			return true
		}
	}
	return false
}

// misread returns the function that reports whether a misreading of a filter keeps the
// witness at an index, or nil if the misreading does not concern the filter.
func (n *edgeValues) misread(m *misreading, f wire.Filter, t wire.Type) func(i int) bool {
	if !m.mayConcern(f.Op, t) {
		return nil
	}
	if m.other != nil {
		other, as, ok := m.other(f, t)
		if !ok {
			return nil
		}
		if cells := n.seenAs(m, as); cells != n.as(t) || !unchanged(f, other) {
			return cells.Matcher(other)
		}
		return nil // it changes nothing
	}
	if wrong := m.read(f, t); wrong != nil {
		return func(i int) bool { return wrong(n.witnesses[i]) }
	}
	return nil
}

// witnessing returns edge values with some cells to judge by.
func witnessing(cells []wire.Value) *edgeValues {
	return &edgeValues{witnesses: cells, changed: map[string]*oracle.Cells{}, cells: map[wire.Type]*oracle.Cells{}}
}

// edgeValues returns the edge values of a column. Which ones of several alike depends
// on chance.
func (d random) edgeValues(c *Column) *edgeValues {
	ladder := c.ladder()
	n := witnessing(nil)
	var rungs []int // of the values, on the ladder
	add := func(rung int) {
		if rung >= 0 && rung < len(ladder) && !slices.Contains(rungs, rung) && len(rungs) < maxEdgeValues {
			rungs = append(rungs, rung)
		}
	}
	if len(ladder) > 0 {
		for _, rung := range []int{len(ladder) / 2, len(ladder) - 1, 0} {
			add(rung)
		}
		add(longestOf(ladder))
		start := d.IntN(len(ladder))
		d.addPeculiar(ladder, start, add)
		add(c.mostFrequent(ladder))
		add(len(ladder) - 2)
		add(1)
		for range 6 {
			add(d.IntN(len(ladder)))
		}
	}
	var near []int
	for _, rung := range rungs {
		n.values = append(n.values, ladder[rung])
		for _, next := range []int{rung, rung - 1, rung + 1} {
			if next >= 0 && next < len(ladder) && !slices.Contains(near, next) {
				near = append(near, next)
			}
		}
	}
	for range witnessValues {
		if next := d.IntN(max(len(ladder), 1)); next < len(ladder) && !slices.Contains(near, next) {
			near = append(near, next)
		}
	}
	for _, rung := range near[:min(len(near), witnessValues)] {
		n.witnesses = append(n.witnesses, ladder[rung])
	}
	if c.nulls > 0 {
		n.witnesses = append(n.witnesses, wire.Null())
	}
	return n
}

// ladder returns the column's values that can be operands, least first. Of many values
// it returns some.
func (c *Column) ladder() (list []wire.Value) {
	step := max(1, len(c.cells)/ladderValues)
	for i := 0; i < len(c.cells); i += step {
		if v := c.cells[i]; len(v.String()) <= maxLongOperand && !(c.Type.Numeric() && !terms.IsDecimal(v.String())) {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b wire.Value) int {
		order, _ := oracle.Compare(a, b, c.Type)
		return cmp.Or(order, strings.Compare(a.String(), b.String()))
	})
	return list
}

// mostFrequent returns the rung of the value that most rows have.
func (c *Column) mostFrequent(ladder []wire.Value) int {
	best := 0
	for i, n := range c.rows {
		if n > c.rows[best] {
			best = i
		}
	}
	return slices.IndexFunc(ladder, func(v wire.Value) bool { return v.String() == c.cells[best].String() })
}

// addPeculiar adds the first value that has each of some peculiarities, looking from
// start.
func (d random) addPeculiar(ladder []wire.Value, start int, add func(rung int)) {
	for _, change := range []func(string) string{strings.ToLower, strings.TrimSpace, unaccented, folded, canonicalNumber, seconds, days} {
		twins := map[string]int{}
		for i := range ladder {
			rung := (start + i) % len(ladder)
			text := change(ladder[rung].String())
			if other, twin := twins[text]; twin {
				add(other)
				add(rung)
				break
			}
			twins[text] = rung
		}
	}
	peculiar := []func(string) bool{
		func(text string) bool { return text == "" },
		func(text string) bool { return strings.ToLower(text) != text },
		withAny("*.()[]"), withAny(" "),
		func(text string) bool { return strings.HasPrefix(text, "-") },
		func(text string) bool { return len(text) > 20 },
		func(text string) bool { return len(text) > 100 },
		func(text string) bool { return strings.Contains(text, "T00:00:00") },
		func(text string) bool { return strings.Contains(text, "T23:") },
		func(text string) bool { return text == "0" || strings.Trim(text, "0.") == "" },
		func(text string) bool { return terms.IsDecimal(text) && strings.HasPrefix(text, "0") },
	}
	for _, k := range kinds {
		peculiar = append(peculiar, k.of)
	}
	for _, is := range peculiar {
		for i := range ladder {
			if rung := (start + i) % len(ladder); is(ladder[rung].String()) {
				add(rung)
				break
			}
		}
	}
}

// folded returns a text as the collations that fold most compare it.
func folded(text string) string { return sharpless(strings.ToLower(unaccented(text))) }

// longestOf returns the rung of the longest value.
func longestOf(ladder []wire.Value) (longest int) {
	for i, v := range ladder {
		if len(v.String()) > len(ladder[longest].String()) {
			longest = i
		}
	}
	return longest
}

// seconds returns an instant cut to the second, and any other text as it is.
func seconds(text string) string { return prefixOfInstant(text, len("2006-01-02T15:04:05")) }

// days returns an instant cut to the day, and any other text as it is.
func days(text string) string { return prefixOfInstant(text, len("2006-01-02")) }

func prefixOfInstant(text string, n int) string {
	if len(text) > n && len(text) > 10 && text[4] == '-' && text[10] == 'T' {
		return text[:n]
	}
	return text
}
