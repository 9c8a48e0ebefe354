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
//			Base:      "https://api.example.com/v2",
//			Authorize: restsource.Bearer("token"),
//			Check:     "/whoami",
//		}, []restsource.Table{{
//			Name:        "orders",
//			Description: "An order of a customer",
//			Path:        "/orders",
//			Rows:        "data",
//			Key:         []string{"id"},
//			Pages:       restsource.Pages{By: restsource.PagingCursor, Param: "after", Next: "paging.next", SizeParam: "limit", Size: 100},
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
// Every member of [Table] is one choice, explained where it is declared. Where a
// declaration cannot say it, a function can: API.Authorize, Table.Body, Table.Unwrap,
// Table.ColumnsOf, Column.Convert, Param.Spell, Pages.Func, Options.Transport.
//
// # Pushed filters
//
// A filter that is pushed narrows what the API answers, and nothing else: the library
// applies every filter to every row again. So an API that ignores a parameter, or
// reads it more widely than the protocol, costs time and gives no wrong row. The law
// is as simple as that because a connector remembers nothing about a tenant: what
// discovery finds out cannot be known to the next query.
//
// Three things are not pushed. An or is left to the library. So is a value that
// Param.Spell, or the column's type, has no spelling for. If the API refuses what was
// pushed with 400 or 422, the source asks again without.
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
// that the tenant has. [ClientCredentials] and [SignedJWT] obtain a token with what the
// tenant has, and [Token] in a way of your own. A token lives as long as the request of
// the platform, whose calls share it. It is renewed before it expires, and once for a
// request that the API answers with 401.
//
// OAuth's authorization code, where a person consents on a page of the API, is not
// here. It gives a refresh token, which often changes with each use, and the protocol has no
// place to keep the new one: a connector remembers nothing, and only a tenant changes
// credentials. Ask tenants for client credentials, a service account, a personal access
// token or an API key. Where an API has nothing but the code, let a program of the host
// do the consent and keep the refresh token in the host's own store, under a key
// that the tenant then types as its credential; [Token] asks that program for a token.
//
// # What an answer means
//
// By default the status of an answer decides what it means, and a member error or
// errors beside the rows is a failure. API.Judge changes that for an API that says it in
// the body: it returns for each answer, once, whether it is fine, to be asked again
// later, to be asked with a new token, a matter of the credentials, not there, or a
// failure. [JudgeErrors] and [JudgeErrorList] are such functions for the usual spellings.
// How often a request is sent, and how long the source waits, stays with the library.
//
// # Pages
//
// Every row is answered once, even if rows are added and deleted while the pages are
// read. For that, declare the Key. A row that comes again is left out. By PagingOffset,
// each page begins with the last row of the page before; if it is gone, rows may have
// been missed, and the read fails. By PagingPage, a total that shrinks is such a sign:
// without Table.Total, a row that is deleted during a read can hide another one.
// Cursors do not have the problem.
//
// A read that ends is whole. It ends where the API was shown to mean the end, and fails
// otherwise [rule error-10]:
//
//   - Where HasMore is true, the answer must say where the next page is. A next page that
//     was promised is no 204. Without a promise, 204 is a page without rows. Of the other
//     statuses, 200, 201, 203 and 206 have rows.
//   - HasMore must be on the first page, if that has rows. Later it may be left out at
//     the end, but not by GraphQL, where the query asks for it.
//   - Many APIs leave Next, or the header Link, out at the end. That is the end if the same
//     request has seen it before. If not, and the first page is full, the source asks for
//     half of it, which cannot be the last page: it must name a next one. A page that is not full
//     ends the read, but a likely cap, such as 15, 50 or 64 of 100, counts as full,
//     because APIs that cap the size in silence answer so.
//   - Where no size can be asked for, the log has a line, and discovery warns.
//   - A total that a page by number or offset reaches is believed if the page is not full,
//     and otherwise if there is no row behind it. All rows must be as many as one of the
//     totals that were stated while they were read.
//   - One page must have fewer rows than its Size, or a Total. Nothing in the answer may say
//     that there is another: a header Link or Content-Range, the status 206, or a member
//     such as has_more, next_cursor or meta.total, at the top or beside the list. Such a
//     member is an error too where Next was never there, and has_more, isLast and the
//     like wherever they contradict the end.
//
// Discovery asks for half a page of each table that does not show Next on its first page,
// full or not. Its warnings name the members that there are.
//
// An answer is read as strictly as a request: a duplicate member, text that is not
// UTF-8 and text behind the JSON are errors.
//
// An answer without a list at Table.Rows is an error. Null there is an empty page,
// because some APIs write an empty list so, unless the answer says otherwise: by a next
// page, by a total above the rows read, or by a member "error" or "errors", at the top
// or beside the list. Such a member is also an error beside rows, unless it is empty,
// false or 0: the rows may be a part. So are "success" and "ok" if they are false, and
// "partial", "incomplete_results" and "timed_out" if they are true. Where such a member
// tells of no error, remove it by Unwrap.
//
// A cursor or an address that repeats, the same page again, and 100 pages in a row
// without a row are errors. A read keeps 8 bytes and their share of a map for each row
// that has a key, and one page.
//
// The window of a query without filters is read from its offset on by PagingOffset: the
// API's own order has to be the same each time. Other kinds are read from the
// beginning, and no further than the limit.
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
//	{Name: "order_lines", Parent: "orders", Rows: "lines[]", Key: []string{"order", "position"}, Columns: []restsource.Column{
//		{Name: "order", OfParent: "id"},
//		{Name: "position", Position: true},
//		{Name: "sku", Type: wire.TypeString},
//		{Name: "quantity", Type: wire.TypeNumber},
//	}}
//
// A list that is cut fails the read: one beside which the answer says that there is more, by
// has_more, hasNextPage, a next place or a total. Give such a table the Path of
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
// of the parent of a child table. Up to 32 MiB of them are kept until the request ends.
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
// The log has the cause. Discovery leaves out a table that answers 403 or 404, and
// warns of it.
//
// # Tests
//
// A record.Recorder as Options.Transport records the answers of the API once, without
// secrets, and answers from these files from then on.
package restsource
