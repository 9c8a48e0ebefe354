// Package restsource serves the endpoints of a REST API as tables. You declare the
// tables; the package pages, filters, sorts, counts, joins, waits and repeats. This
// is a working connector, for an API with a key, cursors and two filters:
//
//	package main
//
//	import (
//		"log"
//
//		"github.com/connectorsdk/connector-sdk-go/connector"
//		"github.com/connectorsdk/connector-sdk-go/connector/restsource"
//		"github.com/connectorsdk/connector-sdk-go/connector/standalone"
//		"github.com/connectorsdk/connector-sdk-go/wire"
//	)
//
//	func main() {
//		src, err := restsource.New(restsource.API{
//			Base: "https://api.example.com/v2", Authorize: restsource.Bearer("token"), Check: "/whoami",
//		}, []restsource.Table{{
//			Name: "orders", Description: "An order of a customer", Path: "/orders", Rows: "data", Key: []string{"id"},
//			Pages: restsource.Pages{By: restsource.PagingCursor, Param: "after", Next: "paging.next",
//				SizeParam: "limit", Size: 100},
//			Columns: []restsource.Column{
//				{Name: "id", Type: wire.TypeNumber},
//				{Name: "status", Type: wire.TypeString},
//				{Name: "total", Type: wire.TypeDecimal},
//				{Name: "customer", Path: "customer.id", Type: wire.TypeReference},
//				{Name: "updated", Path: "updated_at", Type: wire.TypeDatetime},
//			},
//			Filters: []restsource.Param{
//				{Column: "status", Op: wire.OpEq, Name: "status"},
//				{Column: "updated", Op: wire.OpGte, Name: "updated_since"},
//			},
//		}}, nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		definition := connector.Definition{
//			Slug:        "acme-orders",
//			Credentials: []wire.CredentialField{{Key: "token", Label: "Access token", Type: wire.CredentialPassword}},
//		}
//		standalone.Main(definition, src, nil)
//	}
//
// Each field of [Table] is documented where it is declared. Where a declaration is not
// enough, use a function: API.Authorize, Table.Body, Table.Unwrap,
// Table.ColumnsOf, Column.Convert, Param.Spell, Pages.Func, Options.Transport.
//
// # Pushed filters
//
// A filter that is pushed narrows what the API answers, and nothing else: the library
// applies every filter to every row again. So an API that ignores a parameter, or
// reads it more widely than the protocol, costs time and gives no wrong row.
//
// An or, and a value without a spelling, are left to the library. If the API refuses what
// was pushed with 400 or 422, the source asks again without.
//
// Only two things are trusted beyond that, each as far as the same request shows it:
//
//   - A filter that is declared Exact makes /count the API's own total. Before, the
//     source asks for what cannot be, and an API that answers rows to that is not
//     believed: the rows are read and counted.
//   - A declared [Sort] spares the library the sorting, and reading to the end. If the
//     first page is not in order, the library sorts. If a later one is not, the query
//     fails.
//
// Discovery asks the same questions once for each filter and sort, and its warnings
// name those that the API does not apply.
//
// # Credentials
//
// [KeyHeader] and [KeyParam] send a key, [Basic] a name and a password, [Bearer] a token
// that the tenant has. [ClientCredentials], [SignedJWT] and [Login] obtain a token with
// what the tenant has, and [Token] in a way of your own. [TokenAnswer] says where it goes,
// and which address the API has for this tenant. A token lives as long as the request of
// the platform, whose calls share it. It is renewed before it expires, and once for a
// request that the API answers with 401. [Certificate] is shown to a server that asks for
// one.
//
// A refresh token that stays the same is a credential like others: see [Login]. One that
// changes with each use is not here, and neither is anything else that has to be known to the
// next request, such as how far a table was read: the protocol has no place to keep it, a
// connector remembers nothing, and only a tenant changes credentials. Ask tenants for
// client credentials, a service account, a personal access token or an API key. Where an
// API has nothing but OAuth's authorization code, let a program of the host do the consent
// and keep the refresh token in the host's own store, under a key that the tenant then
// types as its credential; [Token] asks that program for a token.
//
// # What an answer means
//
// The status of an answer decides what it means. API.Judge changes that for an API that says it
// in the body: it returns for each answer, once, whether it is fine, to be asked again later, to
// be asked with a new token, a matter of the credentials, not there, or a failure. [JudgeErrors]
// and [JudgeErrorList] are such functions for the usual spellings.
//
// # Pages
//
// What an author must state. How each endpoint pages: [Pages], with [OnePage] where one answer
// has everything. The Key, by which a row that comes again is known. Total, where the API
// has an exact one: it proves more than all else. Pages.Ignore, Pages.Resends and
// Pages.EndStatus for what this API means otherwise than others.
//
// What is then proven. A read that ends is whole, or it fails [rule error-10]:
//
//   - It ends where the API was shown to mean the end: by HasMore, by no Next where there was
//     one before, by null there, by a page without rows, by a total. What was never there is no
//     end: a full first page without a Next is asked for at half its size, and followed to its
//     last row.
//   - The page that ends it has the members of those before, with the words that they had in
//     common. So a refusal beside an empty list is no end, in whatever words.
//   - Nothing beside the rows contradicts the end. The words of a member's name are compared
//     (next, more, total, page, limit, token, last ... in any spelling), and its value must agree
//     with the rows. By OnePage all of these count, headers too; otherwise the booleans.
//   - A row that comes again is explained by rows that were added before it, which the page
//     before must then show, or the order is not stable and the read fails. By offset each
//     page begins with the last row of the page before.
//   - No page by number is larger than the first, or than Size.
//   - All rows are as many as one of the totals that were stated while they were read.
//   - Of the statuses, 200, 201, 203 and 206 have rows; 204 is a page without, where none was
//     promised. Errors are: a header Link that cannot be read, a duplicate member, bad
//     UTF-8, text behind the JSON, an absent list, a member error or errors with a value, a false
//     success or ok, a repeated cursor or page, and 100 pages without a row.
//
// Discovery reads two pages twice, and warns of an unstable order, of pages that cannot
// be read, and of a Next that no answer shows.
//
// What cannot be known, and is whole by the API's word: a row that is deleted during a read by
// numbers, where no total is stated; an order that changes only where two pages meet, each time
// alike; a first page that is empty because the API refuses in the words of an empty
// table; an end that the API states wrongly in its own terms.
//
// While the rows of a page are taken, the next page is requested, and the one behind it when that has
// arrived. By number and offset, once a total is known or Pages.Ahead says so, up to
// Options.Concurrency pages are requested at once, within all limits. 8 MiB of them are held, and
// they are judged in their order: what does not fit the plan is read in sequence, or fails.
//
// A read keeps 8 bytes and their share of a map for each row that has a key, and one page. The
// window of a query without filters is read from its offset on by PagingOffset, and otherwise
// from the beginning, no further than the limit.
//
// # Tables in parts
//
// [Partitions] and [Window] read a table by several requests, and a Parent by one for
// each of its rows. All are read, or the read fails. Two kinds of row are missed
// without notice: one before Window.Since, and one that moves, while the parts are read, from a
// part not yet read to one already read, unless that is the newest window.
//
// [DecodeCSV], [DecodeNDJSON], [DecodeXML], [DecodeKeyed], [DecodeColumns], [DecodeGzip] and
// [DecodeZip] make JSON of other formats, for Table.Unwrap. [Job] reads an export.
//
// # Child tables
//
// A table with a Parent has one endpoint for each row of its parent. Options.Concurrency
// of them are asked at the same time. A filter on a column of the parent chooses the
// rows of the parent first, so that only their endpoints are asked.
//
// # Lists in rows
//
// A list in each row, such as an order's lines, is a table with a Parent and without a
// Path. It is read with the parent's pages, and a filter on a column of the parent is
// sent as the parent's:
//
//	{Name: "order_lines", Parent: "orders", Rows: "lines[]", Key: []string{"order", "position"},
//		Columns: []restsource.Column{
//			{Name: "order", OfParent: "id"},
//			{Name: "position", Position: true},
//			{Name: "sku", Type: wire.TypeString},
//		}}
//
// A list that is cut, as the members beside it say, fails the read. Give such a table the Path of
// the endpoint that has all elements.
//
// # GraphQL
//
// A table with Table.GraphQL is a query with variables. A "*" in it stands for the fields of a
// row, and the library asks for the fields that a request needs. Pages of a connection,
// filters and sorts are the query's variables. Errors beside data are a failure, and a
// limit of requests inside a 200 is waited for: see [JudgeErrors]. [Introspect] finds
// columns in the API's schema.
//
// # Read once
//
// In a join and in a discovery, answers from which more than one table is read are asked
// for once: of two tables over one endpoint, of a table and the lists in its rows,
// of the parent of a child table. Up to 32 MiB of them are kept until the request ends. Each read
// of a table with a [Job] or with PagingScroll has its own answers.
//
// # Budgets of requests
//
// Every request goes through a [Transport], which repeats what is safe to repeat and
// keeps to the budget that the API states in headers or, by API.Budget, in the body,
// within the deadline of the platform's request. What the API has said holds for that
// request alone. API.Rate is for a rate that the API does not state.
//
// # Secrets
//
// The credentials of a tenant are sent to the origin of API.Base and nowhere else: no
// redirect is followed, and an address in an answer must be of that origin. If tenants
// type the whole address, the source dials public addresses only.
//
// No error quotes an answer or a URL, and the errors of Authorize, of Column.Convert and
// of Options.Transport are cleaned: of the credentials and of what Authorize made of
// them, or of the value. The errors of your other functions reach the log as they are,
// without the credentials; quote no answer in them.
//
// # Errors
//
//	upstream                         /check           other routes
//	401, 403                         check_failed     bad_request
//	404                              internal         unknown_entity
//	404, if tenants type an address  check_failed     unknown_entity
//	429 until the deadline           timeout          timeout
//	no answer, or no connection      timeout          timeout
//	the same, at a typed address     check_failed     timeout
//	an address that is not public    check_failed     bad_request
//	2xx with an error                check_failed     internal
//	5xx, HTML, half a JSON, ...      internal         internal
//
// The log has the cause. Discovery leaves out a table that cannot be read, or that Options.TablesOf
// declares with a fault, and says why. A 403 with Retry-After, or with nothing left of a budget, is
// a limit as 429 is.
//
// # Tests
//
// A record.Recorder as Options.Transport records the answers of the API once, without
// secrets, and answers from these files from then on.
package restsource
