package restsource

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Table declares one table: an endpoint that lists rows.
type Table struct {
	Name        string
	Description string // what one row is
	// Path is the endpoint's path below API.Base, such as "/orders". In it, {key}
	// stands for the credential of that key. In the path of a child table, such as
	// "/orders/{id}/items", {id} stands for the column id of the parent's row.
	Path string
	// Query is sent with every request, such as "expand=customer&archived=true". In it,
	// {name} stands for a column of the parent, the Partitions.Column, or a credential.
	Query string
	// Body makes the body of a request from its parameters, for an endpoint that is
	// searched by POST. The request must change nothing: it is repeated after a failure
	// as a GET is. If it is nil, the request is a GET, and the parameters stand
	// in its query.
	Body func(params url.Values) ([]byte, error)
	// GraphQL is the query of a GraphQL API. A "*" in it stands for the fields of a row:
	// the library asks for those that a request needs, by the paths of the columns. Rows
	// follows from the place of the "*", and so does Pages if that is in nodes or
	// edges { node } of a connection; pageInfo need not be written:
	//
	//	query($first: Int, $after: String, $state: OrderState) {
	//	  orders(first: $first, after: $after, state: $state) { nodes { * } }
	//	}
	//
	// The parameters of Filters, Sorts, Query and Pages are variables. A variable that none
	// of them sets has the value of the parent's column, or else of the tenant's credential,
	// of its name. The request is a POST to Path, or to API.Base if that is empty.
	//
	// For a table whose rows are in the parent's, GraphQL is the part of the parent's
	// selection that has them, such as "labels(first: 50) { nodes { * } }".
	GraphQL string
	// Unwrap changes the body of an answer before it is read as JSON, for an endpoint
	// that answers in another format.
	Unwrap func(body []byte) ([]byte, error)
	// Rows is the member path of the list of rows, such as "data.items". Empty: the
	// answer itself is the list. An endpoint of one page may have one row there, as an
	// object. With a Parent and without a Path it is the list in each row of the parent,
	// such as "lines" or "lines[]".
	Rows    string
	Columns []Column
	// Sample is an answer of the endpoint, for instance from the documentation of the
	// API or from a recording. Members of its rows that no column declares become
	// columns, with the types that [Infer] gives them. It is part of the connector, so
	// that the columns are the same for every tenant, today and tomorrow.
	Sample string
	// ColumnsOf returns further columns, which depend on the tenant, such as fields
	// that tenants define themselves. It is called once in a request that concerns the
	// table. get requests a path below API.Base and returns the body of the answer; an
	// answer that has a member error or errors with a value is an error.
	ColumnsOf func(ctx context.Context, get func(path string, query url.Values) ([]byte, error)) ([]Column, error)
	// Key names the columns of the primary key. State it: it is what keeps rows that
	// move between pages from being read twice, or not at all.
	Key []string
	// ForeignKeys are the columns that refer to other tables. Those of
	// Column.OfParent are added.
	ForeignKeys []wire.ForeignKey
	// Partitions and Window read the table by several requests, each with pages of its own.
	Partitions Partitions
	Window     Window
	// Pages says how the rows are split into pages. State it for each endpoint, also where
	// one answer has everything.
	Pages Pages
	// Total is the member path of the exact number of rows in all pages, such as
	// "pagination.total", and TotalHeader the header that has it, such as
	// "X-Total-Count". With one of them, /count and /size take one request, or a few if
	// the number is no larger than that of the rows in the first answer. Leave them empty
	// if the number is an estimate or has a maximum: rows that it does not fit fail the
	// read.
	Total, TotalHeader string
	// Filters are the filters that the endpoint can apply, and Sorts the orders.
	Filters []Param
	Sorts   []Sort
	// Search writes filters as one expression, such as "status:open created>2024-01-01", for
	// an API that takes one in the parameter SearchParam, and says which of them it has
	// taken; the others are pushed by Filters. As with a Param, the expression must select
	// every row that the filters do. Quote what values may hold.
	Search      func(filters []wire.Filter) (expression string, took []bool)
	SearchParam string
	// Job says that the rows are an export that the API makes first.
	Job Job
	// Parent names the table for each of whose rows there is an endpoint. A row of the
	// parent whose endpoint answers 404 has no rows.
	//
	// Without a Path, the rows are in the parent's answers, as a list at Rows in each of
	// its rows: an order's lines, an issue's labels. Filters on columns with OfParent are
	// then sent as the parent's. A list of which the answer has only a part is an error.
	Parent string
	// AbsentIsEmpty says that the API leaves the member at Rows out of a row whose list is
	// empty. It is for a table whose rows are in the parent's. Without it, the read fails
	// if none of the parent's rows has the member, because it may be misspelled.
	AbsentIsEmpty bool
}

// Job reads a table by an export: a request that begins it, others until it is there, and a
// download. All of it happens in the time of one request of the platform, and otherwise
// that is answered by a timeout. Discovery begins no export, so it shows no samples.
//
//	Job: restsource.Job{Create: "/exports", Status: "/exports/{job}", Download: "/exports/{job}/file",
//		Done: map[string]bool{"queued": false, "running": false, "done": true}},
//
// Table.Path is empty then. Rows, Unwrap and Pages are about the download. With a Parent there is
// an export for each of its rows, and a 404 fails the read.
type Job struct {
	// Create is the path of the POST that begins an export. The parameters of Query, Filters,
	// Partitions and Window are its JSON, or what Table.Body makes of them. ID is the member
	// path of the job's id in the answer, for which {job} stands in Status and Download.
	// Default: "id".
	Create, ID string
	// Status is the path that is asked until the export is there, and State the member path
	// of the state in the answer, a text, a number or a boolean. Default: "status". Done names the
	// states, and whether the export is there in each.
	// One that it does not name is a failure.
	Status, State string
	Done          map[string]bool
	// Download is the path of the file, or the member path of its address in the last answer
	// of Status. If that address is at another host, the host must be one of Hosts, which are
	// spelled as API.Hosts; it is sent nothing of the credentials.
	Download string
	Hosts    []string
	// Every is the time between two questions. Default: two seconds. Retry-After has
	// precedence.
	Every time.Duration
}

// Column declares one column.
type Column struct {
	Name string
	// Path is the member path of the value in a row, such as "customer.id" or
	// "lines.0.sku". A dot in a member's name is written as "\.". Empty: the Name. A row
	// without the member has null; discovery warns if no row of the first page has it.
	// "." is the row itself, for a list of texts or numbers in the parent's rows.
	Path string
	// Select is what a GraphQL query asks for in place of the Path, for a field with
	// arguments or an alias, such as "total(currency: EUR) { amount }".
	Select string
	// Type is the type of the column. If it is empty, the table's Sample decides.
	//
	// Numbers keep their digits. A number, decimal, boolean, date or datetime may also
	// come as text, and the empty text is null there. A string column takes any value:
	// numbers as they are written, lists and objects as JSON text. A datetime in ISO 8601
	// without an offset is in UTC, and a date alone is midnight, unless Zone says otherwise.
	// A date column takes datetimes too, and drops their time: the date is the one that the
	// text shows, whatever its offset. Any other value that does not fit its column fails
	// the request, and the log names the column.
	Type        wire.Type
	Description string
	// NotNull says that every row has a value. The key's columns always have.
	NotNull bool
	// Unique says that the API guarantees that no two rows have the same value.
	Unique bool
	// OfParent takes the value from that column of the parent's row, in a child table.
	OfParent string
	// Position makes this the place of the row in its list, counted from 1, in a table
	// whose rows are in the parent's.
	Position bool
	// Layouts are spellings of a date or a datetime beside ISO 8601, as package time has
	// them, such as time.DateTime or "02.01.2006 15:04". Zone is the zone of all texts in the
	// column that show none, those of ISO 8601 too. A value that two of Layouts read
	// differently fails the read, and so does one whose digits go beyond nanoseconds.
	Layouts []string
	Zone    *time.Location
	// Unix is the unit of datetimes that are numbers, or texts of digits, since 1970: time.Second,
	// time.Millisecond, time.Microsecond or time.Nanosecond.
	Unix time.Duration
	// Convert makes the cell in a way of its own. v is nil, a bool, a string, a
	// json.Number, or a json.RawMessage of a list or an object.
	Convert func(v any) (wire.Value, error)

	found bool // by Infer or Introspect, which return the declared columns too
}

// Param declares a query parameter by which the endpoint selects rows.
//
// What the API answers is checked again, row by row, so a parameter may let rows
// through that it should not: it may ignore case, or drop the time of a date. It must
// never leave out a row that has to be there. For instance, a parameter that means
// "later than" is an OpGt, and never an OpGte.
type Param struct {
	// Name is the parameter's name, such as "status" or "updated_after".
	Name string
	// Column is the column that it selects by.
	Column string
	// Op is what the API can do: OpEq, OpIn, OpGt, OpGte, OpLt, OpLte, OpIncludes or
	// OpStartsWith. A filter gte is also used for gt, lte for lt, and in for eq.
	Op wire.Op
	// Separator joins the values of an OpIn to one parameter, such as ",". Empty: the
	// parameter is sent once for each value.
	Separator string
	// Spell writes a value as the API takes it, and reports false for one that it
	// cannot take. The library then applies the filter alone. By default a datetime is
	// written like 2024-05-17T10:00:00Z, a number without a plus sign and needless zeros, and
	// other values as they stand in a row; the empty text is not pushed, because most APIs read
	// an empty parameter as none.
	Spell func(v wire.Value) (string, bool)
	// Round is what the API rounds times to before it compares them, such as time.Second,
	// time.Minute, or 24*time.Hour for days in UTC. A gt, gte, lt or lte on a datetime or a
	// date is then sent with a bound that is wide enough for every way to round, and the
	// library applies the filter itself to the rows. It makes a parameter like
	// updated_since safe to push.
	Round time.Duration
	// Exact says that the API selects exactly the rows of the protocol's operator, so that
	// /count may trust the table's Total. Without a Total it has no effect.
	Exact bool
	// ProbeValue is a value that no row has. Discovery asks for it once to see whether
	// the API applies the parameter at all. The default suits most columns.
	ProbeValue string
}

// Sort declares that the endpoint can sort by a column as the protocol does: numbers
// by value, text by bytes, nulls last, and rows with equal values in an order that
// does not change. Few APIs sort text by bytes or put nulls last in both directions,
// so declare numbers and dates that are never null. The order of the rows is checked
// while they are read.
type Sort struct {
	Column string
	// Asc and Desc are the queries of the two directions, such as "sort=created" and
	// "sort=-created" or "order_by=created&dir=desc". An empty one is not pushed.
	Asc, Desc string
}

// Paging is a way to split rows into pages.
type Paging string

// The ways to split rows into pages.
const (
	OnePage      Paging = "one"    // one answer has all rows
	PagingPage   Paging = "page"   // the number of the page, in Param
	PagingOffset Paging = "offset" // the number of rows before the page, in Param
	PagingCursor Paging = "cursor" // a text of the page before, at Next or LastRowCursor; in Param
	PagingLink   Paging = "link"   // the header Link of the page before, with rel="next"
	PagingURL    Paging = "url"    // the URL of the next page, at Next
	PagingScroll Paging = "scroll" // as PagingCursor, of an API that keeps the place: the cursor may stay the same
	PagingFunc   Paging = "func"   // the parameters that Func returns
)

// Pages declares how an endpoint splits its rows into pages.
//
// A read ends where the API says so: by Next, HasMore, Total, or a page without rows. What
// was never there says nothing, so it is no end: see the package's section Pages.
type Pages struct {
	By Paging
	// Param is the query parameter of the page's number, offset or cursor.
	Param string
	// Next is the member path of the next cursor or URL. Null or an empty text is the
	// end. So is no member at all, if there was one before or the first page is not full.
	Next string
	// LastRowCursor is the member path, in the last row of a page, of the next page's
	// cursor, for an API that takes the last row's id. Every last row must have it. It
	// needs HasMore, or one request more.
	LastRowCursor string
	// HasMore is the member path of a boolean that is false on the last page. A first
	// page that has rows must have it: a last page behind others may leave it out. If it
	// is true, the API must also say where the next page is.
	HasMore string
	// SizeParam is the query parameter of the size of a page, and Size that size. Take
	// the largest that the API allows. With them, the source can ask for half a page to
	// see whether a full one that names no next page is the last.
	SizeParam string
	Size      int
	// Ignore names members of the answers, such as "meta.total", that mean something else
	// than what their names and values seem to say about pages or failures. They are compared
	// no more, nor is what is below them. A header is named as it is.
	Ignore []string
	// Resends says that the API sends a row again if it changed while the pages are read, and
	// that its cursor misses none nevertheless. Without it, a row that comes again behind new
	// ones is an error, because it is what an order without a unique last column looks like.
	Resends bool
	// EndStatus is the status, such as 404, with which the API answers a page by number or
	// offset behind the last one. Such an answer ends the read behind a page that had rows. At
	// the offset of a request it does so if the first page is there.
	EndStatus int
	// Ahead says that pages by number or offset may be requested beyond the next one although no
	// Total is declared. With one they are, Options.Concurrency at a time.
	Ahead bool
	// FromZero says that the first page of PagingPage has the number 0. It is 1 otherwise.
	FromZero bool
	// Func returns the parameters of the page after an answer, and false after the
	// last one. It is not called for an answer without content.
	Func func(body []byte, header http.Header) (params url.Values, more bool, err error)
}
