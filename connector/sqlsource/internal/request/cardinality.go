package request

import (
	"context"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	distinctSample = 20_000             // rows that are looked at to tell how a column is counted best
	distinctOften  = distinctSample / 4 // distinct values of them
)

// Cardinality counts all columns by few statements. The entry of a column that
// the engine cannot count distinctly is nil.
func Cardinality(ctx context.Context, s *session.Database, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	x, r, err := openTable(ctx, s, req.Credentials, connector.Call{Method: "Cardinality", Table: req.Table})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	answer := make(map[string]*wire.Cardinality, len(req.Columns))
	var columns []*sqltext.Column
	for _, name := range req.Columns {
		c := r.Column(name)
		if c == nil {
			return nil, r.UnknownField(name)
		}
		if _, known := answer[name]; known {
			continue
		}
		answer[name] = nil
		if c.GroupKey() == "" {
			x.Left("The distinct values of " + quote(c) + " are not counted: the engine cannot compare them exactly.")
			continue
		}
		columns = append(columns, c)
	}
	if len(columns) == 0 {
		return answer, nil
	}
	rows, tallies, err := TallyColumns(ctx, x.Session, r, columns)
	if err != nil {
		return nil, err
	}
	var counted []*sqltext.Column // those whose values have to be looked at
	for _, c := range columns {
		n := tallies[c]
		if !n.Countable(c) {
			x.Left("The distinct values of " + quote(c) + " are not counted: the column has values that the engine would misjudge.")
			continue
		}
		answer[c.Name] = &wire.Cardinality{NonNull: n.Sendable, Distinct: n.Sendable}
		if !r.TellsApart(c) {
			counted = append(counted, c)
		}
	}
	return answer, x.countDistinct(ctx, r, rows, counted, tallies, answer)
}

// countDistinct sets the distinct counts of columns that have been tallied.
func (x Request) countDistinct(
	ctx context.Context, r *session.Relation, rows int64,
	columns []*sqltext.Column, tallies map[*sqltext.Column]*Tally, answer map[string]*wire.Cardinality,
) error {
	for len(columns) > 0 {
		piece := columns[:min(PieceDistinct, len(columns))]
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
				exprs, alone = append(exprs, "COUNT(DISTINCT "+tallies[c].Key(c)+")"), false
			}
			targets = append(targets, &answer[c.Name].Distinct)
		}
		from := " FROM " + r.From
		if alone {
			from = x.fromNoTable()
		}
		statement := "SELECT " + strings.Join(exprs, ", ") + from
		if err := x.Row(ctx, r.Name, statement, nil, targets...); err != nil {
			return err
		}
	}
	return nil
}

// manyDistinct returns the expressions that count the columns with many distinct
// values, judged by the first rows, where the engine has a better way for these.
func (x Request) manyDistinct(
	ctx context.Context, r *session.Relation, rows int64, columns []*sqltext.Column, tallies map[*sqltext.Column]*Tally,
) (map[*sqltext.Column]string, error) {
	distinctMany := x.Database.Flavor.DistinctMany
	if distinctMany == nil || rows <= distinctSample {
		return nil, nil
	}
	b := x.Builder()
	exprs := make([]string, len(columns))
	counts := make([]int64, len(columns))
	targets := make([]any, len(columns))
	for i, c := range columns {
		exprs[i], targets[i] = "COUNT(DISTINCT "+tallies[c].Key(c)+")", &counts[i]
	}
	first := b.Query("*", sqltext.Window{Limit: distinctSample}, func() string { return " FROM " + r.From })
	statement := "SELECT " + strings.Join(exprs, ", ") + " FROM (" + first + ") t0"
	if err := x.Row(ctx, r.Name, statement, b.Args, targets...); err != nil {
		return nil, err
	}
	many := map[*sqltext.Column]string{}
	for i, c := range columns {
		if counts[i] > distinctOften {
			many[c] = distinctMany(tallies[c].Key(c), r.From)
		}
	}
	return many, nil
}
