package sqlsource

import (
	"context"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	distinctSample = 20_000             // rows that are looked at to tell how a column is counted best
	distinctOften  = distinctSample / 4 // distinct values of them
)

// Cardinality counts all columns by few statements. The entry of a column that
// the engine cannot count distinctly is nil.
func Cardinality(ctx context.Context, s *database, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	x, r, err := s.openTable(ctx, req.Credentials, connector.Call{Method: "Cardinality", Table: req.Table})
	if err != nil {
		return nil, err
	}
	defer x.close()
	answer := make(map[string]*wire.Cardinality, len(req.Columns))
	var columns []*column
	for _, name := range req.Columns {
		c := r.column(name)
		if c == nil {
			return nil, r.unknownField(name)
		}
		if _, known := answer[name]; known {
			continue
		}
		answer[name] = nil
		if c.group() == "" {
			x.left("The distinct values of " + quote(c) + " are not counted: the engine cannot compare them exactly.")
			continue
		}
		columns = append(columns, c)
	}
	if len(columns) == 0 {
		return answer, nil
	}
	rows, tallies, err := x.tally(ctx, r, columns)
	if err != nil {
		return nil, err
	}
	var counted []*column // those whose values have to be looked at
	for _, c := range columns {
		n := tallies[c]
		if !n.countable(c) {
			x.left("The distinct values of " + quote(c) + " are not counted: the column has values that the engine would misjudge.")
			continue
		}
		answer[c.name] = &wire.Cardinality{NonNull: n.sendable, Distinct: n.sendable}
		if !r.tellsApart(c) {
			counted = append(counted, c)
		}
	}
	return answer, x.countDistinct(ctx, r, rows, counted, tallies, answer)
}

// tellsApart reports whether the engine sees to it that no two values of a column
// are equal on the wire.
func (r *relation) tellsApart(c *column) bool {
	key := len(r.primary) == 1 && r.primary[0] == c
	return c.Tie == "" && r.isUnique(c.own, c) && (r.enforced || !key)
}

// countDistinct sets the distinct counts of columns that have been tallied.
func (x *session) countDistinct(
	ctx context.Context, r *relation, rows int64, columns []*column, tallies map[*column]*tally, answer map[string]*wire.Cardinality,
) error {
	for len(columns) > 0 {
		piece := columns[:min(pieceDistinct, len(columns))]
		columns = columns[len(piece):]
		many, err := x.manyDistinct(ctx, r, rows, piece, tallies)
		if err != nil {
			return err
		}
		var exprs []string
		var targets []any
		alone := true
		for _, c := range piece {
			if many[c] != "" {
				exprs = append(exprs, many[c])
			} else {
				exprs, alone = append(exprs, "COUNT(DISTINCT "+tallies[c].key(c)+")"), false
			}
			targets = append(targets, &answer[c.name].Distinct)
		}
		statement := "SELECT " + strings.Join(exprs, ", ")
		if !alone {
			statement += " FROM " + r.from
		}
		if err := x.row(ctx, r.name, statement, nil, targets...); err != nil {
			return err
		}
	}
	return nil
}

// manyDistinct returns the expressions that count the columns with many distinct
// values, judged by the first rows, where the engine has a better way for these.
func (x *session) manyDistinct(
	ctx context.Context, r *relation, rows int64, columns []*column, tallies map[*column]*tally,
) (map[*column]string, error) {
	distinctMany := x.database.capabilities.DistinctMany
	if distinctMany == nil || rows <= distinctSample {
		return nil, nil
	}
	b := x.builder()
	exprs := make([]string, len(columns))
	counts := make([]int64, len(columns))
	targets := make([]any, len(columns))
	for i, c := range columns {
		exprs[i], targets[i] = "COUNT(DISTINCT "+tallies[c].key(c)+")", &counts[i]
	}
	first := b.query("*", window{limit: distinctSample}, func() string { return " FROM " + r.from })
	statement := "SELECT " + strings.Join(exprs, ", ") + " FROM (" + first + ") t0"
	if err := x.row(ctx, r.name, statement, b.args, targets...); err != nil {
		return nil, err
	}
	many := map[*column]string{}
	for i, c := range columns {
		if counts[i] > distinctOften {
			many[c] = distinctMany(tallies[c].key(c), r.from)
		}
	}
	return many, nil
}
