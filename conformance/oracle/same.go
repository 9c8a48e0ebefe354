package oracle

import (
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Same reports whether an answered cell agrees with the expected one, for a
// column of type t, as leniently as the protocol allows: numbers by their
// digits, whether they come as a number or a string; booleans as the texts true
// and false; dates and datetimes as instants; JSON and arrays by their value,
// numbers exact, blanks and the order of members free; undeclared ones by
// digits where both are plain decimal text. Everything else agrees byte for
// byte, and null only with null.
func Same(want, got wire.Value, t wire.Type) bool {
	return canonical(want, t) == canonical(got, t)
}

// canonical is equal for two cells of a column exactly when they are the same.
func canonical(v wire.Value, t wire.Type) string {
	k := keyOf(v, Reading{}.rule(t))
	if !k.null && (t == wire.TypeJSON || t == wire.TypeArray) {
		if n, ok := parseJSON(k.text); ok {
			return "j" + string(n.append(nil))
		}
	}
	return k.identity()
}

// canonicalRow is equal for two rows exactly when all their cells are the same.
func canonicalRow(row []wire.Value, columns []wire.Column) string {
	var b []byte
	for i, c := range columns {
		part := canonical(cell(row, i), c.Type)
		b = append(strconv.AppendInt(b, int64(len(part)), 10), ':')
		b = append(b, part...)
	}
	return string(b)
}
