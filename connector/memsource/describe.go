package memsource

import (
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// describe fills in what the author left out (see [Table]).
func (t *table) describe() {
	if t.RowCount == nil {
		n := int64(len(t.rows))
		t.RowCount = &n
	}
	t.StoresRows = true
	distinct := map[string]struct{}{}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.SourceColumn == "" {
			f.SourceColumn = f.Name
		}
		if f.Type == "" {
			f.Type = typeOfCells(t.rows, i)
		}
		t.describeField(f, i, distinct)
	}
}

// typeOfCells returns the type that the cells of a column have in common.
func typeOfCells(rows [][]wire.Value, at int) wire.Type {
	var found wire.Type
	for _, row := range rows {
		var t wire.Type
		switch row[at].Kind() {
		case wire.KindNull:
			continue
		case wire.KindBool:
			t = wire.TypeBoolean
		case wire.KindInt, wire.KindFloat:
			t = wire.TypeNumber
		case wire.KindDecimal:
			t = wire.TypeDecimal
		case wire.KindDate:
			t = wire.TypeDate
		case wire.KindDatetime:
			t = wire.TypeDatetime
		default:
			return wire.TypeString
		}
		switch {
		case found == "" || found == t:
			found = t
		case found.Numeric() && t.Numeric():
			found = wire.TypeDecimal
		default:
			return wire.TypeString
		}
	}
	if found == "" {
		return wire.TypeString
	}
	return found
}

// describeField fills in a field's nullability, samples and statistics. It finds the
// distinct values by a map that all fields share, because one for each would be most of
// the memory of a large table.
func (t *table) describeField(f *wire.Field, at int, distinct map[string]struct{}) {
	clear(distinct)
	var nulls int64
	var samples textvalue.Samples
	var least, greatest wire.Value
	ordered := true
	var key []byte
	for _, row := range t.rows {
		v := row[at]
		if v.IsNull() {
			nulls++
			continue
		}
		key = filter.AppendKey(key[:0], v, f.Type)
		if _, known := distinct[string(key)]; known {
			continue // neither a sample nor an extreme
		}
		distinct[string(key)] = struct{}{}
		samples.Add(v, key)
		if ordered = ordered && hasOrder(v, f.Type); !ordered {
			continue
		}
		if least.IsNull() {
			least, greatest = v, v
			continue
		}
		if c, _ := filter.Compare(v, least, f.Type); c < 0 {
			least = v
		}
		if c, _ := filter.Compare(v, greatest, f.Type); c > 0 {
			greatest = v
		}
	}
	f.Nullable = f.Nullable || nulls > 0
	if f.Samples == nil {
		f.Samples = samples.Values()
	}
	if f.Stats != nil {
		return
	}
	f.Stats = &wire.Stats{DistinctCount: int64(len(distinct))}
	if len(t.rows) > 0 {
		share := 100 * float64(nulls) / float64(len(t.rows))
		f.Stats.NullPercent = &share
	}
	if ordered && !least.IsNull() && len(least.Text()) <= textvalue.MaxSampleText && len(greatest.Text()) <= textvalue.MaxSampleText {
		f.Stats.Min, f.Stats.Max = &least, &greatest
	}
}

// hasOrder reports whether v can be a minimum or maximum of a column of type t:
// it fits the type, and the type has an order.
func hasOrder(v wire.Value, t wire.Type) bool {
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		return relation.IsNumber(v)
	case wire.TypeDate, wire.TypeDatetime:
		_, ok := filter.Instant(v)
		return ok
	case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
		return false
	}
	return true
}
