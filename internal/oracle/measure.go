package oracle

import "github.com/connectorsdk/connector-sdk-go/wire"

// Cardinality counts the non-null values of a column, and the distinct values
// among them. Values that a filter calls equal count as one; [DistinctRange]
// also allows other answers.
func Cardinality(t *Table, column string) (wire.Cardinality, error) {
	return Reading{}.cardinality(t, column)
}

func (r Reading) cardinality(t *Table, column string) (wire.Cardinality, error) {
	i := t.baseIndex(column)
	if i < 0 {
		return wire.Cardinality{}, &UnknownField{Table: t.Name, Field: column, Where: "column"}
	}
	by := r.distinctRule(t.Columns[i].Type)
	var nonNull int64
	distinct := map[identity]bool{}
	for _, row := range t.Rows {
		if v := cell(row, i); !v.IsNull() {
			nonNull++
			distinct[keyOf(v, by).identity()] = true
		}
	}
	return wire.Cardinality{NonNull: nonNull, Distinct: int64(len(distinct))}, nil
}

// DistinctRange returns the smallest and the largest number of distinct values
// that a reading of the protocol allows for a column: distinct by equality
// [rule aggregate-2], and distinct by spelling.
func DistinctRange(t *Table, column string) (least, greatest int64, err error) {
	equal, err := Reading{}.cardinality(t, column)
	if err != nil {
		return 0, 0, err
	}
	spelled, err := Reading{SplitDistinct: true}.cardinality(t, column)
	return equal.Distinct, spelled.Distinct, err
}
