package memsource

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Count returns the exact number of rows that match the request's filters. It is
// the answer of a connector.Counter that reads rows. It keeps nothing, so it has
// no budget. A filter on a field that is not among the columns is refused with
// 422.
//
// A source needs no Counter of its own for this: if its Counter returns
// connector.ErrDecline, the library counts the rows of its Query.
func Count(rel Relation, req *wire.CountRequest) (int64, error) {
	match, err := filter.Compile(req.Where, rel.Columns)
	if err != nil {
		return 0, err
	}
	var n int64
	for row, err := range rel.Rows {
		if err != nil {
			return 0, err
		}
		ok, err := match.Match(row)
		if err != nil {
			return 0, fmt.Errorf("memsource: %w", err)
		}
		if ok {
			n++
		}
	}
	return n, nil
}
