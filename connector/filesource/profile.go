package filesource

import (
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxDistinct is how many distinct values of a file are counted, in all columns
// together: some 8 MiB.
const maxDistinct = 1 << 18

// profile is what the second reading, with the types known, found out about the
// values of one column.
type profile struct {
	rows, nulls int64
	distinct    keySet // while the rows are read
	different   int64  // distinct values
	uncounted   bool   // the distinct values exceeded their budget
	samples     textvalue.Samples
	least, most wire.Value // null in an empty column, or if it is too long
	unordered   bool       // an extreme was too long to keep
}

// nonNull returns the number of cells that are not null.
func (p *profile) nonNull() int64 { return p.rows - p.nulls }

// cardinality returns the exact count of distinct values. ok is false if they
// were too many to count.
func (p *profile) cardinality() (c wire.Cardinality, ok bool) {
	return wire.Cardinality{NonNull: p.nonNull(), Distinct: p.different}, !p.uncounted
}

// measure reads all rows and profiles every column. It keeps the samples, the
// extremes, and at most budget distinct values.
func measure(columns []column, rows *rows, budget int) error {
	profiles := make([]profile, len(columns))
	var key []byte
	held := 0
	for i := range profiles {
		profiles[i].distinct = keySet{}
	}
	for values, err := range rows.all() {
		if err != nil {
			return err
		}
		for i, v := range values {
			p := &profiles[i]
			p.rows++
			if v.IsNull() {
				p.nulls++
				continue
			}
			p.extremes(v, columns[i].typ)
			if p.uncounted && p.samples.Full() {
				continue
			}
			key = filter.AppendKey(key[:0], v, columns[i].typ)
			d := digestOf(key)
			p.samples.Add(v, key)
			if p.uncounted {
				continue
			}
			if p.distinct.add(d) {
				held++
			}
			if held > budget {
				held -= dropLargest(profiles)
			}
		}
	}
	for i := range columns {
		p := profiles[i]
		p.different = int64(len(p.distinct))
		p.distinct = nil
		columns[i].profile = p
	}
	return nil
}

// dropLargest stops counting the column with the most distinct values and
// returns how many values are not held any more. The column is most likely a key, whose
// distinct count nobody needs.
func dropLargest(profiles []profile) int {
	largest := &profiles[0]
	for i := range profiles {
		if len(profiles[i].distinct) > len(largest.distinct) {
			largest = &profiles[i]
		}
	}
	freed := len(largest.distinct)
	largest.distinct, largest.uncounted = nil, true
	return freed
}

// extremes keeps the least and the greatest value by the order of the type. The
// order of arrays and JSON means nothing, so they have none.
func (p *profile) extremes(v wire.Value, t wire.Type) {
	if t == wire.TypeArray || t == wire.TypeJSON || p.unordered {
		return
	}
	if len(v.Text()) > textvalue.MaxSampleText {
		// The extremes of a column of such texts would tell nothing.
		p.least, p.most, p.unordered = wire.Null(), wire.Null(), true
		return
	}
	if p.least.IsNull() {
		p.least = v.Clone()
		p.most = p.least
		return
	}
	if order, ok := filter.Compare(v, p.least, t); ok && order < 0 {
		p.least = v.Clone()
	}
	if order, ok := filter.Compare(v, p.most, t); ok && order > 0 {
		p.most = v.Clone()
	}
}

// stats returns the statistics as discovery states them. They are nil if the
// distinct values could not be counted, because a stated count must be true.
func (c *column) stats() *wire.Stats {
	p := &c.profile
	counted, ok := p.cardinality()
	if !ok || p.rows == 0 {
		return nil
	}
	percent := 100 * float64(p.nulls) / float64(p.rows)
	s := &wire.Stats{NullPercent: &percent, DistinctCount: counted.Distinct}
	if !p.least.IsNull() && !c.quiet {
		s.Min, s.Max = &p.least, &p.most
	}
	return s
}
