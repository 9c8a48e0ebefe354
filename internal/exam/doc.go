// Package exam chooses requests about tables whose rows are known, so that every request has a known
// answer. A seed always makes the same ones. The conformance program knows the rows of its corpus, and
// those of a whole read of a connector; the kit for SQL engines knows the rows that it wrote. Each sends
// the requests and reports wrong answers in its own way; [Question.Smallest] shrinks the request for both.
//
// # How requests are spent
//
// How many requests a check may send is for the caller to say; package session of the conformance program divides
// them. This package says which come first:
//
//   - Tables take turns ([Turns]): each is asked about once, and then those with many columns more often. Tables with
//     the same columns share the turns of one. Where a question is about what a connector makes of filters, and not about
//     the table, only the first of these has a turn before others have a second.
//   - What can be asked of a table is a queue ([Grid]): filters of every declared operator on every column. The gain of a
//     filter is the sum of what its answer would show: the misreadings that connectors are known for, by their weight,
//     and what is particular to the column, such as that a value is found. A misreading counts less once an answer
//     has disproved it, most where it was the same column and operator, least where it was only the same type. An
//     operator that a column was not asked about tells more than one that it was.
//   - Every question costs one request. It has the filter of the most gain or, if the budget is smaller than the plan,
//     as many as gain more together: in and, filters that most rows pass; in the groups of or, filters that few
//     pass. None of them may decide alone about the rows by which another is judged. Every third question about a table
//     has one filter, because many connectors hand on only that, and an answer to several disproves half as much.
//     What others have hidden is asked for again alone.
//   - A filter that is answered wrongly ends its operator on its column.
//
// Three plans are apart, because what they show is in no single filter: [Generator.Combinations] of filters that
// all matter, [Generator.FilteredWindows] of sorts and windows over filters, and [Generator.NullsOnRoutes], one
// operator on nulls for each kind of answer. [Generator.Packed] asks for filters of all operators without a plan of
// their gain, which takes ten times as long.
package exam
