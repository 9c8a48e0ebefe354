package live

import (
	"fmt"
	"math"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
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

// allLinks are the links of the run, by the table that they begin at.
type allLinks struct{ from map[string][]link }

// links returns the links that begin at a table: its declared foreign keys, and behind
// them a few that the rows show. The platform may ask about any pair of columns.
func (p *prober) links(from *wire.Table) []link {
	known := session.Keep(p.Session, func() *allLinks { return &allLinks{from: map[string][]link{}} })
	list, ok := known.from[from.Name]
	if !ok {
		list = p.declaredLinks(from)
		list = append(list, p.shownLinks(from, list)...)
		known.from[from.Name] = list
	}
	return list
}

// maxShown limits the links of one table that only its rows show.
const maxShown = 4

// shownLinks returns links that are not declared: a column is no key, and at least half
// of its values are those of another table's key.
func (p *prober) shownLinks(from *wire.Table, declared []link) (list []link) {
	d, f := p.Discovery(0)
	rows := p.Snapshot(0, from).Table
	if f != nil || rows == nil {
		return nil
	}
	for i, field := range from.Fields {
		if field.Unique || slices.Equal(from.PrimaryKey, []string{field.Name}) || field.Type == wire.TypeBoolean {
			continue
		}
		values := valuesOf(rows, i)
		for _, to := range d.Readable() {
			if len(list) == maxShown {
				return list
			}
			if len(to.PrimaryKey) != 1 || to.Name == from.Name || to.Field(to.PrimaryKey[0]) == nil {
				continue
			}
			l := link{from: from, to: to, fromField: field.Name, toField: to.PrimaryKey[0]}
			same := func(o link) bool { return o.to == to && o.fromField == l.fromField && o.toField == l.toField }
			keys := p.Snapshot(0, to).Table
			if keys == nil || !joinable(l) || slices.ContainsFunc(declared, same) {
				continue
			}
			matched, known := 0, valuesOf(keys, keys.Index(l.toField))
			for v := range values {
				if known[v] {
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

// declaredLinks returns the declared foreign keys of a table. Another check reports names
// of what does not exist.
func (p *prober) declaredLinks(from *wire.Table) (list []link) {
	d, f := p.Discovery(0)
	if f != nil {
		return nil
	}
	for _, key := range from.ForeignKeys {
		to := d.Target(key)
		if to == nil || from.Field(key.Field) == nil || to.Field(key.TargetField) == nil || session.IsSlow(to) ||
			p.Snapshot(0, to).Table == nil {
			continue
		}
		list = append(list, link{from, to, key.Field, key.TargetField, true})
	}
	return list
}

// linksMeasured compares the link hit rates of links with the rows, in both directions.
func linksMeasured(p *prober) *check.Finding {
	return p.inTurn(1, func(t *wire.Table, _ *oracle.Table) (list []question) {
		links := p.links(t)
		for _, l := range links {
			list = append(list, about(func() *check.Finding { return p.measured(l) }, l.from, l.to))
		}
		for _, l := range links {
			list = append(list, about(func() *check.Finding { return p.measured(l.reverse()) }, l.to, l.from))
		}
		return list
	})
}

func (p *prober) measured(l link) *check.Finding {
	from, to := l.from, l.to
	req := &wire.LinkHitRateRequest{FromTable: from.Name, FromColumn: l.fromField, ToTable: to.Name, ToColumn: l.toField}
	fromRows, f := p.Table(from)
	if f != nil {
		return f
	}
	toRows, f := p.Table(to)
	if f != nil || fromRows == nil || toRows == nil {
		return f
	}
	p.Cases++
	p.compared += len(fromRows.Rows) + len(toRows.Rows)
	want, err := oracle.LinkHitRate(oracle.Tables{from.Name: fromRows, to.Name: toRows}, req)
	if err != nil {
		return check.Fail("%v", err)
	}
	var got wire.LinkHitRate
	if f := p.post(wire.PathLinkHitRate, req).Decode("link-hit-rate-answer", &got); f != nil {
		return f
	}
	where := fmt.Sprintf("%s.%s to %s.%s",
		terms.QuoteName(from.Name), terms.QuoteName(req.FromColumn), terms.QuoteName(to.Name), terms.QuoteName(req.ToColumn))
	counts := func(r *wire.LinkHitRate) string {
		return fmt.Sprintf("fromNonNull %d, orphanCount %d", r.FromNonNull, r.OrphanCount)
	}
	if got.FromNonNull != want.FromNonNull || got.OrphanCount != want.OrphanCount {
		return check.Differs(counts(want), counts(&got), "%s: the rows count otherwise", where)
	}
	if math.Abs(got.OrphanRate-want.OrphanRate) > 1e-6 {
		return check.Differs(fmt.Sprint(want.OrphanRate), fmt.Sprint(got.OrphanRate),
			"%s: the orphan rate is not orphanCount over fromNonNull", where)
	}
	if sample, ok := wrongSample(fromRows, toRows, req, got.OrphanSamples); ok {
		return check.Differs("keys of rows without a match", message.Excerpt([]byte(sample), 100), "%s: a sample is no orphan", where)
	}
	return nil
}

// wrongSample returns a sample that is the key of no row, or one that has a match.
// It measures the rows once more, with the samples in the place of what they link
// to, and in the place of what is linked.
func wrongSample(from, to *oracle.Table, req *wire.LinkHitRateRequest, samples []string) (string, bool) {
	kind := from.Columns[from.Index(req.FromColumn)].Type
	for _, text := range samples {
		sample := &oracle.Table{
			Name: "sample", Columns: []wire.Column{{Name: "key", Type: kind}}, Rows: [][]wire.Value{{wire.Text(text)}},
		}
		orphan := func(in *oracle.Table, column string) bool {
			rate, err := oracle.LinkHitRate(oracle.Tables{"sample": sample, in.Name: in},
				&wire.LinkHitRateRequest{FromTable: "sample", FromColumn: "key", ToTable: in.Name, ToColumn: column})
			return err != nil || rate.OrphanCount > 0
		}
		source := *from
		source.Name = "from " + from.Name // a self-reference is two tables here
		incomparable := kind.Numeric() && !wire.IsDecimal(text)
		if !orphan(to, req.ToColumn) || !incomparable && orphan(&source, req.FromColumn) {
			return text, true
		}
	}
	return "", false
}
