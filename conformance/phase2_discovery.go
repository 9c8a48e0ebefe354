package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// discoveryAgrees are the checks of what discovery says of the corpus.
func discoveryAgrees() []Check {
	return family{
		section: "P2.1", rule: "protocol, Discovered table",
		members: []member{
			{title: "discovery lists every table and column", quote: agreement, judge: discoveredAll,
				fix: "List all tables and views the credentials can read, with all their columns."},
			{title: "types are those of the corpus", quote: "`type` (one of the type names above)", judge: eachTable(typesAgree),
				fix: "Declare exact numbers as decimal or number, booleans as boolean, days as date, instants as datetime, documents as json."},
			{title: "primary keys are those of the corpus", quote: "a key declared unique that is not really unique breaks joins", judge: eachTable(primaryKeyAgrees),
				fix: "List every column of the primary key in primaryKey."},
			{title: "foreign keys are those of the corpus", quote: "a foreign key left out means a join the platform never plans", judge: eachTable(foreignKeysAgree),
				fix: "List every foreign key, also those of a table to itself; and none whose values match nothing."},
			{title: "a column with nulls is nullable", quote: "`nullable` (boolean)", judge: eachTable(nullableAgrees),
				fix: "Set nullable unless the source forbids null."},
			{title: "only what is unique is declared unique", quote: "Set `unique` only for a real uniqueness or primary-key constraint of the source", judge: eachTable(uniqueAgrees),
				fix: "Set unique for a column that alone has a unique constraint or is alone the primary key; a column of a composite key is not."},
			{title: "rowCount, stats and samples agree with the data, where they are given", quote: "`stats` `{ nullPercent?, distinctCount (required in stats), min?, max? }`", judge: eachTable(statsAgree),
				fix: "Take samples and statistics from the column that they describe, or leave them out; nullPercent is 0 to 100."},
		},
	}.checks()
}

// discoveredAll wants every table and every column.
func discoveredAll(x *exam) {
	f := x.corpusServed()
	for _, name := range corpusNames() {
		x.cases++
		t := f.found.tables[name]
		if t == nil {
			x.fail("discovery has no table %s", name)
		}
		var missing []string
		for _, field := range corpusTables()[name].Fields {
			if t.Field(field.Name) == nil {
				missing = append(missing, field.Name)
			}
		}
		if len(missing) > 0 {
			x.fail("discovery of table %s has no field %s", name, excerpt([]byte(strings.Join(missing, ", ")), 200))
		}
	}
}

// eachTable judges every table that was discovered, and fails with the first
// finding.
func eachTable(judge func(x *exam, want *corpus.Table, got *wire.Table) *finding) func(*exam) {
	return func(x *exam) {
		f := x.corpusServed()
		var found *finding
		failures := 0
		for _, name := range corpusNames() {
			got := f.found.tables[name]
			if got == nil {
				continue // P2.1a
			}
			x.cases++
			if own := judge(x, corpusTables()[name], got); own != nil {
				failures++
				own.detail = fmt.Sprintf("table %s: %s", name, own.detail)
				if found == nil {
					found = own
				}
			}
		}
		if found != nil {
			found.failed, found.request = failures, x.session.shown(x.ask(wire.PathDiscovery, &wire.DiscoveryRequest{}, 0))
		}
		x.found(found)
	}
}

func typesAgree(_ *exam, want *corpus.Table, got *wire.Table) *finding {
	for i := range want.Fields {
		own := got.Field(want.Fields[i].Name)
		if own != nil && !typeFits(want, &want.Fields[i], own.Type) {
			return &finding{detail: fmt.Sprintf("field %s has another type", own.Name), expected: string(want.Fields[i].Type), received: string(own.Type)}
		}
	}
	return nil
}

func primaryKeyAgrees(_ *exam, want *corpus.Table, got *wire.Table) *finding {
	if sameSet(want.PrimaryKey, got.PrimaryKey) {
		return nil
	}
	return &finding{detail: "another primary key", expected: strings.Join(want.PrimaryKey, ", "), received: excerpt([]byte(strings.Join(got.PrimaryKey, ", ")), 200)}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func foreignKeysAgree(x *exam, want *corpus.Table, got *wire.Table) *finding {
	for _, k := range want.ForeignKeys {
		if !slices.Contains(got.ForeignKeys, k) {
			return &finding{detail: "a foreign key is missing", expected: fmt.Sprintf("%s to %s.%s", k.Field, k.TargetTable, k.TargetField)}
		}
	}
	// A source may see more links than the corpus declares, but not where no
	// value matches.
	for _, k := range got.ForeignKeys {
		rate, err := oracle.LinkHitRate(x.corpusServed().truth, &wire.LinkHitRateRequest{FromTable: want.Name, FromColumn: k.Field, ToTable: k.TargetTable, ToColumn: k.TargetField})
		if err == nil && rate.FromNonNull > 0 && rate.OrphanCount == rate.FromNonNull {
			return &finding{detail: "a foreign key that no value follows", received: fmt.Sprintf("%s to %s.%s", k.Field, k.TargetTable, k.TargetField)}
		}
	}
	return nil
}

func nullableAgrees(_ *exam, want *corpus.Table, got *wire.Table) *finding {
	for i, field := range want.Fields {
		own := got.Field(field.Name)
		if own == nil || own.Nullable {
			continue
		}
		if slices.ContainsFunc(want.Rows, func(row []wire.Value) bool { return row[i].IsNull() }) {
			return &finding{detail: fmt.Sprintf("field %s is declared not nullable, and has nulls", own.Name), expected: "nullable true", received: "nullable false"}
		}
	}
	return nil
}

func uniqueAgrees(_ *exam, want *corpus.Table, got *wire.Table) *finding {
	for i, field := range want.Fields {
		own := got.Field(field.Name)
		if own == nil || !own.Unique {
			continue
		}
		seen := map[string]bool{}
		for _, row := range want.Rows {
			text := row[i].String()
			if !row[i].IsNull() && seen[text] {
				return &finding{detail: fmt.Sprintf("field %s is declared unique, and %s stands twice", own.Name, shownCell(row[i])), expected: "unique false", received: "unique true"}
			}
			seen[text] = true
		}
	}
	return nil
}

// statsAgree holds what discovery knows of the values against them. Counts may
// be estimates, so that they only have to be of the right size.
func statsAgree(_ *exam, want *corpus.Table, got *wire.Table) *finding {
	rows := len(want.Rows)
	if n := got.RowCount; n != nil && (float64(*n) > 2*float64(rows)+10 || float64(*n) < float64(rows)/2-10) {
		return &finding{detail: "rowCount is far from the number of rows", expected: fmt.Sprint(rows), received: fmt.Sprint(*n)}
	}
	for i := range want.Fields {
		own := got.Field(want.Fields[i].Name)
		if own == nil {
			continue
		}
		if f := samplesAgree(want, i, own); f != nil {
			return f
		}
		if own.Stats == nil {
			continue
		}
		if f := rangeAgrees(want, i, own); f != nil {
			return f
		}
		nulls := 0
		for _, row := range want.Rows {
			if row[i].IsNull() {
				nulls++
			}
		}
		if n := own.Stats.DistinctCount; n > int64(2*rows+10) {
			return &finding{detail: fmt.Sprintf("field %s: more distinct values than rows", own.Name), expected: fmt.Sprintf("at most %d", rows), received: fmt.Sprint(n)}
		}
		if p := own.Stats.NullPercent; p != nil && rows > 0 {
			if share := 100 * float64(nulls) / float64(rows); math.Abs(*p-share) > 25 {
				return &finding{detail: fmt.Sprintf("field %s: nullPercent is far from the share of nulls", own.Name), expected: fmt.Sprintf("%.4g", share), received: fmt.Sprintf("%.4g", *p)}
			}
		}
	}
	return nil
}

// samplesAgree wants every sample to be a value of the column, or the beginning
// of a long one.
func samplesAgree(want *corpus.Table, i int, own *wire.Field) *finding {
	t := want.Fields[i].Type
	for _, sample := range own.Samples {
		start := strings.TrimRight(sample.String(), ".\u2026 ")
		if !slices.ContainsFunc(want.Rows, func(row []wire.Value) bool {
			return sameCell(row[i], sample, t) || len(start) >= 20 && strings.HasPrefix(row[i].String(), start)
		}) {
			return &finding{detail: fmt.Sprintf("field %s: a sample is no value of the column", own.Name), received: shownCell(sample)}
		}
	}
	return nil
}

// rangeAgrees wants min and max to lie within the values, min before max.
func rangeAgrees(want *corpus.Table, i int, own *wire.Field) *finding {
	t := want.Fields[i].Type
	within := func(v *wire.Value) bool {
		if v == nil || v.IsNull() {
			return true
		}
		below, above := false, false
		for _, row := range want.Rows {
			order, comparable := oracle.Compare(*v, row[i], t)
			below, above = below || comparable && order <= 0, above || comparable && order >= 0
		}
		return below && above || len(v.String()) > 100 // a long text may be cut
	}
	for _, v := range []*wire.Value{own.Stats.Min, own.Stats.Max} {
		if !within(v) {
			return &finding{detail: fmt.Sprintf("field %s: min or max is not within its values", own.Name), received: shownCell(*v)}
		}
	}
	if low, high := own.Stats.Min, own.Stats.Max; low != nil && high != nil {
		if order, comparable := oracle.Compare(*low, *high, t); comparable && order > 0 {
			return &finding{detail: fmt.Sprintf("field %s: min is greater than max", own.Name), expected: shownCell(*high), received: shownCell(*low)}
		}
	}
	return nil
}
