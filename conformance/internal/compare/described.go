package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// RowCount compares the number of rows that discovery states of a table with its rows. It may be an estimate.
func RowCount(t *wire.Table, rows *oracle.Table) *oracle.Difference {
	n := int64(len(rows.Rows))
	if t.RowCount == nil || roughly(*t.RowCount, n, n) {
		return nil
	}
	return differ("rowCount is far from the number of rows", fmt.Sprintf("about %d", n), fmt.Sprint(*t.RowCount))
}

// Described compares the samples and statistics that discovery states of a column with its
// values. Counts may be estimates, so they only have to be roughly right.
func Described(f *wire.Field, rows *oracle.Table, column int) *oracle.Difference {
	t := rows.Columns[column].Type
	var values []wire.Value
	for _, row := range rows.Rows {
		if !row[column].IsNull() {
			values = append(values, row[column])
		}
	}
	for _, sample := range f.Samples {
		// A long value may be cut.
		start := strings.TrimRight(sample.String(), ".\u2026 ")
		if !slices.ContainsFunc(values, func(v wire.Value) bool {
			return v.String() == sample.String() || Cell(v, sample, t) || len(start) >= 20 && strings.HasPrefix(v.String(), start)
		}) {
			return differ("a sample is in no row", "values of the column", Excerpt(sample))
		}
	}
	if f.Stats == nil {
		return nil
	}
	if all := len(rows.Rows); f.Stats.NullPercent != nil && all > 0 {
		share := 100 * float64(all-len(values)) / float64(all)
		if math.Abs(*f.Stats.NullPercent-share) > 25 {
			return differ("nullPercent is far from the share of nulls", fmt.Sprintf("%.4g", share), fmt.Sprintf("%.4g", *f.Stats.NullPercent))
		}
	}
	least, greatest, err := oracle.DistinctRange(rows, f.Name)
	if n := f.Stats.DistinctCount; err == nil && (!roughly(n, least, greatest) || n == 0 && least > 0) {
		return differ("distinctCount is far from the number of values", fmt.Sprintf("about %d", least), fmt.Sprint(n))
	}
	return bounds(f, values, t)
}

// bounds judges that min and max lie within the values, min in their lower half and before max.
func bounds(f *wire.Field, values []wire.Value, t wire.Type) *oracle.Difference {
	low, high := f.Stats.Min, f.Stats.Max
	if terms.IsDocument(t) {
		return nil // sources order them in their own ways
	}
	for _, v := range []*wire.Value{low, high} {
		if v == nil || v.IsNull() || len(v.String()) > 100 {
			continue // a long text may be cut
		}
		below, equal, above := 0, 0, 0
		for _, other := range values {
			switch order, comparable := oracle.Compare(other, *v, t); {
			case !comparable:
			case order < 0:
				below++
			case order > 0:
				above++
			default:
				equal++
			}
		}
		half := len(values) / 2
		switch {
		case equal == 0 && (below == 0 || above == 0):
			return differ("min or max is outside of its values", "within the values of the column", Excerpt(*v))
		case v == low && below > half, v == high && above > half:
			return differ("half of the values lie beyond min or max", "", Excerpt(*v))
		}
	}
	if low != nil && high != nil {
		if order, comparable := oracle.Compare(*low, *high, t); comparable && order > 0 {
			return differ("min is greater than max", Excerpt(*high), Excerpt(*low))
		}
	}
	return nil
}

// roughly reports whether an estimate is within a factor of two of one of the numbers from one to
// another, give or take ten.
func roughly(estimate, from, to int64) bool {
	return float64(estimate) <= 2*float64(to)+10 && float64(estimate) >= float64(from)/2-10
}

func differ(detail, expected, received string) *oracle.Difference {
	return &oracle.Difference{Detail: detail, Expected: expected, Received: received}
}

// Cell reports what oracle.Same does, except for doubles: different decimal spellings may be read as the same double.
func Cell(want, got wire.Value, t wire.Type) bool {
	if want.Kind() == got.Kind() && want.Kind() == wire.KindInt {
		return want.Int64() == got.Int64()
	}
	if oracle.Same(want, got, t) {
		return true
	}
	if want.Kind() != wire.KindFloat || got.Kind() == wire.KindText && !terms.IsDecimal(got.Text()) {
		return false
	}
	f, err := strconv.ParseFloat(got.String(), 64)
	return err == nil && f == want.Float64()
}

// Excerpt returns a cell as it crosses the wire, cut to a short text.
func Excerpt(v wire.Value) string { return message.Cell(v, 120) }
