// Package measures answers the optional routes of a source from its rows: counts,
// aggregates, cardinalities, links and joins. What is computed is that of
// internal/relation. This package turns its errors into what a source answers, and gives
// each call a budget.
//
// All functions read their rows once, copy what they keep, and keep no more than their
// budget allows. If the work exceeds it, no answer is wrong:
//
//	Count        keeps nothing
//	Aggregate    declines: connector.ErrDecline, 204
//	Cardinality  answers nil for the columns that hold most
//	LinkHitRate  refuses: wire.CodeUnsupported, 422
//	Join         refuses: wire.CodeUnsupported, 422
//
// Numbers compare and add as decimal digits, never as floats.
//
// The functions take no context. Let the rows yield the context's error when it ends.
package measures
