// Package filter evaluates the filters of a request exactly as the platform
// does: it decides which rows match, how values compare and how rows sort.
//
// A connector does not need it for correct answers, because package connector
// does the filtering and sorting that a source leaves undone. Use it in a
// source that keeps its own rows, to divide a request between the source and
// the library ([Split]), and in unit tests of either:
//
//	columns := []wire.Column{{Name: "status", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal}}
//	match, err := filter.Compile(wire.Where{And: []wire.Filter{
//		{Field: "status", Op: wire.OpIn, Values: []wire.Value{wire.Text("paid"), wire.Text("open")}},
//		{Field: "amount", Op: wire.OpGte, Value: wire.Text("100")},
//	}}, columns)
//	if err != nil {
//		return err // a *wire.Error that names the field: return it unchanged
//	}
//	for _, row := range rows { // cells in the order of columns
//		ok, err := match.Match(row)
//		if err != nil {
//			return err // a cell without a value: the row can be neither kept nor dropped
//		}
//		if ok {
//			// ...
//		}
//	}
//
// Call [Compile] once per request and [Matcher.Match] once per row; Match does
// not allocate. [Compare], [CompileOrder], [AppendKey] and [Instant] apply the
// same semantics to minima and maxima, sorting, grouping and periods.
//
// # Semantics
//
// The table is complete: every combination of operator, type and cell falls
// under one of its rows. A comparator is eq, neq, gt, gte, lt or lte; "value"
// is every operator that takes one value: the comparators, contains, includes
// and startswith. The verdicts: "always" keeps the row, "never" drops
// it, "compared" keeps it if the condition is true, and "refused" fails the request
// before any row. RULE is the rule of
// docs/protocol.md that a row follows. The cases in testdata/semantics test
// every row and can be used from other languages too.
//
//	ROW                RULE        OPERATORS            CONDITION                                                           VERDICT
//	and                filter-1    any                  every filter of and holds; an empty and constrains nothing          compared
//	or                 filter-1    any                  one group of or holds in full; or is one more condition beside and  compared
//	or-absent          filter-1a   any                  or is absent or []; all of and holds                                always
//	or-empty-group     filter-1a   any                  or has an empty group; all of and holds                             always
//	null-cell          filter-2    value                the cell is null or absent                                          never
//	null-value         filter-2    value                the value is null                                                   never
//	isnull             filter-18   isnull               the cell is null or absent; "" and the text null are not            compared
//	notnull            filter-18   notnull              the cell is not null                                                compared
//	in-null-cell       filter-3    in                   the cell is null                                                    never
//	nin-null-cell      filter-3a   nin                  the cell is null                                                    always
//	in-empty           filter-3    in                   the list is empty or has only nulls                                 never
//	nin-empty          filter-3a   nin                  the list is empty or has only nulls                                 always
//	in                 filter-3    in                   a member is eq to the cell; null members are ignored                compared
//	nin                filter-3a   nin                  no member is eq to the cell; null members are ignored               compared
//	contains           filter-4    contains             the cell is a JSON array with an element eq to the value            compared
//	contains-nested    filter-4    contains             the element is null, an array or an object                          never
//	contains-no-array  filter-4    contains             the cell is not the JSON text of one array                          never
//	includes           filter-5    includes             the cell's wire text contains the value, case-sensitive             compared
//	startswith         filter-5a   startswith           the cell's wire text begins with the value, case-sensitive          compared
//	empty-text         filter-5    includes startswith  the value is "" and the cell is not null                            always
//	number             filter-6    comparator           number, decimal: digits of unlimited precision                      compared
//	number-spelling    filter-6    comparator           number, decimal: sign of zero, outer zeros and scale are ignored    compared
//	number-json        filter-6c   comparator           number, decimal: a JSON number is the shortest digits of a double   compared
//	number-inexact     filter-6e   any                  an operand is a JSON number with other digits than its double               refused
//	not-a-number       filter-6b   comparator           number, decimal: a side is not plain decimal text                   never
//	in-not-a-number    filter-6b   in                   number, decimal: the cell, or every member, is not a number         never
//	nin-not-a-number   filter-6b   nin                  number, decimal: the cell, or every member, is not a number         always
//	text               filter-7    comparator           string, reference, boolean, json, array: UTF-8 bytes                compared
//	boolean            filter-7a   comparator           the same types: a boolean is the text true or false                 compared
//	undeclared-number  filter-8    comparator           undeclared, both sides plain decimal text: as number                compared
//	undeclared-text    filter-8    comparator           undeclared, otherwise: as text                                      compared
//	instant            filter-9    comparator           date, datetime, both sides ISO 8601: instants                       compared
//	not-an-instant     filter-9    comparator           date, datetime, otherwise: as text                                  compared
//	type-of-column     filter-10   any                  the column's declared type decides, whatever fieldTypes says        compared
//	type-of-request    filter-10   any                  the column declares no type: fieldTypes decides                     compared
//	type-undeclared    filter-10   any                  neither gives a type: undeclared                                    compared
//	type-invalid       filter-19   any                  fieldTypes gives a type that the protocol does not define           refused
//	absent-cell        filter-11b  any                  a field missing from the row reads as null                          compared
//	unknown-field      filter-11   any                  any filter names a field that the table does not have               refused
//	operators          filter-12   any                  each of the thirteen operators is evaluated                         compared
//	scalars            filter-13   any                  values are strings, numbers, booleans, null; a list may be empty    compared
//	shape              filter-14   any                  an unknown operator, or a payload that the operator does not take   refused
//
// Plain decimal text is an optional sign, digits, and optionally a dot and
// more digits. Exponents, ".5", "5.", spaces, the empty string and NaN are not
// plain decimal text [rule filter-6a].
//
// The elements of an array compare as undeclared values. The array must be
// strict JSON, with only white space around it, and may nest 1024 deep. A
// number in it that is too large for a double equals nothing.
//
// # Dates
//
// ISO 8601 here means the extended format of a complete calendar date, alone
// or with a time of day:
//
//	date      = YYYY "-" MM "-" DD                                 0000-01-01 to 9999-12-31, days that exist
//	datetime  = date "T" hh ":" mm [":" ss [("." | ",") digits]] [offset]
//	offset    = "Z" | ("+" | "-") hh [[":"] mm]                    none: UTC; hh to 23, mm to 59
//
// T and Z may be lower case. 24:00:00 is midnight at the end of the day. A leap
// second, 23:59:60 UTC, lies between the second before it and midnight. All
// digits of a fraction count, even beyond nanoseconds. Any other text compares
// by bytes, for example a space in place of the T, the basic format (20240501,
// which could be a number), weeks, ordinal days or parts of a date.
//
// # Decisions of this package
//
// A cell that cannot cross the wire (wire.KindInvalid, for example a NaN) has no
// value. [Matcher.Match] fails for a row in which a filter compares such a cell,
// because nobody can say whether the row belongs to the answer.
//
// [Order.Compare] and [AppendKey] describe what they add to the pairwise rules.
//
// # Speed
//
// Operands are parsed once. Two numbers compare by sign, then by the position
// of the leading digit, then by digits: without allocation or rescaling, in
// time linear in the length of their text. Lists are searched by bisection or
// hashed, so a long list costs little more than a short one. Match allocates
// only for contains, and only for cells with escapes, with numbers too large
// for a double, or with a malformed array.
package filter
