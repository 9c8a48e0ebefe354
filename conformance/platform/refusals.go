package platform

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The limits of a question, which errors.Is finds in a [*RequestError].
var (
	// ErrReach says that more rows would have to be read than the connector's
	// limits or [ConnectionOptions.Reach] allow [rule connect-9]. A part of the rows
	// is never taken for all of them.
	ErrReach = errors.New("more rows than can be reached")
	// ErrBudget says that more would have to be kept in memory than
	// [ConnectionOptions.Budget] allows.
	ErrBudget = errors.New("more than the memory budget")
	// ErrGroups says that an aggregate has too many groups. The platform throws
	// such an answer away, because it cannot know whether groups are missing
	// [rule aggregate-14].
	ErrGroups = errors.New("too many groups")
)

// ErrMoved says that a page by offset does not begin with the row that ended the page before.
// Ask again. If it comes each time, the connector does not keep the order, or ignores the offset.
var ErrMoved = errors.New("rows may have been missed: a page does not begin with the row that ended the page before, " +
	"as if rows were deleted or inserted meanwhile; ask again")

// RequestError refuses a question that has no complete answer, so that another one
// has to be asked: it names what discovery does not list, or it exceeds a limit.
type RequestError struct {
	Problem string
	Err     error // ErrReach, ErrBudget, ErrGroups; nil if the discovered tables have no answer
}

// Error returns the problem.
func (e *RequestError) Error() string { return e.Problem }

// Unwrap returns Err.
func (e *RequestError) Unwrap() error { return e.Err }

func refuse(format string, args ...any) error {
	return &RequestError{Problem: fmt.Sprintf(format, args...)}
}

// planned returns an error of planning, by package filter or relation, as a refusal of
// the question.
func planned(err error) error {
	var words *wire.Error
	if errors.As(err, &words) {
		return refuse("%s", words.Message)
	}
	return refused(err, "")
}

// refused returns an error of package relation as a refusal of the question. The advice
// says what needs less memory. Other errors are those of the rows, and stay.
func refused(err error, advice string) error {
	if err == nil {
		return nil // for each row, so without the variables below
	}
	var (
		budget  *relation.BudgetError
		groups  *relation.GroupsError
		decline *relation.DeclineError
	)
	switch {
	case errors.As(err, &budget):
		return &RequestError{budget.Error() + "; " + advice, ErrBudget}
	case errors.As(err, &groups):
		return &RequestError{groups.Error(), ErrGroups}
	case errors.As(err, &decline):
		return refuse("%s", decline.Reason)
	}
	return err
}

// reachError refuses a table, or a question, that is out of reach.
type reachError struct {
	table string
	rows  int64  // how many rows the table has; 0: not known, only that it may have more
	reach int64  // how many of them can be read
	route string // the route that told rows, or that reached no further
	limit string // which limit ends the reading, such as pageSizeMax
}

func (e reachError) refuse() error {
	name := terms.QuoteName(e.table)
	problem := fmt.Sprintf("table %s may have more than the %d rows that %s reaches (%s)", name, e.reach, wire.PathQuery, e.limit)
	if e.rows > e.reach {
		problem = fmt.Sprintf("table %s has %d rows by %s, and %s reaches no more than %d of them (%s)",
			name, e.rows, e.route, wire.PathQuery, e.reach, e.limit)
	}
	return &RequestError{problem, ErrReach}
}
