// Package filter judges rows by the filters of a request, with the platform's
// own semantics: which rows match, how values compare, how rows are ordered.
//
// A connector needs none of it for correct answers, because package connector
// filters and sorts what a source has not. Use it in a source that keeps its
// own rows, to divide a request between the source and the SDK ([Split]), and
// in unit tests of either:
//
//	columns := []wire.Column{{Name: "status", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal}}
//	program, err := filter.Compile(wire.Where{And: []wire.Filter{
//		{Field: "status", Op: wire.OpIn, Values: []wire.Value{wire.Text("paid"), wire.Text("open")}},
//		{Field: "amount", Op: wire.OpGte, Value: wire.Text("100")},
//	}}, columns)
//	if err != nil {
//		return err // a *wire.Error that names the field: return it as it is
//	}
//	for _, row := range rows { // cells in the order of columns
//		if program.Match(row) {
//			// ...
//		}
//	}
//
// [Compile] is called once per request and [Program.Match] once per row; Match
// allocates nothing. [Compare], [CompileOrder], [AppendKey] and [Instant] are
// the same semantics for minima and maxima, sorting, grouping, and periods.
//
// # Semantics
//
// The table is complete: a combination of operator, type and cell that fits no
// row of it does not exist. Comparators are eq, neq, gt, gte, lt and lte.
// "Always" and "never" are verdicts; "compared" means that the verdict is what
// the condition says; "refused" means an error before any row. The first part
// of a row's name is the ruling it comes from. Every row is proven by the
// cases in testdata/semantics, which other languages can use as well.
//
//	ROW             OPERATORS                                    CONDITION                                                          VERDICT
//	A1-and          any                                          every filter of and holds; an empty and constrains nothing         compared
//	A1-or           any                                          one group of or holds in full; or is one more conjunct             compared
//	A1-no-or        any                                          or is absent or []; all of and holds                                always
//	A1-empty        any                                          or has an empty group; all of and holds                            always
//	A2-cell         comparator contains includes startswith      the cell is null or absent                                         never
//	A2-value        comparator contains includes startswith      the value is null                                                  never
//	A2-isnull       isnull                                       the cell is null or absent; "" and the text null are not           compared
//	A2-notnull      notnull                                      the cell is not null                                               compared
//	A3-in-null      in                                           the cell is null                                                   never
//	A3-nin-null     nin                                          the cell is null                                                   always
//	A3-in-empty     in                                           the list is empty or has only nulls                                never
//	A3-nin-empty    nin                                          the list is empty or has only nulls                                always
//	A3-in           in                                           a member is eq to the cell; null members are ignored               compared
//	A3-nin          nin                                          no member is eq to the cell; null members are ignored              compared
//	A4-member       contains                                     the cell is JSON text of an array with an element eq to the value  compared
//	A4-element      contains                                     the element is null, an array or an object                         never
//	A4-not-array    contains                                     the cell is anything but the JSON text of one array                never
//	A5-includes     includes                                     the wire text of the cell has the value as a part, case-sensitive  compared
//	A5-startswith   startswith                                   the wire text of the cell begins with the value, case-sensitive    compared
//	A5-empty        includes startswith                          the value is "" and the cell is not null                           always
//	A6-number       comparator                                   number, decimal: digits of unlimited precision                     compared
//	A6-spelling     comparator                                   number, decimal: signs of zero, outer zeros, scale do not matter   compared
//	A6-json-number  comparator                                   number, decimal: a JSON number is the shortest digits of a double  compared
//	A6-not-number   comparator                                   number, decimal: a side is not plain decimal text                  never
//	A6-in           in                                           number, decimal: the cell, or every member, is no number           never
//	A6-nin          nin                                          number, decimal: the cell, or every member, is no number           always
//	A7-text         comparator                                   string, reference, boolean, json, array: UTF-8 bytes               compared
//	A7-boolean      comparator                                   the same: booleans are the texts true and false                    compared
//	A8-number       comparator                                   undeclared, both sides plain decimal text: as A6                   compared
//	A8-text         comparator                                   undeclared, else: as A7                                            compared
//	A9-instant      comparator                                   date, datetime, both sides ISO 8601: instants                      compared
//	A9-bytes        comparator                                   date, datetime, else: as A7                                        compared
//	A10-column      any                                          the column's declared type counts, whatever fieldTypes says        compared
//	A10-fieldTypes  any                                          nothing is declared: what fieldTypes says counts                   compared
//	A10-none        any                                          neither says anything: undeclared, A8                              compared
//	A10-unknown     any                                          fieldTypes gives a type that is none of the nine                   refused
//	A11-row         any                                          a field missing from the row reads as null                         compared
//	A11-table       any                                          a field that the table does not have, in any filter                refused
//	A12-all         any                                          each of the thirteen operators is evaluated                        compared
//	A13-scalar      any                                          values are strings, numbers, booleans, null; a list may be empty   compared
//	A13-shape       any                                          an unknown operator, or a payload the operator does not take       refused
//
// Plain decimal text is an optional sign, digits, and optionally a dot and
// more digits. Exponents, ".5", "5.", blanks, the empty string and NaN are not
// (A6).
//
// Elements of an array compare as undeclared values (A4, A8). The array must
// be strict JSON, with nothing but blanks around it, and may nest 1024 deep.
// A number in it that no double can hold equals nothing.
//
// # Dates
//
// What counts as ISO 8601 (A9) is the extended format of a complete calendar
// date, alone or with a time of day:
//
//	date      = YYYY "-" MM "-" DD                                 0000-01-01 to 9999-12-31, days that exist
//	datetime  = date "T" hh ":" mm [":" ss [("." | ",") digits]] [offset]
//	offset    = "Z" | ("+" | "-") hh [[":"] mm]                    none: UTC; hh to 23, mm to 59
//
// t and z may be small. 24:00:00 is the midnight that ends the day, and a
// leap second, 23:59:60 UTC, lies between the second before it and midnight.
// Fractions count to their last digit, beyond nanoseconds too. Everything else
// compares by bytes: a blank for the T, the basic format (20240501, which
// could be a number), weeks, ordinal days, parts of a date.
//
// # Choices of this package
//
// A cell that cannot cross the wire (wire.KindInvalid, such as a NaN) is not
// null and equals nothing: no comparator matches it, nin and notnull keep it.
// A row that holds one fails when it is encoded.
//
// Order and key: see [Order.Compare] and [AppendKey] for what the pairwise
// rules leave open.
//
// # Speed
//
// Operands are parsed once. Numbers compare by sign, position of the leading
// digit, then digits: no allocation, no rescaling, linear in the length of the
// texts whatever the digits. Lists are searched in order or hashed, so a long
// one costs little more than a short one. Match allocates for nothing but the
// cells of contains that have escapes or numbers beyond the doubles, or that
// begin like an array and are malformed.
package filter
