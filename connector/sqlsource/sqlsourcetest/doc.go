// Package sqlsourcetest tests a flavor of package sqlsource on its engine, and
// shows the flavor's author what it gets wrong.
//
// Describe the engine's types once: the SQL of each, and literals with the cell
// that each must be read as.
//
//	func TestFlavor(t *testing.T) {
//		db, err := sql.Open("duckdb", "")
//		require.NoError(t, err)
//		sqlsourcetest.Run(t, sqlsourcetest.Engine{
//			Flavor: duck(), DB: db, Key: "BIGINT",
//			Types: []sqlsourcetest.Type{
//				{Name: "text", SQL: "VARCHAR", Type: wire.TypeString,
//					Literals: sqlsourcetest.Texts(quoted, "", "a", "A", "a ", "é")},
//				{Name: "money", SQL: "DECIMAL(12,2)", Type: wire.TypeDecimal, Literals: []sqlsourcetest.Literal{
//					{SQL: "1.50", Cell: wire.Decimal("1.50")},
//				}},
//			},
//		}, nil)
//	}
//
// [Run] creates tables of these columns and fills them. It compares discovery and
// every cell with what was described, and reads each table in pages, also while
// its rows change. One of the tables has an index on each column that can have
// one. It joins large tables by keys of each kind. Then it generates requests:
// filters of every operator on every column, with operands from cells, from their
// neighbours and other spellings, and from a list of those that databases get wrong;
// sorts, windows, projections, joins, counts, aggregates, links. Each is answered by the engine
// through the connector, and in memory by an evaluator that shares no code with the
// library. The answers must be equal, rows and order. A request whose answers differ
// is made as small as it can be before it is shown. What a flavor leaves to the
// library is not a fault; the report counts how much was declined.
//
// Not every engine has keys, indexes or updates: [Options] leaves out by name what
// does not fit one, and the log says what was left out.
//
// [Planted] proves that these requests find bugs. [Hostile] proves that no text
// of a request reaches a statement. [Intercept] lets your own tests look at
// statements, and make them fail. [Benchmark] measures what the flavor costs.
//
// The conformance program makes its requests by the same code, from the rows that a
// connector answers. It leaves out what readings of the protocol answer differently.
// Here the rows are known, so that nothing is left out.
package sqlsourcetest
