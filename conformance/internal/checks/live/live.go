// Package live checks what must hold of any data: answers are compared with each
// other and with the rows that a plain read gives. Nothing is written.
package live

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks of live data for one run, in the order in which they run, and the
// advice that is judged as they are.
func Checks() (checks, advice []session.Check) {
	m := &memory{linksFrom: map[string][]link{}, sorted: map[judgedSort]bool{}, unmeasured: map[tableMeasure]bool{}}
	return slices.Concat(m.consistencyChecks(), m.filterChecks(), m.comparisons()), m.advice()
}

// What a check lacks when no table exercises it.
const (
	lacksRows    = "no table within the row budget has rows"
	lacksValues  = "no table within the row budget has values to filter by"
	lacksColumns = "no column has values whose order is beyond doubt, or no sort was served"
	lacksPages   = "no table has a key to page by, or no window was served"
)

// consistencyChecks compare answers with the rows of a plain read.
func (m *memory) consistencyChecks() []session.Check {
	return []session.Check{
		{ID: "L11", Phase: 4, Again: true, Weight: 100, Judge: m.within(wholeReadsComplete, "no table is within the row budget"),
			Rules: []string{"query-16"},
			Title: "a read without filters and without a window answers every row of the table, once",
			Fix: "Follow the upstream's pages to their end, keep the last row of each, and read on when a page is short. " +
				"Checks that compare with the rows of such a table leave it out."},
		{ID: "M20", Phase: 4, Again: true, Judge: m.within(readsAgree, "no table is within the row budget"),
			Rules: []string{"query-15", "stream-2b"},
			Title: "windows and sorted reads have the rows that a whole read has",
			Fix:   "Skip exactly offset rows and answer exactly limit, as far as there are rows; or answer all rows and leave served.window false."},
		{ID: "L10", Phase: 4, Again: true, Judge: m.within(discoveryHolds, "no table has rows"),
			Rules: []string{"discovery-7", "cell-1", "cell-2", "cell-3"},
			Title: "rows are spelled as their declared types, and null only where discovery says nullable",
			Fix: "Declare the type that the rows have, spell cells as the rulebook's section on cells says, " +
				"and set nullable where a null may come."},
		{ID: "L1", Phase: 4, Again: true, Weight: 20, Judge: m.within(inTurn(0, sizesExact), "no table within the row budget has an exact size"),
			Needs: declared.Needs(wire.PathSize), Rules: []string{"measure-4", "verdict-8"},
			Title: "an exact size is the number of streamed rows",
			Fix:   "Count the rows that /query answers with these credentials, or answer exact false, or size null."},
		{ID: "L2", Phase: 4, Again: true, Judge: m.within(eachCell(wire.PathQuery), lacksValues), Weight: 930,
			Needs: declared.Needs("operators"), Rules: []string{"filter-16", "stream-11", "filter-3", "filter-3a"},
			Title: "each declared operator answers the rows that satisfy it, and all of them",
			Fix: "Compare as the platform does, on every column that is filterable: members of a list as eq compares its value; nin " +
				"keeps what in drops, null cells included (add OR column IS NULL to a NOT IN); contains finds an element of an array, " +
				"includes a part of a text. Or take the operator out of capabilities.operators, do not push its filters and leave " +
				"served.filters false, and the platform does it."},
		{ID: "L3", Phase: 4, Again: true, Weight: 40, Judge: m.within(inTurn(0, countsRows), "no table is within the row budget"),
			Needs: declared.Needs(wire.PathCount), Rules: []string{"count-3"},
			Title: "/count is the number of streamed rows",
			Fix:   "Count exactly the rows that /query answers to the same filters."},
		{ID: "L4", Phase: 4, Again: true, Weight: 24,
			Judge: m.within(inTurn(1, columnsCounted), "no column of a table within the row budget was counted"),
			Needs: declared.Needs(wire.PathCardinality), Rules: []string{"measure-13", "measure-14"},
			Title: "distinct <= nonNull <= size, and each is what the rows give",
			Fix: "Count the non-null and the distinct values of the rows that /query answers, texts by bytes and numbers by value; " +
				"answer null for a column you can only estimate."},
		{ID: "L5", Phase: 4, Again: true, Judge: m.within(keysUnique, "no table with rows declares a key"),
			Rules: []string{"discovery-10", "document-14"},
			Title: "declared keys are unique and, unless nullable, never null",
			Fix:   "Declare a primary key or a unique field only where the source has a constraint, and answer each row once."},
		{ID: "L7", Phase: 4, Again: true, Weight: 216, Judge: m.within(sortHolds, lacksColumns),
			Needs: declared.Needs("sort"), Rules: []string{"stream-2", "query-1", "query-2"},
			Title: "served rows are in the requested order, nulls last in both directions",
			Fix: "Sort numbers by digits, texts by bytes (a binary collation) with collate and without, nulls last in both directions: " +
				"reverse the comparison for desc, and keep nulls last in both, as ORDER BY x IS NULL, x DESC does; " +
				"or answer all rows and leave served.sort and served.window false."},
		{ID: "L6", Phase: 4, Again: true, Weight: 70, Judge: m.within(pagesCompose, lacksPages),
			Needs: declared.Needs("sort", "offset"), Explained: []string{"M20"}, Rules: []string{"query-15", "stream-2b", "verdict-8"},
			Title: "pages of several sizes, with a filter and without, are the sorted rows one after the other",
			Fix: "Filter, then sort, then cut: skip exactly offset rows and answer exactly limit; " +
				"or answer all rows and leave served.window false."},
		{ID: "L8", Phase: 4, Again: true, Weight: 300,
			Judge: m.within(inTurn(1, folding(aggregatesFold)), "no aggregate over a table within the row budget was answered"),
			Needs: declared.Needs(wire.PathAggregate), Rules: []string{"aggregate-10"},
			Title: "aggregates are what folding the rows gives",
			Fix:   "Compute it exactly, over the rows that /query answers, with a group for null; or decline with 204."},
		{ID: "M23", Phase: 4, Weight: 12, Judge: m.within(inTurn(1, groupsNotCut), "no column of a table within the row budget has 1,001 values"),
			Needs: declared.Needs(wire.PathAggregate), Rules: []string{"aggregate-6"},
			Title: "more groups than the limit are refused or declined, never cut",
			Fix: "The limit of a request is the platform's budget plus one: " +
				"ask the upstream for that many groups, and answer 422 when they come."},
		{ID: "M24", Phase: 4, Again: true, Weight: 140,
			Judge: m.within(inTurn(1, folding(periodsFold)), "no date of a table within the row budget was grouped"),
			Needs: declared.Needs(wire.PathAggregate, "dateBucket"), Rules: []string{"aggregate-4", "aggregate-10"},
			Title: "each grain groups dates by the first day of their period, in UTC",
			Fix:   "Truncate in UTC to the year, the quarter, the month or the day, and answer the first day as YYYY-MM-DD; or decline with 204."},
		{ID: "L9", Phase: 4, Again: true, Weight: 50,
			Judge: m.within(linksMeasured, "no foreign key joins two tables within the row budget"),
			Needs: declared.Needs(wire.PathLinkHitRate), Rules: []string{"measure-2"},
			Title: "the link hit rate of declared foreign keys is what the rows give",
			Fix: "Count the from-rows with a key, and those of them whose key no to-row has: " +
				"numbers by digits, anything else as text."},
		{ID: "M21", Phase: 4, Again: true, Weight: 115,
			Judge: m.within(inTurn(1, joinsHold), "no foreign key joins two tables within the row budget"),
			Needs: declared.Needs("join"), Rules: []string{"query-6", "query-6c"},
			Title: "joins over declared foreign keys are what joining the rows gives",
			Fix: "Join on the left side: keep rows without a match with nulls, answer a row for each match, and let null match nothing. " +
				"Filter and sort the base table."},
		{ID: "M22", Phase: 4, Again: true, Weight: 32, Judge: m.within(inTurn(1, joinsFold), "no aggregate over a join was answered"),
			Needs: declared.Needs("join", wire.PathAggregate), Rules: []string{"aggregate-10", "aggregate-13"},
			Title: "aggregates over joins are what folding the joined rows gives",
			Fix:   "Fold the joined rows, those without a match and those with several included; or decline with 204."},
		{ID: "M25", Phase: 4, Weight: 16,
			Judge: m.within(inTurn(1, declaredTypesHold), "no column whose type decides what a declared operator keeps"),
			Needs: declared.Needs("operators"), Explained: []string{"L2", "L3"}, Rules: []string{"filter-10"},
			Title: "fieldTypes never override the types that discovery declares",
			Fix:   "Compare by the type of the source's column, and look at fieldTypes only for a column without one."},
		{ID: "M26", Phase: 4, Judge: m.judging(discoverySteady, "discovery was not answered twice"),
			Rules: []string{"discovery-13"},
			Title: "discovery describes the same tables when it is asked again",
			Fix:   "Describe what these credentials can read now, from the source and not from an earlier call."},
	}
}

// comparisons returns the checks that compare the answers to several requests with each other. The last judges what the
// second account is answered, after the checks that judge its data too.
func (m *memory) comparisons() []session.Check {
	return []session.Check{
		{ID: "M27", Phase: 4, Weight: 220, Judge: m.within(everyPartCounts, lacksRows),
			Explained: []string{"M20", "L6", "L7", "L3"}, Rules: []string{"query-15", "stream-2b", "count-3", "aggregate-10"},
			Title: "two requests that differ in one part, asked in turns, are each answered for themselves",
			Fix: "Keep no answer and no cursor for a later request, or keep it by everything that the request has: tenant, table, filters with " +
				"all members of their lists, groups of or, all sort keys with their directions, columns, measures, limit and offset. " +
				"Build filters and windows anew for each request, after one that was refused too."},
		{ID: "M7", Phase: 4, Weight: 70, Judge: m.within(inTurn(1, projectionKeepsRows), lacksRows), Rules: []string{"query-10"},
			Title: "fewer columns are as many rows, with the same cells",
			Fix:   "Project without DISTINCT and without GROUP BY: rows that look alike are still rows."},
		{ID: "T8", Phase: 4, Two: true, Again: true, Weight: 240, Least: 3, Rules: []string{"tenant-4", "tenant-6"},
			Judge:     ofSecond(m.within(echoed, "the rows of the two accounts tell no request apart")),
			Explained: []string{"L11", "L1", "L2", "L3", "L4", "L6", "L7", "L8", "L9", "M10", "M11", "M12", "M20", "M21", "M22", "M24"},
			Title:     "what one tenant was asked is answered to another by its own rows",
			Fix: "Keep nothing that was learned from a tenant's rows, such as the place, the bounds or the labels of a column, " +
				"an order or an answer, unless its key holds the credentials."},
	}
}

// filterChecks judge what L2 leaves: filters on other routes, and filters with others.
func (m *memory) filterChecks() []session.Check {
	return []session.Check{
		{ID: "M10", Phase: 4, Again: true, Judge: m.within(eachCell(wire.PathCount, wire.PathAggregate), lacksValues), Weight: 150,
			Needs: declared.All(declared.Needs("operators"), declared.NeedsAny(wire.PathCount, wire.PathAggregate)),
			Rules: []string{"count-3", "aggregate-1", "aggregate-10"},
			Title: "each declared operator counts the same rows on /count and /aggregate as on /query",
			Fix:   "Build the conditions of all three routes with the same code, or leave the route out of endpoints."},
		{ID: "M11", Phase: 4, Judge: m.within(filtersCombine, lacksValues), Weight: 120,
			Needs: declared.Needs("operators"), Rules: []string{"filter-1", "stream-11", "count-3", "aggregate-10", "verdict-8"},
			Title: "several filters hold together, on every route: on one field, on several, in groups of or",
			Fix: "Join the filters of and by AND, each in parentheses of its own. Push every filter of and, also a second one on a " +
				"field, and every group of or; or take the operators out of capabilities.operators, push none of their filters " +
				"and leave served.filters false."},
		{ID: "M12", Phase: 4, Again: true, Judge: m.within(windowsOverFilters, lacksPages), Weight: 100,
			Needs: declared.Needs("operators"), Rules: []string{"query-15", "stream-2b", "stream-2"},
			Title: "filters, sort keys and a window in one request are applied in this order",
			Fix: "Filter, then sort by all keys, nulls last, then skip offset rows and answer limit; " +
				"or answer all rows that the filters keep and leave served.sort and served.window false."},
	}
}

// advice returns the advice that is judged as live data is.
func (m *memory) advice() []session.Check {
	return []session.Check{
		{ID: "A.15", Phase: 3, Advice: true, Judge: m.within(tiesBroken, "no table has rows that tie, or no window was served"),
			Needs: declared.Needs("offset"), Weight: 42,
			Title:     "ties are broken so that pages of any size compose",
			Explained: []string{"M20", "L6", "L7"}, Rules: []string{"query-3"},
			Fix: "Add the primary key, or all other columns, behind the requested sort keys, " +
				"so that equal requests order equal rows alike."},
		{ID: "M29", Phase: 4, Advice: true, Judge: m.within(inTurn(1, discoveryDescribes), "discovery states no row count, sample or statistic"),
			Rules: []string{"discovery-7a", "discovery-8a"},
			Title: "the row counts, samples, statistics and foreign keys of discovery fit the rows",
			Fix: "Take them from the rows that these credentials can read, or leave them out; " +
				"let a foreign key lead to the column whose values it holds."},
		{ID: "M30", Phase: 4, Advice: true, Weight: 24,
			Judge: m.within(operandsRead, "no date of a table within the row budget that an operand can name in another spelling"),
			Needs: declared.Needs("operators"), Explained: []string{"L2"}, Rules: []string{"filter-9"},
			Title: "an operand names the same day or instant in any spelling, or is refused",
			Fix: "Parse operands with their offset and any fraction, take one without an offset for UTC, and compare instants; " +
				"or refuse with 400 what you do not read."},
		{ID: "M31", Phase: 4, Advice: true, Watched: true,
			Judge: m.within(countedBefore, "no column of a table within the row budget was counted"),
			Needs: declared.NeedsAny(wire.PathAggregate, wire.PathCardinality), Rules: []string{"aggregate-2"},
			Title: "values that differ in their spelling only are one group and one distinct value",
			Fix:   "Group and count by value: 1.5 and 1.50 are one decimal, whatever the upstream sends."},
	}
}
