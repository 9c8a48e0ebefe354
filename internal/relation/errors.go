package relation

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// DeclineError reports a request that has no exact answer.
type DeclineError struct {
	Reason string // what has none, such as: a sum over field "name", which is no number
}

// Error returns the reason.
func (e *DeclineError) Error() string { return e.Reason }

func decline(format string, args ...any) error {
	return &DeclineError{fmt.Sprintf(format, args...)}
}

// GroupsError reports an aggregate of too many groups.
type GroupsError struct {
	Limit int64 // as many groups are too many
}

// Error returns the limit, and what to do.
func (e *GroupsError) Error() string {
	return fmt.Sprintf("the aggregate has %d groups or more: group by fewer or coarser fields, or filter more", e.Limit)
}

// CellError reports a cell that has no value to compare, count or join by.
type CellError struct {
	Err error // which cell it is, and why
}

// Error returns the text of Err.
func (e *CellError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *CellError) Unwrap() error { return e.Err }

// invalidCell returns the error for a cell that cannot cross the wire.
func invalidCell(table, column string, err error) error {
	return &CellError{fmt.Errorf("table %q, column %q: %w", table, column, err)}
}

// noField refuses an unknown field. The place says where the request names it.
func noField(place, table, field string) error {
	return wire.Errorf(wire.CodeUnknownEntity, "%s: table %s has no field %s", place, terms.QuoteName(table), terms.QuoteName(field))
}
