// Package connectortest tests a source as the platform uses it, without a port:
// with the real handler in a real HTTP server, over connections in memory.
//
// # A test in a few lines
//
// [Run] grades a source with the conformance program, in this process.
// [Isolation] checks that no tenant sees data of another, and that no secret is
// logged. [Start] serves a source for your own calls, which a [Tenant] makes:
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
//		assert.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
//	}
//
// # What Run tests
//
// Run is [conformance.Run] in the mode live: the document, authentication, the
// behaviour of every route, and every answer about the tables that discovery lists,
// compared with the rows of a plain read and with other answers about the same rows.
// Each failed check is a failed subtest, named by the check. One fault may fail
// several; the first says most:
//
//	--- FAIL: TestPlanets/L2
//	    nin on "country" of type reference of table "customers": 1 of 3 rows missing
//	    expected: {"id":3,"name":"Edsger","boss":1,"country":null}
//	    received: 2 rows without it
//	    request:  POST /query {"table":"customers","and":[{"field":"country","op":"nin","values":["XX"]}],...}
//	    fix:      Compare as the platform does; or leave the operator out of ...
//	    check:    L2 each declared operator answers the rows that satisfy it, and all of them (filter-16, stream-11)
//
// The names in brackets are rules of docs/protocol.md. With -v, Run logs how much it
// has tested, which checks had no data to test, and advice about rules that do not
// bind. `conform -explain L2` says more about a check.
//
// # What a Tenant verifies
//
// Every answer of a Tenant is compared with the right one, which package oracle
// computes from all rows of the tables. They are read through the same connector,
// without filters, sort or window. A wrong answer fails the test, with what was
// expected and received and the request without its credentials.
//
// A connector need not do what it does not claim to have served: without
// served.sort, rows may be in any order, and without served.window there may be more
// than the limit. But no row may ever be missing.
//
// # Time
//
// A [Server] can be started in a testing/synctest bubble. Heartbeats and timeouts
// then take no real time, and [Answer] counts the heartbeats.
//
// Run sends hundreds of requests over a small table and thousands over wide ones, within
// the budget of [Options].Requests. That takes a second or two over small tables in
// memory, and some seconds over a database.
//
// # An upstream that limits requests
//
// Each request to a connector may cost several of its upstream: over a REST API with
// 37 rows in three tables, Run asks it some 4,400 times with Requests: 1000, and fewer
// than 900 times with Requests: 200. So record the API once, and test from the recording:
//
//	recorder := &record.Recorder{Dir: "testdata/orders"} // with Upstream: http.DefaultTransport it records
//	source, err := restsource.New(api, tables, &restsource.Options{Transport: recorder})
//	require.NoError(t, err)
//	connectortest.Run(t, definition, source, &connectortest.Options{Credentials: credentials, Requests: 1000})
//
// Run asks the same each time as long as the data and the seed are the same and the
// requests suffice, so the recording answers all of it. If it logs that it has used the
// last request, take more: which questions it then had none left for depends on the
// speed of the machine too. A source without restsource gives its own
// http.Client a Recorder. Record again after changing the declaration of the tables.
//
// # Limits
//
// Rows missing from the full read cannot be detected: assert a few rows you know,
// as above. Values compare by the type that discovery gives their field
// [rule filter-10]: a source whose columns have other types is tested as if it had
// those.
//
// The data must not change while an answer is verified. For data that change, and
// for a fake upstream that counts its calls, use [Tenant.Unverified]. SQL in a
// dialect, which only the source can read, is sent with [Server.Post]. Aggregates that no
// rule defines, such as a sum of texts, are accepted with any value.
package connectortest
