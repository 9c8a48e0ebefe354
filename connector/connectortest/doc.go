// Package connectortest tests a source as the platform uses it, without a port:
// with the real handler in a real HTTP server, over connections in memory.
//
// # A test in a few lines
//
// [Run] discovers the tables and tests everything that the connector's document
// declares. [Isolation] checks that no tenant sees data of another. [Start]
// serves a source for your own calls, which a [Tenant] makes:
//
//	func TestPlanets(t *testing.T) {
//		connectortest.Run(t, definition, planets{}, nil)
//	}
//
//	func TestGasGiants(t *testing.T) {
//		tenant := connectortest.Start(t, definition, planets{}, nil).As(nil)
//		answer, err := tenant.Query(wire.QueryRequest{
//			Table:  "planets",
//			Where:  wire.Where{And: []wire.Filter{{Field: "moons", Op: wire.OpGt, Value: wire.Int(20)}}},
//			Sort:   []wire.SortKey{{Field: "moons", Dir: wire.Desc}},
//			Fields: []string{"name", "moons"},
//			Limit:  2,
//		})
//		require.NoError(t, err)
//		assert.JSONEq(t, `[{"name": "Saturn", "moons": 274}, {"name": "Jupiter", "moons": 97}]`, answer.JSON())
//	}
//
//	func TestUnknownTable(t *testing.T) {
//		tenant := connectortest.Start(t, definition, planets{}, nil).As(nil)
//		_, err := tenant.Size("comets")
//		assert.ErrorIs(t, err, connector.ErrUnknownEntity)
//	}
//
// # What is verified
//
// Every answer is compared with all rows of its tables, which are read through
// the same connector without filters, sort or window. The test fails for a row
// that a filter drops, a missing row, and a wrong order, window, count or sum. The
// message has the rule of docs/protocol.md that the answer breaks, the request
// without its credentials, and the expected and the received values:
//
//	POST /query: filter-3a: 2 of 11 rows that the filters keep are missing
//		expected: {"id":4,"customer":null}
//		          {"id":9,"customer":null}
//		got:      9 rows without them
//		request:  {"table":"orders","and":[{"field":"customer","op":"nin","values":[]}],...}
//
// A connector need not do what it does not claim to have served: without
// served.filters, it may send more rows than the filters keep, except for
// operators that its document declares; without served.sort, the rows may be in
// any order. But no row may ever be missing.
//
// Rows missing from the full read cannot be detected: assert a few rows you know,
// as above. Values compare by the type that discovery gives their field
// [rule filter-10]: a source whose columns have other types fails.
//
// # Time
//
// A [Server] can be started in a testing/synctest bubble. Heartbeats and timeouts
// then take no real time, and [Answer] counts the heartbeats.
//
// # Limits
//
// The data must not change while an answer is verified. For data that change, and
// for a fake upstream that counts its calls, use [Tenant.Unverified]. SQL in a
// dialect is not verified, because only the source can read it. Aggregates that no
// rule defines, such as a sum of texts, are accepted with any value.
package connectortest
