package conformance

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fixtureChecks are phase 2: agreement with the corpus. Most of them are
// nothing but the corpus's cases of their id; see phase2_cases.go.
func fixtureChecks() []Check {
	checks := slices.Concat(discoveryAgrees(), operatorChecks(), orderChecks(), measureChecks(), wireChecks(), generatedChecks(), fixtureAdvice())
	slices.SortStableFunc(checks, func(a, b Check) int { return section(a.ID) - section(b.ID) })
	return checks
}

// section is the number between the dot and the letter of an id; advice is last.
func section(id string) (n int) {
	if _, err := fmt.Sscanf(id, "P2.%d", &n); err != nil {
		return 100
	}
	return n
}

// family is a group of checks that share a section and differ in a letter.
type family struct {
	section string // such as P2.3
	rule    string
	quote   string
	fix     string
	needs   func(*document) string
	judge   func(*exam)
	members []member
}

// member is what a check has of its own; empty members are the family's.
type member struct {
	title, rule, quote, fix string
	needs                   func(*document) string
	judge                   func(*exam)
}

func (f family) checks() []Check {
	checks := make([]Check, len(f.members))
	for i, m := range f.members {
		c := Check{
			ID: fmt.Sprintf("%s%c", f.section, 'a'+i), Phase: 2, Title: m.title,
			Rule: first(m.rule, f.rule), Quote: first(m.quote, f.quote), Fix: first(m.fix, f.fix),
			needs: f.needs, judge: f.judge,
		}
		if m.needs != nil {
			c.needs = m.needs
		}
		if m.judge != nil {
			c.judge = m.judge
		}
		if c.judge == nil {
			c.judge = judgeCases
		}
		checks[i] = c
	}
	return checks
}

func first(own, shared string) string {
	if own != "" {
		return own
	}
	return shared
}

// agreement is the protocol's sentence about the whole phase.
const agreement = "agreement with a known fixture corpus: discovery types, every operator, sort, paging, counts, streams, aggregates, measurement against join, wire type fidelity"

// platformSemantics is the sentence that makes the platform's way of comparing
// the connector's duty; the [P] rulings say what it is.
const platformSemantics = "is true only when every `and` and `or` predicate held, with the platform's semantics."

// operatorChecks are about which rows answer.
func operatorChecks() []Check {
	rows := family{
		section: "P2.2", rule: "protocol, Conformance check", quote: agreement, judge: judgeRows,
		fix: "Load the corpus as it is, and answer a query without filters with every row of the table, each once.",
		members: []member{
			{title: "every table answers its rows"},
			{title: "the empty table answers no row", fix: "Answer a table without rows with a stream that has an end line and no rows line; it is not unknown."},
			{title: "a table of more rows than one batch holds is answered whole", rule: "protocol, Limits",
				fix: "Page through the source until it is exhausted, and cut what you send into batches of at most 5,000 rows."},
			{title: "a wide row is answered whole", fix: "Answer every requested field, however many there are and however long their texts."},
		},
	}
	const each = "Compare as the platform does, in %s; or leave the operator out of capabilities.operators and served.filters false, and the platform does it."
	op := func(op wire.Op, rule, what, fix string) member {
		return member{title: fmt.Sprintf("%s finds %s", op, what), rule: "protocol, Filter; " + rule, fix: fmt.Sprintf(each, fix)}
	}
	operators := family{
		section: "P2.3", quote: platformSemantics,
		members: []member{
			op(wire.OpEq, "A2, A6, A7", "the rows whose cell equals the value, and no null", "numbers by digits and texts by bytes, with no equal null"),
			op(wire.OpNeq, "A2, A6, A7", "the rows whose cell is another value, and no null", "numbers by digits and texts by bytes, with no unequal null"),
			op(wire.OpGt, "A2, A6, A7", "the greater cells, and no null", "numbers by digits and texts by bytes"),
			op(wire.OpGte, "A2, A6, A7", "the greater and the equal cells, and no null", "numbers by digits and texts by bytes"),
			op(wire.OpLt, "A2, A6, A7", "the lesser cells, and no null", "numbers by digits and texts by bytes"),
			op(wire.OpLte, "A2, A6, A7", "the lesser and the equal cells, and no null", "numbers by digits and texts by bytes"),
			op(wire.OpIn, "A3", "the members of the list, without its nulls", "equality as of eq; an empty list matches nothing"),
			op(wire.OpNin, "A3", "whatever is not in the list, nulls too", "equality as of eq; add OR column IS NULL to a NOT IN, and take nulls out of the list"),
			op(wire.OpContains, "A4", "the arrays with an element that equals the value", "arrays by their elements; a text contains nothing (that is includes)"),
			op(wire.OpIncludes, "A5", "the cells whose text has the value in it", "texts by bytes, with case, and with LIKE wildcards escaped"),
			op(wire.OpStartsWith, "A5", "the cells whose text begins with the value", "texts by bytes, with case, and with LIKE wildcards escaped"),
			op(wire.OpIsNull, "A2", "the null cells, not the empty texts", "nulls alone"),
			op(wire.OpNotNull, "A2", "the cells that are not null, empty texts too", "nulls alone"),
		},
	}
	combinations := family{
		section: "P2.4", rule: "protocol, Filter; A1",
		fix: "Build a condition of `and`, and one of `or` in parentheses: its groups joined by OR, the filters of a group by AND; both must hold.",
		members: []member{
			{title: "all filters of and hold", quote: "`and` is an array of filters, all of which must hold."},
			{title: "one group of or is enough, and all of its filters hold", quote: "`or` is an array of groups in disjunctive normal form; the whole `or` block counts as one more conjunct."},
			{title: "an empty or is no constraint, an empty group holds for every row", rule: "A1 [P]", quote: "`or: []` add no constraint. An empty group (`or: [[]]`) is true for every row.",
				fix: "An absent or empty `or` adds nothing; a group without filters is true."},
			{title: "or stands beside and", quote: "the whole `or` block counts as one more conjunct"},
		},
	}
	comparing := family{
		section: "P2.5", quote: platformSemantics,
		fix: "Compare by the type that discovery declares for the column, never by the source's own conversions.",
		members: []member{
			{title: "numbers compare by their digits", rule: "protocol, Sort, join hop, field types; A6", quote: "used to compare numbers by digits rather than bytes",
				fix: "Compare numbers exactly: 10 is greater than 9, and 2^53 is not 2^53+1. Send operands to the source as decimals, not as floats."},
			{title: "decimals compare by their digits", rule: "protocol, Sort, join hop, field types; A6", quote: "used to compare numbers by digits rather than bytes",
				fix: "Compare decimals exactly, whatever their scale: 1.5 equals 1.50. Never by way of a float."},
			{title: "texts compare by bytes", rule: "A7", fix: "Compare with a binary collation: with case, accents and trailing blanks. Bind operands as parameters and escape wildcards."},
			{title: "booleans compare as the texts true and false", rule: "A7", fix: "Turn the operands true and false, booleans or texts, into the source's boolean; 1 and 0 match nothing."},
			{title: "an operand of another kind than the column does not convert it", rule: "A6, A7",
				fix: "On a column of numbers, text that is not a plain decimal matches no comparator (nin keeps the row); on a column of texts a number is its digits as text."},
			{title: "fieldTypes never override what the source declares", rule: "A10 [P]", quote: "`fieldTypes` never overrides what the source declares.", fix: "Use fieldTypes only for columns whose type you do not know."},
			{title: "nulls match no comparator, and null members of lists are ignored", rule: "A2, A3",
				fix: "Three-valued logic of SQL is right for all comparators but nin: nin keeps null cells."},
			{title: "JSON and arrays compare as their text", rule: "A4, A7", fix: "Compare the JSON text that rows carry; contains alone looks at elements."},
			{title: "references compare as text", rule: "A7", fix: "Compare keys of type reference by bytes."},
		},
	}
	projection := family{
		section: "P2.8", rule: "protocol, /query; B5", quote: agreement,
		fix: "Answer the requested fields, whatever their order and number.",
		members: []member{
			{title: "rows have the requested fields, in any order"},
			{title: "one field alone is answered for every row", fix: "Project without DISTINCT: rows that look alike are still rows."},
		},
	}
	joins := family{
		section: "P2.15", rule: "protocol, /query; B6", quote: "whether `/query` executes joins; false makes the platform join locally",
		fix: "Execute each hop as a LEFT JOIN of its own, with an alias of its own; or declare join false.", needs: needsJoin,
		members: []member{
			{title: "a joined row has the fields of its match"},
			{title: "a row without a match stays, with nulls", fix: "Use LEFT JOIN, not INNER JOIN."},
			{title: "several matches are several rows", fix: "Do not keep the first match alone."},
			{title: "a table joins itself", fix: "Give each hop an alias, so that the columns of both sides stay apart."},
			{title: "a null key matches nothing", fix: "Null keys match nothing, other nulls included."},
			{title: "a hop starts from the base or from an earlier hop", fix: "Take fromTable for the base table or for the table of an earlier hop."},
		},
	}
	return slices.Concat(rows.checks(), operators.checks(), combinations.checks(), comparing.checks(), projection.checks(), joins.checks())
}

// orderChecks are about the order of rows, windows, and what streams claim.
func orderChecks() []Check {
	sorts := family{
		section: "P2.6", rule: "protocol, Sort, join hop, field types; B1", quote: "is true when rows are in the requested order (a request with no sort counts as sorted).",
		fix: "Sort as the platform does, or leave served.sort false and it sorts itself.", needs: needsSort,
		members: []member{
			{title: "ascending"},
			{title: "descending", fix: "Turn the order around for dir desc, for each key by itself."},
			{title: "nulls come last, ascending and descending", fix: "Add NULLS LAST, or sort by column IS NULL first."},
			{title: "numbers sort by digits", fix: "Sort numbers as exact numbers, not as text nor as floats."},
			{title: "texts sort by bytes", fix: "Sort with a binary collation (COLLATE \"C\", BINARY, utf8mb4_bin)."},
			{title: "several keys sort one after the other", needs: needsSorts, fix: "Sort by every key of the list, in its order."},
			{title: "collate asks for byte order too", rule: "B2", quote: "optional `collate: true` on a compiled sort", fix: "Sort by bytes whether collate is set or not."},
			{title: "dates and datetimes sort in time", fix: "Sort dates as dates, to the last digit of their fraction."},
		},
	}
	windows := family{
		section: "P2.7", rule: "protocol, /query; B4", quote: "is true when offset and limit were applied and no row beyond them follows",
		fix: "Cut offset and limit after filters and sort, or leave served.window false and the platform cuts.",
		members: []member{
			{title: "limit cuts", fix: "Answer exactly limit rows where there are as many."},
			{title: "offset skips", needs: needsOffset, fix: "Skip exactly offset rows; the first row has the offset 0."},
			{title: "limits and offsets beyond the end", fix: "A window beyond the last row is empty, and no error."},
			{title: "a window is cut from what the filters leave, in order", fix: "Filter, then sort, then cut."},
			{title: "an offset without a limit", needs: needsOffset, fix: "Without a limit everything behind the offset is answered; some databases want LIMIT -1 or the largest integer for it."},
		},
	}
	claims := family{
		section: "P2.9", rule: "protocol, /query 1 to 3", fix: "Claim what was done, and nothing else: false is always safe.",
		members: []member{
			{title: "served.filters true: every predicate held", judge: filtersClaimed, quote: platformSemantics,
				fix: "Claim served.filters only when the source applied every filter of the request, the or block included."},
			{title: "served.sort true: the rows are in order", judge: sortClaimed, needs: needsSort, quote: "is true when rows are in the requested order (a request with no sort counts as sorted).",
				fix: "Claim served.sort only when the source sorted by every key of the request."},
			{title: "served.window true: filters and sort are served, and the window is cut", judge: windowClaimed, quote: "it is honored only when filters and sort are served too.",
				fix: "Cut the window, and claim it, only when filters and sort are served; a window cut before them loses rows."},
			{title: "every row satisfies the filters whose operators are declared", judge: filterLaw, quote: "Filter law: every row answered must satisfy every filter for which the connector declared an operator.",
				fix: "Apply each filter whose operator you declare, even where others of the request are left to the platform; or do not declare it."},
		},
	}
	checks := slices.Concat(sorts.checks(), windows.checks(), claims.checks())
	for i := range checks {
		if section(checks[i].ID) == 9 {
			checks[i].watched = true
		}
	}
	return checks
}

func needsSort(d *document) string {
	if d.Capabilities.Sort == wire.SortNone {
		return "sort is none"
	}
	return ""
}

func needsSorts(d *document) string {
	if d.Capabilities.Sort != wire.SortMulti {
		return fmt.Sprintf("sort is %s", d.Capabilities.Sort)
	}
	return ""
}

func needsOffset(d *document) string {
	if !d.Capabilities.Offset {
		return "offset is false"
	}
	return ""
}

func needsJoin(d *document) string {
	if !d.Capabilities.Join {
		return "join is false"
	}
	return ""
}

func needsGrain(d *document) string {
	if why := needsRoute(wire.EndpointAggregate)(d); why != "" || d.Capabilities.DateBucket {
		return why
	}
	return "dateBucket is false"
}

func needsRoute(e wire.Endpoint) func(*document) string { return route{endpoint: e}.needs }

// measureChecks are about the routes that count and measure.
func measureChecks() []Check {
	counts := family{
		section: "P2.10", rule: "protocol, /count", quote: "Answer `{ count: integer }`.", needs: needsRoute(wire.EndpointCount),
		fix: "Count the rows that /query would answer to the same filters; or take count out of endpoints.",
		members: []member{
			{title: "a count without filters is the number of rows"},
			{title: "a count holds its filters"},
			{title: "a count holds its or block"},
			{title: "an empty table counts 0"},
		},
	}
	const never = "A wrong number is never legal."
	const decline = "Compute it exactly, or decline with 204."
	aggregates := family{
		section: "P2.11", rule: "protocol, /aggregate; E1, E3", quote: never, fix: decline, needs: needsRoute(wire.EndpointAggregate),
		members: []member{
			{title: "count counts rows"},
			{title: "count of a field counts its non-null cells", fix: "COUNT(column), not COUNT(*). " + decline},
			{title: "sum is exact", fix: "Sum decimals and 64-bit integers exactly, never as floats, and null over nothing. " + decline},
			{title: "min and max are cells as rows spell them", fix: "Compare as sorts do: numbers by digits, texts by bytes. " + decline},
			{title: "count_distinct counts distinct values, not null", fix: "Compare texts by bytes and numbers by digits. " + decline},
			{title: "every group is answered once", fix: "Group texts by bytes (a binary collation) and numbers by digits. " + decline},
			{title: "a null key is a group", fix: "Keep the group whose key is null. " + decline},
			{title: "without groupBy there is one row, even over no rows"},
			{title: "groupBy over no rows gives no rows"},
			{title: "grain year", rule: "protocol, /aggregate; E4", needs: needsGrain, fix: "Answer the first day of the year in UTC, YYYY-MM-DD."},
			{title: "grain quarter", rule: "protocol, /aggregate; E4", needs: needsGrain, fix: "Answer the first day of the quarter in UTC, YYYY-MM-DD."},
			{title: "grain month", rule: "protocol, /aggregate; E4", needs: needsGrain, fix: "Answer the first day of the month in UTC, YYYY-MM-DD."},
			{title: "grain day", rule: "protocol, /aggregate; E4", needs: needsGrain, fix: "Answer the day in UTC, YYYY-MM-DD."},
			{title: "as many groups as the limit are refused or declined, never cut", rule: "protocol, /aggregate", quote: "so the connector must refuse rather than truncate",
				fix: "When there are limit groups or more, answer 422 or 204; do not pass the limit to the source as the number of groups to answer."},
			{title: "an aggregate holds its filters", fix: "Filter before folding, `or` included. " + decline},
			{title: "stringFields group and compare by bytes", rule: "protocol, /aggregate; E5", fix: "Use a binary collation for the fields in stringFields. " + decline},
			{title: "several groups and measures at once"},
		},
	}
	sizes := family{
		section: "P2.12", rule: "protocol, /size", needs: needsRoute(wire.EndpointSize),
		members: []member{
			{title: "an exact size is the number of rows", quote: "`exact` is false when the source estimates; `{ size: null }` means unknown, and the null stays inside the wrapper.",
				fix: "Count the rows, or answer exact false, or size null."},
			{title: "an estimate is marked as one", quote: "`exact` is false when the source estimates", fix: "Set exact to false where the number comes from statistics."},
		},
	}
	cardinalities := family{
		section: "P2.13", rule: "protocol, /cardinality; F1", quote: "A column that cannot be counted distinctly answers null and the platform measures it over `/query`.", needs: needsRoute(wire.EndpointCardinality),
		fix: "Count exactly, or answer null for the column.",
		members: []member{
			{title: "nonNull counts the cells that are not null"},
			{title: "distinct counts the distinct values", fix: "Count distinct by bytes for texts (a binary collation), and not by an approximation; or answer null for the column."},
			{title: "the empty text is a value; a column of nulls is 0 and 0", rule: "F1 [P]", quote: "The empty string is a value: non-null, and one distinct value. An all-null column is `{nonNull: 0, distinct: 0}`."},
		},
	}
	links := family{
		section: "P2.14", rule: "protocol, /linkHitRate; F2", quote: "The platform keeps or drops a join hop by the orphan rate.", needs: needsRoute(wire.EndpointLinkHitRate),
		fix: "Count the from-rows whose key is not null, and of these the ones without a match.",
		members: []member{
			{title: "fromNonNull and orphanCount count rows", fix: "Count rows, not distinct keys."},
			{title: "orphanRate is orphanCount over fromNonNull, 0 over nothing", fix: "Answer a fraction between 0 and 1, not a percentage."},
			{title: "orphanSamples are keys without a match, at most 20", quote: "Answer per Measurement answers (at most 20 samples)."},
			{title: "numeric keys match by digits, others by bytes", fix: "Compare numbers as exact numbers when both columns are numeric; anything else as text with a binary collation."},
			{title: "a null key is no orphan, and no target", fix: "Leave null keys out on both sides; NOT IN over a list with a null finds nothing."},
		},
	}
	return slices.Concat(counts.checks(), aggregates.checks(), sizes.checks(), cardinalities.checks(), links.checks())
}

// fixtureAdvice are the rulings that are only decisions.
func fixtureAdvice() []Check {
	advise := func(id, title, rule, quote, fix string, judge func(*exam)) Check {
		return Check{ID: id, Phase: 2, Title: title, Rule: rule, Quote: quote, Fix: fix, Advice: true, judge: judge}
	}
	return []Check{
		advise("A.8", "datetimes compare as instants", "A9", "they compare **as instants**; otherwise as bytes.",
			"Parse the operands of date and datetime columns before comparing them, so that 14:00+02:00 is 12:00Z.", judgeCases),
		advise("A.9", "1.5 and 1.50 are one group and one distinct value", "E2", "`1.5` and `1.50` are one group and one distinct value.",
			"Group and count numbers by value, not by text; or decline.", judgeCases),
		advise("A.18", "orphanSamples are distinct and in byte order", "F2", "`orphanSamples` are distinct texts in byte order, at most 20.",
			"Select the samples DISTINCT, ordered by their bytes, at most 20.", samplesOrdered),
	}
}
