// Package oracle evaluates requests of the protocol by itself: it computes what a
// connector must answer, given the tables. It is deliberately simple: it compiles,
// indexes and streams nothing, and has each rule in one place, so that it can be
// compared with the text of docs/protocol.md. It shares no code with package
// filter, so that a connector built on this library can fail [rule verdict-2],
// and imports only wire and the reading of JSON text below it.
//
// Use it in a judge, in tests of a source, and to write down expected answers:
// wherever you need a right answer that the library did not compute.
//
//	tables := oracle.Tables{"orders": orders} // known, or read in full
//	if d := oracle.Verify(tables, req, rows); d != nil {
//		fail(d.Detail, d.Expected, d.Received)
//	}
//
// [Query], [Count], [Aggregate], [Cardinality] and [LinkHitRate] return the right
// answer. [Verify], [VerifyGroups] and [VerifyLinkHitRate] judge an answer, and
// allow what the protocol leaves open: the order of rows that tie, which of them
// a window contains, the order of groups, the spelling of a number. [Finish] does
// what the platform does with a stream. [Unmatched] and [Sorted] judge what a
// stream claims to have served, that is, to have done already.
//
// # Semantics
//
//	RULE         WHAT                                     HOW                                                             FILE
//	filter-1     and, or                                  all filters of and; all of one group of or if it has groups     match.go
//	filter-2     null cell or value                       matches no comparator and no contains, includes, startswith     match.go
//	filter-3     in, nin                                  whether the cell equals a member; null equals nothing           match.go
//	filter-4     contains                                 an element of the JSON array equals the value, as undeclared    json.go
//	filter-5     includes, startswith                     substring, prefix of the wire text                              match.go
//	filter-6     number, decimal                          sign, length, digits; other text cannot be compared             number.go
//	filter-7     string, reference, boolean, json, array  bytes of the wire text                                          key.go
//	filter-8     undeclared                               as numbers if both are plain decimal text, otherwise as text    key.go
//	filter-9     date, datetime                           as instants if both are ISO 8601, otherwise as text             instant.go
//	filter-10    the type of a field                      the column's, else that of fieldTypes, else undeclared          table.go
//	filter-11    unknown field                            *UnknownField; a cell missing from a row is null                table.go
//	filter-14    shape of a filter                        *Malformed                                                      match.go
//	query-1      sort                                     stable; numbers and dates, then other text, then null           order.go
//	query-4      window                                   skip offset rows, take limit rows                               query.go
//	query-5      projection                               the fields, then those of the hops                              query.go
//	query-6      join                                     left join; keys compare as in measure-2b                        join.go
//	stream-2     served                                   what is not served is done; a window counts only with the rest  query.go
//	aggregate-1  measures                                 exact sums; null over nothing, except for counts                fold.go
//	aggregate-2  groups, distinct values                  equal as in a filter, spelled as in the first row               key.go
//	aggregate-3  null key, no rows                        a group; one row without groupBy, none with                     aggregate.go
//	aggregate-4  grain                                    first day of the period in UTC                                  aggregate.go
//	aggregate-5  stringFields                             an undeclared field is text                                     plan.go
//	measure-1    cardinality                              the empty string counts, null does not                          measure.go
//	measure-2    link hit rate                            by digits if both columns are numeric, otherwise as text        link.go
//
// # Readings
//
// [rule filter-9] and [rule aggregate-2] are decisions of this project, not known
// behaviour of the platform. A [Reading] names other decisions that a reader of
// the protocol may take. An answer that is wrong under the rules but right under
// another of [Readings] deserves advice, not a failure.
//
//	verdict := fail
//	for i, reading := range oracle.Readings() {
//		if reading.VerifyGroups(tables, req, rows) == nil {
//			verdict = pass
//			if i > 0 {
//				verdict = advice
//			}
//			break
//		}
//	}
//
// [Unsettled] reports sort keys whose order no rule fixes. A request without a
// right answer, such as a sum over text, is an *[Undefined]: a connector can only
// decline it.
//
// # Cost
//
// A comparison is linear in the length of the values, and a sort parses every key
// once. The evaluator is made for tables of up to 200,000 rows of unknown origin.
// JSON that nests more than 1024 deep counts as text. The list of an in or nin is
// searched from its start for every row.
//
// # Limits
//
// The types of a joined table are its own, because fieldTypes describes the base
// table. A hop that could start from the base table or from a table that one hop
// reached starts from the base table. A join is held in memory in full: do not
// join two large tables whose keys repeat on both sides. Cells must be as read
// from the wire; a value that cannot be written to it ([wire.KindInvalid]) is not
// detected.
package oracle
