package conformance

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// liveChecks are phase 4: what must hold of any data, judged against what was
// read of it.
func liveChecks() []Check {
	return slices.Concat(selfConsistency(), metamorphic(), generatedLiveChecks())
}

// What a law lacks when nothing exercises it.
const (
	wantsRows    = "no table within the row budget has rows"
	wantsValues  = "no table within the row budget has values to filter by"
	wantsColumns = "no column has values whose order is beyond doubt, or no sort was served"
)

// selfConsistency are L1 to L10.
func selfConsistency() []Check {
	const (
		section = "protocol, Conformance check"
		quote   = "live self-consistency: an exact size equals streamed rows, filters narrow, measured counts stay ordered, declared keys are unique, pages compose"
	)
	return []Check{
		{
			ID: "L1", Phase: 4, judge: lawful(sizesExact, "no table within the row budget has an exact size"), needs: needsRoute(wire.EndpointSize),
			Title: "an exact size is the number of streamed rows", Rule: section, Quote: quote,
			Fix: "Count the rows that /query answers with these credentials, or answer exact false, or size null.",
		},
		{
			ID: "L2", Phase: 4, judge: lawful(filtersNarrow, wantsValues), needs: needsAnyOperator,
			Title: "each declared operator answers the rows that satisfy it, and all of them", Rule: "protocol, /query 3; A2 to A9",
			Quote: "Filter law: every row answered must satisfy every filter for which the connector declared an operator.",
			Fix:   "Compare as the platform does; or leave the operator out of capabilities.operators and served.filters false, and the platform does it.",
		},
		{
			ID: "L3", Phase: 4, judge: lawful(countsRows, "no table is within the row budget"), needs: needsRoute(wire.EndpointCount),
			Title: "/count is the number of streamed rows", Rule: "protocol, Endpoints, /count", Quote: "Answer `{ count: integer }`.",
			Fix: "Count exactly the rows that /query answers to the same filters.",
		},
		{
			ID: "L4", Phase: 4, judge: lawful(columnsCounted, "no column of a table within the row budget was counted"), needs: needsRoute(wire.EndpointCardinality),
			Title: "distinct <= nonNull <= size, and each is what the rows give", Rule: section + "; protocol, Measurement answers; F1", Quote: quote,
			Fix: "Count the non-null and the distinct values of the rows that /query answers, texts by bytes; answer null for a column you can only estimate.",
		},
		{
			ID: "L5", Phase: 4, judge: lawful(keysUnique, "no table with rows declares a key"),
			Title: "declared keys are unique and, unless nullable, never null", Rule: "protocol, Discovered table",
			Quote: "a key declared unique that is not really unique breaks joins",
			Fix:   "Declare a primary key or a unique field only where the source has a constraint, and answer each row once.",
		},
		{
			ID: "L6", Phase: 4, judge: lawful(pagesCompose, "no table has a key to page by, or no window was served"), needs: needsPages,
			Title: "pages under a key, one after the other, are the sorted rows", Rule: section + "; protocol, /query 1", Quote: quote,
			Fix: "Sort before you cut, skip exactly offset rows and answer exactly limit; or leave served.window false.",
		},
		{
			ID: "L7", Phase: 4, judge: lawful(sortHolds, wantsColumns), needs: needsSort,
			Title: "served rows are in the requested order, nulls last", Rule: "protocol, /query 1; B1",
			Quote: "`served.sort` is true when rows are in the requested order (a request with no sort counts as sorted).",
			Fix:   "Sort numbers by digits, texts by bytes (a binary collation), nulls last in both directions; or leave served.sort false.",
		},
		{
			ID: "L8", Phase: 4, judge: lawful(aggregatesFold, "no aggregate over a table within the row budget was answered"), needs: needsRoute(wire.EndpointAggregate),
			Title: "aggregates are what folding the rows gives", Rule: "protocol, /aggregate; E1, E3", Quote: "A wrong number is never legal.",
			Fix: "Compute it exactly, over the rows that /query answers, or decline with 204.",
		},
		{
			ID: "L9", Phase: 4, judge: lawful(linksMeasured, "no foreign key joins two tables within the row budget"), needs: needsRoute(wire.EndpointLinkHitRate),
			Title: "the link hit rate of declared foreign keys is what the rows give", Rule: "protocol, /linkHitRate; F2",
			Quote: "The platform keeps or drops a join hop by the orphan rate.",
			Fix:   "Count the from-rows with a key, and those of them whose key no to-row has: numbers by digits, anything else as text.",
		},
		{
			ID: "L10", Phase: 4, judge: lawful(discoveryHolds, "no table has rows"),
			Title: "rows are spelled as their declared types, and null only where discovery says nullable", Rule: "protocol, Row values; Discovered table",
			Quote: "Wire spellings: decimals and integers beyond 2^53 as digit-exact strings; datetimes as ISO 8601 UTC; arrays and JSON as JSON text inside a string; missing values as null.",
			Fix:   "Declare the type that the rows have, spell cells as the protocol's section Row values says, and set nullable where a null may come.",
		},
	}
}

// metamorphic are M1 to M7.
func metamorphic() []Check {
	const filters = "`served.filters` is true only when every `and` and `or` predicate held, with the platform's semantics."
	return []Check{
		{
			ID: "M1", Phase: 4, judge: lawful(inAndNin, wantsValues), needs: needsOps(wire.OpIn, wire.OpNin),
			Title: "in [a] and nin [a] together are every row", Rule: "protocol, /query 1; A3", Quote: filters,
			Fix: "nin keeps what in drops, null cells included: add OR column IS NULL to a NOT IN.",
		},
		{
			ID: "M2", Phase: 4, judge: lawful(inIsEither, wantsValues), needs: needsOps(wire.OpIn, wire.OpEq),
			Title: "in [a,b] is eq a or eq b", Rule: "protocol, Filter; A1, A3",
			Quote: "`or` is an array of groups in disjunctive normal form; the whole `or` block counts as one more conjunct.",
			Fix:   "Compare members of a list as eq compares its value, and take a row when one group of `or` holds.",
		},
		{
			ID: "M3", Phase: 4, judge: lawful(conjunctNarrows, wantsValues), needs: needsAnyOperator,
			Title: "a further conjunct never adds rows", Rule: "protocol, Filter; A1", Quote: "`and` is an array of filters, all of which must hold.",
			Fix: "Join the filters of `and` by AND, each in parentheses of its own.",
		},
		{
			ID: "M4", Phase: 4, judge: lawful(numbersAgree, wantsRows), needs: needsFolding,
			Title: "the count, the rows, the aggregate's count and the sum of its groups are one number", Rule: "protocol, /count, /aggregate; E3", Quote: "A wrong number is never legal.",
			Fix: "Filter alike on every route, and keep every group, the one of the null key too.",
		},
		{
			ID: "M5", Phase: 4, judge: lawful(pagesComposeFiltered, "no table has a key to page by, or no window was served"), needs: needsPages,
			Title: "pages of several sizes compose, with a filter and without", Rule: "protocol, /query 1",
			Quote: "`served.window` is true when offset and limit were applied and no row beyond them follows; it is honored only when filters and sort are served too.",
			Fix:   "Filter, then sort, then cut; or leave served.window false.",
		},
		{
			ID: "M6", Phase: 4, judge: lawful(turnedAround, wantsColumns), needs: needsSort,
			Title: "descending is ascending turned around", Rule: "protocol, /query 1; B1",
			Quote: "`served.sort` is true when rows are in the requested order (a request with no sort counts as sorted).",
			Fix:   "Use one order for both directions, and turn it around for desc.",
		},
		{
			ID: "M7", Phase: 4, judge: lawful(projectionKeeps, wantsRows),
			Title: "fewer columns are as many rows, with the same cells", Rule: "protocol, /query; B5", Quote: "array of field names",
			Fix: "Project without DISTINCT and without GROUP BY: rows that look alike are still rows.",
		},
	}
}
