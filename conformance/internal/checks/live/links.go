package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// link is a pair of columns of tables that were read whole: a foreign key that discovery
// declares, or a column with values of another table's key.
type link struct {
	from, to           *wire.Table
	fromField, toField string
	declared           bool
}

func (l link) reverse() link { return link{l.to, l.from, l.toField, l.fromField, l.declared} }

// links returns the links that begin at a table: its declared foreign keys, and behind
// them a few that the rows show. The platform may ask about any pair of columns.
func (p *liveRun) links(from *wire.Table) []link {
	list, ok := p.linksFrom[from.Name]
	if !ok {
		list = p.declaredLinks(from)
		list = append(list, p.shownLinks(from, list)...)
		p.linksFrom[from.Name] = list
	}
	return list
}

// maxShown limits the links of one table that only its rows show.
const maxShown = 4

// shownLinks returns links that are not declared: a column is no key, and at least half
// of its values are those of another table's key, in other letters or not.
func (p *liveRun) shownLinks(from *wire.Table, declared []link) (list []link) {
	rows := p.Snapshot(from).Table
	if rows == nil {
		return nil
	}
	for i, field := range from.Fields {
		if field.Unique || slices.Equal(from.PrimaryKey, []string{field.Name}) || field.Type == wire.TypeBoolean {
			continue
		}
		values := valuesOf(rows, i)
		for _, to := range p.discovery.Readable() {
			if len(list) == maxShown {
				return list
			}
			if len(to.PrimaryKey) != 1 || to.Name == from.Name || to.Field(to.PrimaryKey[0]) == nil {
				continue
			}
			l := link{from: from, to: to, fromField: field.Name, toField: to.PrimaryKey[0]}
			same := func(o link) bool { return o.to == to && o.fromField == l.fromField && o.toField == l.toField }
			keys := p.Snapshot(to).Table
			if keys == nil || !joinable(l) || slices.ContainsFunc(declared, same) {
				continue
			}
			matched, known := 0, map[string]bool{}
			for v := range valuesOf(keys, keys.Index(l.toField)) {
				known[strings.ToLower(v)] = true
			}
			for v := range values {
				if known[strings.ToLower(v)] {
					matched++
				}
			}
			if matched > 1 && 2*matched >= len(values) {
				list = append(list, l)
			}
		}
	}
	return list
}

// valuesOf returns the texts of a column's values.
func valuesOf(t *oracle.Table, column int) map[string]bool {
	values := map[string]bool{}
	for _, row := range t.Rows {
		if v := row[column]; !v.IsNull() {
			values[v.String()] = true
		}
	}
	return values
}

// declaredLinks returns the declared foreign keys of a table. Another check reports names of what does not exist.
func (p *liveRun) declaredLinks(from *wire.Table) (list []link) {
	for _, key := range from.ForeignKeys {
		to := p.discovery.Target(key)
		if to == nil || from.Field(key.Field) == nil || to.Field(key.TargetField) == nil || declared.IsSlow(to) ||
			p.Snapshot(to).Table == nil {
			continue
		}
		list = append(list, link{from, to, key.Field, key.TargetField, true})
	}
	return list
}

// linksMeasured compares the hit rates of links with the rows: of every declared link before any other, of one of each table from
// its other end, of those that only the rows show and of another column with the table that a table's first link leads to, and
// of all the others from their other end.
func linksMeasured(p *liveRun) *check.Finding {
	for _, choose := range []func(links []link) []link{
		func(links []link) []link { return slices.DeleteFunc(links, func(l link) bool { return !l.declared }) },
		func(links []link) []link { return firstOf(p.reversed(links), 1) },
		func(links []link) []link {
			shown := slices.DeleteFunc(slices.Clone(links), func(l link) bool { return l.declared })
			if len(links) > 0 {
				if other, ok := links[0].fromOther(); ok {
					shown = append(shown, other)
				}
			}
			return shown
		},
		func(links []link) []link { return p.reversed(links)[min(1, len(links)):] },
	} {
		f := inTurn(1, func(p *liveRun, t *wire.Table, _ *oracle.Table) (list []question) {
			for _, l := range choose(slices.Clone(p.links(t))) {
				list = append(list, p.measuring(l))
			}
			return list
		})(p)
		if f != nil {
			return f
		}
	}
	return nil
}

// reversed returns links from their other end, where several rows have the value of one, those before others that lead to a
// column with nulls: one of these is enough for NOT IN to find no orphan.
func (p *liveRun) reversed(links []link) []link {
	for i, l := range links {
		links[i] = l.reverse()
	}
	slices.SortStableFunc(links, func(a, b link) int { return p.withoutNulls(a) - p.withoutNulls(b) })
	return links
}

// withoutNulls returns 1 for a link that leads to a column without nulls, and otherwise 0.
func (p *liveRun) withoutNulls(l link) int {
	to := p.Snapshot(l.to).Table
	at := to.Index(l.toField)
	if slices.ContainsFunc(to.Rows, func(row []wire.Value) bool { return row[at].IsNull() }) {
		return 0
	}
	return 1
}

// fromOther returns a link between the same tables from another column, if one can be compared: an answer that is kept by the
// tables alone is not that link's.
func (l link) fromOther() (other link, ok bool) {
	for _, f := range l.from.Fields {
		other = link{l.from, l.to, f.Name, l.toField, false}
		if f.Name != l.fromField && l.from != l.to && joinable(other) {
			return other, true
		}
	}
	return link{}, false
}

func (p *liveRun) measuring(l link) question {
	req := &wire.LinkHitRateRequest{FromTable: l.from.Name, FromColumn: l.fromField, ToTable: l.to.Name, ToColumn: l.toField}
	what := fmt.Sprintf("%s.%s to %s.%s",
		terms.QuoteName(l.from.Name), terms.QuoteName(l.fromField), terms.QuoteName(l.to.Name), terms.QuoteName(l.toField))
	return p.asking(wire.PathLinkHitRate, req, what, []*wire.Table{l.from, l.to})
}
