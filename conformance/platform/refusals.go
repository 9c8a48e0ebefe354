package platform

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A RequestError refuses a question that the discovered tables cannot answer,
// such as one that names an unknown field. The connector is not asked.
type RequestError struct {
	Problem string
}

func (e *RequestError) Error() string { return e.Problem }

func refuse(format string, args ...any) error {
	return &RequestError{Problem: fmt.Sprintf(format, args...)}
}

// A ReachError refuses a table, or a question, for which more rows would have
// to be read than the connector's limits or [ConnectionOptions.Reach] allow
// [rule connect-9]. A part of the rows is never taken for all of them.
type ReachError struct {
	Table string
	Rows  int64  // how many rows the table has; 0: not known, only that it may have more
	Reach int64  // how many of them can be read
	Route string // the route that told Rows, or that reached no further
	Limit string // which limit ends the reading, such as pageSizeMax
}

func (e *ReachError) Error() string {
	name := wire.QuoteName(e.Table)
	if e.Rows > e.Reach {
		return fmt.Sprintf("table %s has %d rows by %s, and %s reaches no more than %d of them (%s)",
			name, e.Rows, e.Route, wire.PathQuery, e.Reach, e.Limit)
	}
	return fmt.Sprintf("table %s may have more than the %d rows that %s reaches (%s)", name, e.Reach, wire.PathQuery, e.Limit)
}

// A BudgetError refuses a question for which more has to be kept in memory than
// [ConnectionOptions.Budget] allows.
type BudgetError struct {
	What   string // what was kept, such as "sorting the rows of table orders"
	Advice string // what needs less
	Budget int64  // bytes
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%s takes more than the budget of %d bytes; %s", e.What, e.Budget, e.Advice)
}

// A GroupsError refuses an aggregate of too many groups. The platform throws
// such an answer away, because it cannot know whether groups are missing
// [rule aggregate-14].
type GroupsError struct {
	Limit int64 // as many groups are too many
}

func (e *GroupsError) Error() string {
	return fmt.Sprintf("the aggregate has %d groups or more; group by fewer or coarser fields, or filter more", e.Limit)
}

// textOf returns what package filter says against a request.
func textOf(err error) string {
	if e := (*wire.Error)(nil); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
