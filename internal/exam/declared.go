package exam

import (
	"math"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Declared is what a capability document says that requests may ask.
type Declared struct{ wire.Document }

// Declares reports whether the document declares all of some operators.
func (d *Declared) Declares(ops ...wire.Op) bool {
	return !slices.ContainsFunc(ops, func(op wire.Op) bool { return !slices.Contains(d.Capabilities.Operators, op) })
}

// SortKeys returns how many sort keys a query may have at most.
func (d *Declared) SortKeys() int {
	switch d.Capabilities.Sort {
	case wire.SortSingle:
		return 1
	case wire.SortMulti:
		return math.MaxInt
	}
	return 0
}

// Window returns the limit and the offset that are nearest to some and that the document allows.
func (d *Declared) Window(limit, offset int64) (int64, int64) {
	if most := d.Capabilities.Limits.PageSizeMax; most > 0 {
		limit = min(limit, most)
	}
	if most := d.Capabilities.Limits.OffsetMax; most > 0 {
		offset = min(offset, most)
	}
	if !d.Capabilities.Offset {
		offset = 0
	}
	return limit, offset
}

// Allows reports whether the document declares what a query asks for besides its filters: as many sort
// keys, such a window, and joins.
func (d *Declared) Allows(req *wire.QueryRequest) bool {
	limit, offset := d.Window(req.Limit, req.Offset)
	return len(req.Sort) <= d.SortKeys() && limit == req.Limit && offset == req.Offset && (d.Capabilities.Join || len(req.Joins) == 0)
}
