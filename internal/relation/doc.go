// Package relation computes with rows: it sorts, joins, counts and aggregates them.
// A source that reads rows uses it, and so do the library for what a source leaves
// to it, and the platform's client for what a connector leaves to it.
//
// The parts:
//
//	TopN            the first rows of an order, or all, sorted
//	PlanJoin, Join  the LEFT joins of a request
//	PlanAggregate   groups and measures; Groups folds the rows
//	Count           rows that match filters
//	Cardinality     values and distinct values of columns
//	LinkHitRate     values of one column that are found in another
//	Budget          what a call may still keep in memory
//
// Each reads its rows once, copies what it keeps, and counts that in a [Budget].
// The package knows the protocol's requests, but neither connector nor platform.
// Its callers decide what an error is answered with:
//
//   - a [*wire.Error] refuses the request, and says with which code;
//   - a [*DeclineError] says that there is no exact answer;
//   - a [*GroupsError] says that there are too many groups;
//   - a [*BudgetError] says that the budget is exceeded;
//   - a [*CellError] says that a cell has no value.
//
// An error of the rows themselves is passed on unchanged.
package relation
