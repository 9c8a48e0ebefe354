// Package oracle is the judge's own evaluator of the protocol: what a connector
// must answer, given the tables. It is deliberately simple. Nothing is compiled,
// indexed or streamed; every rule is written once, where the ruling can be laid
// beside it. It shares no code with package filter, so that a connector built on
// this SDK can fail (I2), and imports nothing but wire.
//
// Use it in a judge, and wherever a right answer is needed that the SDK did not
// compute: in tests of a source, or to write expected answers down.
//
//	tables := oracle.Tables{"orders": orders} // known, or read in full
//	if d := oracle.Verify(tables, req, rows); d != nil {
//		fail(d.Detail, d.Expected, d.Received)
//	}
//
// Query, Count, Aggregate, Cardinality and LinkHitRate give the right answer.
// Verify, VerifyGroups and VerifyLinkHitRate judge one, and know where the protocol leaves a
// choice: the order of rows that tie, which of them a window holds, the order of
// groups, the spelling of a number. Finish does with a stream what the platform
// does with it. Unmatched and Sorted judge what a stream claims to have served.
//
// # Semantics
//
//	RULING  WHAT                        HOW                                                            WHERE
//	A1      and, or                     all of and; all of one group of or, where it has a group       match.go
//	A2      null cell or value          matches no comparator and no contains, includes, startswith    match.go
//	A3      in, nin                     equal to a member or not; null equals nothing, so nin keeps it match.go
//	A4      contains                    an element of the JSON array equals the value, as undeclared   json.go
//	A5      includes, startswith        part, prefix of the wire text                                  match.go
//	A6      number, decimal             sign, length, digits; other text is incomparable               number.go
//	A7      string, reference, boolean, bytes of the wire text                                         key.go
//	        json, array
//	A8      undeclared                  as A6 where both are plain decimal text, else as A7            key.go
//	A9      date, datetime              instants where both are ISO 8601, else as A7                   instant.go
//	A10     which type                  the column's, else that of fieldTypes, else undeclared         table.go
//	A11     unknown field               *UnknownField; a cell missing from a row is null               table.go
//	A13     shape of a filter           *Malformed                                                     match.go
//	B1, B2  sort                        stable; numbers, dates before other text before null, both     order.go
//	                                    ways; text by bytes, collated or not
//	B4      window                      offset rows are skipped, limit rows taken                      query.go
//	B5      projection                  the fields, then those of the hops                             query.go
//	B6      join                        LEFT; keys as in F2                                            join.go
//	C2      served                      what is open is done; a window counts only with the rest       query.go
//	E1      measures                    sums exact; null over nothing but for counts                   fold.go
//	E2      groups, distinct values     equal under A6 to A9, spelled as the first row spells them     key.go
//	E3      null key, no rows           a group; one row without groupBy, none with                    aggregate.go
//	E4      grain                       first day of the period in UTC                                 aggregate.go
//	E5      stringFields                an undeclared field is text                                    plan.go
//	F1      cardinality                 null is not counted, the empty string is                       measure.go
//	F2      link hit rate               by digits where both columns are numeric, else text            link.go
//
// # Readings
//
// A9 and E2 are decisions of this project, not known behaviour of the platform.
// A [Reading] names those that another reader of the protocol may take: an
// answer that is wrong under the rulings and right under another of [Readings]
// deserves advice, not a failure.
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
// [Unsettled] tells where no ruling gives an order. A request that has no right
// answer, such as a sum over text, is an *[Undefined]: it can only be declined.
//
// # Cost
//
// Comparing is linear in the length of the values whatever their digits, and a
// sort parses every key once: the evaluator is made for tables of up to 200,000
// rows that a stranger wrote. JSON text that nests more than 1024 deep is taken
// for text. A list of in or nin is searched from its start for every row.
//
// # Rough edges
//
// The types of a joined table are its own; fieldTypes speak of the base table.
// Where a hop starts from a table that is the base and was also reached by one
// hop, it starts from the base. A joined table is held in full, so a join of two
// large tables whose keys repeat on both sides is not for this package. Cells are expected to have crossed the wire: a
// value that cannot ([wire.KindInvalid]) is not looked for.
package oracle
