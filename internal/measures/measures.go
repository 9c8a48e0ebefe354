package measures

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Count returns the exact number of rows that match the request's filters. It is
// the answer of a connector.Counter that reads rows. It keeps nothing, so it has
// no budget. A filter on a field that is not among the columns is refused with
// 422.
//
// A source needs no Counter of its own for this: if its Counter returns
// connector.ErrDecline, the library counts the rows of its Query.
func Count(rel relation.Relation, req *wire.CountRequest) (int64, error) {
	n, err := relation.Count(rel, req.Where)
	return n, aggregateError(err)
}

// Aggregate groups the rows that match a request's filters and computes the
// measures of each group. It is the answer of a connector.Aggregator that reads
// rows. Every number is exact; a request that cannot be answered exactly is declined.
//
//   - count counts rows, or the non-null cells of its field; count_distinct the
//     distinct non-null cells. min, max and sum over nothing are null
//     [rule aggregate-1b].
//   - sum is a string of plain digits, with the largest scale of its addends:
//     10,000 times 0.1 is "1000.0". It works for number and decimal columns; a
//     float adds the digits that it has on the wire.
//   - min and max are spelled as in the first row that has them. They work for
//     numbers, text and dates.
//   - Groups and distinct values compare like filters: 1.5 and 1.50 are one
//     group, spelled as in its first row. Groups come in the order of their
//     first rows. Null is a group. Text always compares byte for byte; a field
//     of an undeclared type that stringFields names is text [rule aggregate-5].
//   - A grain answers the period's first day in UTC, for date and datetime
//     columns, and for undeclared columns that hold only dates.
//   - Joined rows ([Join]) may be grouped by their base fields and by the "as"
//     of their hops. Aggregate ignores the request's Joins.
//
// Aggregate declines (connector.ErrDecline, 204; the error says why):
//
//   - a sum or grain over another type; a min or max over booleans, json or
//     arrays;
//   - a cell that does not fit its column's declared type, such as "n/a" among
//     numbers or a malformed date;
//   - a min or max over an undeclared column that mixes numbers and other text,
//     which have no common order;
//   - a field name that several columns have;
//   - what exceeds the budget ([BudgetError]): groups and their keys, distinct
//     values and sums.
//
// It never cuts the answer: it refuses req.Limit or more groups with 422
// [rule aggregate-6]; a limit of zero means none. It refuses an unknown field
// with 404, in a filter with 422, and a malformed request with 400.
func Aggregate(rel relation.Relation, req *wire.AggregateRequest, budget int64) ([][]wire.Value, error) {
	rows, err := relation.Aggregate(rel, req, Budget(budget))
	if err != nil {
		return nil, aggregateError(err)
	}
	return rows, nil
}

// Cardinality counts the non-null and the distinct values of the requested
// columns. It is the answer of a connector.CardinalityMeasurer that reads rows.
// Values compare like filters: 1.5 and 1.50 are one number. The empty string is
// a value, and a column of nulls is {0, 0} [rule measure-1].
//
// The budget is for all columns together. When it is exceeded, the column that
// holds most is given up and answered nil: the platform measures it itself. The
// others are still exact.
//
// An unknown column is refused with 404, a request without columns with 400.
func Cardinality(rel relation.Relation, req *wire.CardinalityRequest, budget int64) (map[string]*wire.Cardinality, error) {
	answer, err := relation.Cardinality(rel, req, Budget(budget), false)
	return answer, aggregateError(err)
}

// LinkHitRate measures how many of the non-null values of one column are found
// in another. It is the answer of a connector.LinkMeasurer that reads rows. It
// reads to first, keeps its distinct keys, and then reads from. The relations
// need no other columns than these; they may be of the same table.
//
// Values are equal as in a join: as numbers if both columns are declared
// numeric, else as text [rule measure-2b]. In two numeric columns, text that is
// no number equals nothing, not even itself. The samples are the first distinct
// texts in byte order, at most 20.
//
// LinkHitRate refuses a link over budget with 422 ([BudgetError]), and an unknown
// column with 404.
func LinkHitRate(from, to relation.Relation, req *wire.LinkHitRateRequest, budget int64) (*wire.LinkHitRate, error) {
	rate, err := relation.LinkHitRate(from, to, req, Budget(budget))
	return rate, answer(err, func(string) error {
		return connector.Unsupported("the link cannot be measured: column %s of table %s has too many distinct values",
			terms.QuoteName(req.ToColumn), terms.QuoteName(req.ToTable))
	})
}

// Join executes the LEFT joins of a query or an aggregate, for a
// connector.Joiner whose upstream cannot join. hops are the tables of req.Joins,
// one for each hop in the same order, with their columns' own names. A table
// that two hops reach is given twice.
//
// The joined relation has the base's columns first, then those of each hop
// under their "as", with Column.Hop set: begin with its Columns, and range over
// its Rows. Every base row yields at least one row. A row without a match gets
// nulls; a row with several matches yields several rows, in the order of the
// hop's table, so sorted rows stay sorted. A null key matches nothing, and keys
// are equal as in [LinkHitRate].
//
// Join reads the hops' tables to their end before it returns. Of each row it
// keeps, within the budget, the cells that the request needs. Over budget it
// refuses the request with 422 ([BudgetError]). The base is read while the
// joined rows are; they reuse one slice, which the caller must not write to.
//
// Join refuses an unknown field (404), a repeated name (400), a fromTable
// other than the base table and those of earlier hops (400), and a fromTable reached
// by two hops (422).
func Join(
	base relation.Relation, req relation.JoinRequest, hops []relation.Relation, budget int64,
) (relation.Relation, error) {
	joined, err := relation.Join(base, req, hops, Budget(budget))
	if err != nil {
		return relation.Relation{}, answer(err, func(table string) error {
			return connector.Unsupported("the join cannot be executed: table %s is too large to hold", terms.QuoteName(table))
		})
	}
	return joined, nil
}

// answer returns an error of package relation as a source answers it. over returns the
// answer to an exceeded budget, for a table.
func answer(err error, over func(table string) error) error {
	if err == nil {
		return nil
	}
	var (
		budget  *relation.BudgetError
		decline *relation.DeclineError
		groups  *relation.GroupsError
		cell    *relation.CellError
	)
	switch {
	case errors.As(err, &budget):
		return &BudgetError{What: budget.What, Budget: budget.Limit, Answer: over(budget.Table)}
	case errors.As(err, &decline):
		return fmt.Errorf("%w: %s", connector.ErrDecline, decline.Reason)
	case errors.As(err, &groups):
		return connector.Unsupported("%s", groups.Error())
	case errors.As(err, &cell):
		return cell.Err
	}
	return err
}

// aggregateError returns an error of an aggregate as a source answers it. What exceeds
// the budget is declined.
func aggregateError(err error) error {
	return answer(err, func(string) error { return connector.ErrDecline })
}
