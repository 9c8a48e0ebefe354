// Package connectortest tests a source as the platform would use it, without a
// port: the real handler under a real HTTP server, reached through pipes in
// memory.
//
// # A test in a few lines
//
// [Run] discovers the tables and exercises everything that the connector's
// document declares. [Isolation] looks for what one tenant sees of another.
// [Start] serves a source for calls of your own, which a [Tenant] makes:
//
//	func TestPlanets(t *testing.T) {
//		connectortest.Run(t, definition, planets{}, connectortest.Config{})
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
// Every answer, whether a test asks for it or not, is held against all rows of
// its tables, read through the same connector with nothing filtered, sorted or
// cut. A row that a filter refuses, a row that is missing, an order, a window, a
// count or a sum that is not so fails the test, with the ruling that it breaks,
// the request without its credentials, what was expected and what came:
//
//	POST /query: A3: 2 of 11 rows that the filters keep are missing
//		expected: {"id":4,"customer":null}
//		          {"id":9,"customer":null}
//		got:      9 rows without them
//		request:  {"table":"orders","and":[{"field":"customer","op":"nin","values":[]}],...}
//
// What a connector does not claim it need not have done: rows that no declared
// operator was asked about may be a superset, an order that served.sort does not
// claim may be any. No row may be missing either way.
//
// The whole read is the yardstick, so what it lacks is found by nobody here:
// assert some rows that you know, as above. And what discovery says of a field's
// type decides how its values compare (A10): a source whose columns say
// otherwise fails.
//
// # Time
//
// A [Server] may be started in a testing/synctest bubble. Heartbeats and
// timeouts are then due at once, and [Answer] counts the pings.
//
// # Rough edges
//
// The data must hold still while an answer is verified; for data that move, and
// for an upstream's fake that counts its calls, see [Tenant.Unverified]. SQL in
// a dialect is not verified: only the source can read it. Aggregates over what
// the rulings leave open, such as a sum of texts, are taken as they come.
package connectortest
